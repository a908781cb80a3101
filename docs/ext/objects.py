"""One public object as MyST text: its signature, and its docstring, which is markdown already."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
from collections.abc import Callable, Iterable
from typing import Any

from sphinx.pycode import ModuleAnalyzer
from sphinx.util.inspect import stringify_signature


_LEAD = re.compile(r"^(Shapes|Dtypes|Errors|Complex|Values|Gradient|Gradients|Source): ")
_FORMULA = re.compile(r" *\$\$.*\$\$ *")
BETWEEN_NAMES = " ;; "  # MyST gives a directive one line
_PLAIN = (bool, int, float, complex, str, type(None))


class _Named:
    """Stands in for a default whose repr is no Python expression."""

    def __init__(self, text: str):
        self.text = text

    def __repr__(self) -> str:
        return self.text


def signature_text(call: Callable[..., Any], *, method: bool = False) -> str:
    """`(x, y=1) -> Array`, which Python could parse."""
    signature = inspect.signature(call)
    parameters = list(signature.parameters.values())[1 if method else 0 :]
    parameters = [p.replace(default=_parsable(p.default)) for p in parameters]
    signature = signature.replace(parameters=parameters)
    text = stringify_signature(signature, unqualified_typehints=True)
    return re.sub(r"~[\w.]+\.", "", text)  # Sphinx's mark for "the last part of this name"


def _parsable(default: Any) -> Any:
    if default is inspect.Parameter.empty or isinstance(default, _PLAIN):
        return default
    try:
        ast.parse(repr(default))
    except SyntaxError:
        return _Named(getattr(default, "__name__", "..."))
    return default


def body(docstring: str) -> str:
    """A docstring with its examples fenced; labelled lines and `$$` formulas are paragraphs."""
    out: list[str] = []
    fenced = False
    for line in inspect.cleandoc(docstring).splitlines():
        if not fenced and line.lstrip().startswith(">>>"):
            out += ["", "```pycon"]
            fenced = True
        elif fenced and not line.strip():
            out += ["```"]
            fenced = False
        lead = None if fenced else _LEAD.match(line)
        if lead:
            line = f"**{lead[1]}:** {line[lead.end() :]}"
            out += [""]
        out += ["", line, ""] if not fenced and _FORMULA.fullmatch(line) else [line]
    return "\n".join([*out, "```"] if fenced else out)


def function(names: Iterable[str], call: Callable[..., Any], facts: str = "") -> str:
    """A function under all its names, the further ones with their arguments left out."""
    first, *others = names
    heads = [first + signature_text(call), *(f"{other}(...)" for other in others)]
    doc = body(inspect.getdoc(call) or "")
    return f":::::{{py:function}} {BETWEEN_NAMES.join(heads)}\n\n{doc}\n\n{facts}\n:::::\n"


def data(name: str, text: str) -> str:
    """A constant."""
    return f":::::{{py:data}} {name}\n\n{text}\n:::::\n"


def class_(name: str, cls: type) -> str:
    """A class with its public, documented members."""
    try:
        signature = signature_text(cls).partition(" -> ")[0]
    except ValueError:
        signature = ""
    doc = body(inspect.getdoc(cls) or "")
    members = [_member(key, value) for key, value in vars(cls).items() if not key.startswith("_")]
    inner = "\n".join(filter(None, [fields_table(cls), *members]))
    return f"::::::{{py:class}} {name}{signature}\n\n{doc}\n\n{inner}\n::::::\n"


def field_comments(cls: type) -> dict[str, str]:
    """What the `#:` comments beside a dataclass's fields say, by field."""
    if not dataclasses.is_dataclass(cls):
        return {}
    comments = ModuleAnalyzer.for_module(cls.__module__).find_attr_docs()
    lines = {f.name: comments.get((cls.__qualname__, f.name)) for f in dataclasses.fields(cls)}
    return {name: " ".join(said).strip() for name, said in lines.items() if said}


def fields_table(cls: type) -> str:
    """A line for each field that has a comment."""
    rows = [f"| `{name}` | {said} |" for name, said in field_comments(cls).items()]
    return "\n".join(["| field | |", "|---|---|", *rows, ""]) if rows else ""


def _member(name: str, value: Any) -> str:
    doc = inspect.getdoc(value)
    if inspect.isfunction(value) and doc:
        head = f"{{py:method}} {name}{signature_text(value, method=True)}"
    elif isinstance(value, property) and doc:
        head = f"{{py:property}} {name}"
    else:
        return ""
    return f":::::{head}\n\n{body(doc)}\n:::::\n"
