"""Formulas as MathML, made when the pages are built: no script and no network to show them.

Docutils translates. It knows the commands that LaTeX users need, and refuses others by name, which
is a warning of the build.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from docutils.utils.math import latex2mathml, MathError
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator


_LOGGER = logging.getLogger(__name__)
_SHORT = 20  # characters of a formula, of which a small phone shows as many in a line
# Docutils reads `\frac12` as 12 over what follows, and does not know the others.
_SPELLINGS = [
    (re.compile(r"(\\[dt]?frac) ?(\d)"), r"\1{\2}"),
    (re.compile(r"(\\[dt]?frac(?:\{\d\}|\{[^{}]*\}|\\[a-z]+)) ?(\d)"), r"\1{\2}"),
    (re.compile(r"\\dots(?![a-z])"), r"\\ldots"),
    (re.compile(r"\\(big|Big|bigg|Bigg)(?=[(\[|/.])"), r"\\\1l"),
    (re.compile(r"\\(big|Big|bigg|Bigg)(?=[)\]])"), r"\\\1r"),
    (re.compile(r"\\mathrel\{([^{}]*)\}"), r"{\1}"),
    (re.compile(r"\\operatorname\*"), r"\\operatorname"),
]


def mathml(formula: str, *, block: bool) -> str:
    """A formula of LaTeX as a `<math>` element; `ValueError` names what cannot be translated."""
    text = formula.strip()
    for written, understood in _SPELLINGS:
        text = written.sub(understood, text)
    try:
        return latex2mathml.tex2mathml(text, as_block=block)
    except (MathError, IndexError) as error:
        raise ValueError(f"formula {formula!r}: {error}") from None


def _shown(node: nodes.Element, *, block: bool) -> str:
    try:
        return mathml(node.astext(), block=block)
    except ValueError as error:
        _LOGGER.warning(str(error), location=node)
        return f"<code>{nodes.unescape(node.astext())}</code>"


def visit_inline(self: HTML5Translator, node: nodes.math) -> None:
    """A formula in a line; one that a narrow page may cut off scrolls there."""
    shown = _shown(node, block=False)
    if len(re.sub(r"<[^>]*>|\s", "", shown)) > _SHORT:
        shown = f'<span class="long-formula">{shown}</span>'
    self.body.append(shown)
    raise nodes.SkipNode


def visit_block(self: HTML5Translator, node: nodes.math_block) -> None:
    """A formula between lines, which scrolls where the page is narrow."""
    self.body.append(self.starttag(node, "div", CLASS="math"))
    self.body.append(_shown(node, block=True))
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Sphinx's entry."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
