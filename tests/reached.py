"""Which operators a test can come to, by the names that it says.

A test comes to an operator by its name, in its own file, in a helper that this file names or in a
file that it reads, and from the operator to what its file imports. Transforms and what stands
beneath operators import none of them: `test_layout.py` holds that. What other code of functx
imports, or calls by functx's own name, counts for each test that may come to that code.
"""

import functools as ft
import re
import sys

from proved import SOURCES

from functx._core import REGISTRY
from functx.testing import op_db
from functx.testing.checks.source_digests import (
    files_of,
    FOLLOWED,
    imports_of,
    is_file,
    with_imports,
)


# What takes a test to all operators: lists of what there is, names that are made as the test runs,
# programs that stand or run elsewhere. Some of it takes a test to imports from PyTorch too.
LEADS_TO_INTEROP = re.compile(
    r"interop|benchmarks|SOURCES|rglob|walk_packages|iter_modules|\bdir\(functx"
)
LEADS_EVERYWHERE = re.compile(
    LEADS_TO_INTEROP.pattern
    + r"|op_?db|REGISTRY|OPERATORS|getattr\(functx|import_module|examples|\"functx\"|subprocess"
    r"|run_path|attrgetter|(?<!\.)\b(?:eval|exec)\(|strategies|conventions|checks\.names|functx\.cli"
)
LEADS_TO_CHECKS = re.compile(r"functx\.testing|import testing")


def leads_to_interop(text):
    """Whether what these words stand in may come to `functx/_interop`."""
    return LEADS_TO_INTEROP.search(text) is not None


def leads_everywhere(text):
    """Whether what these words stand in may come to any operator."""
    return LEADS_EVERYWHERE.search(text) is not None


def leads_to_checks(text):
    """Whether what these words stand in may come to `functx/testing`."""
    return LEADS_TO_CHECKS.search(text) is not None


def operators_named(text):
    """The modules of the operators that a text names, and what these import."""
    words = set(re.findall(r"\w+", text))
    if leads_to_checks(text):
        words |= _said_by_checks()
    named = [module for name, module in _declared() if name in words]
    return with_imports([*named, *_imported_elsewhere()])


def of_operator(name):
    """The modules of an operator and of its entries, and what these import."""
    own = [files_of(info) for info in op_db if info.name == name]
    if not own:
        raise ValueError(f"of_operator: {name} has no entry")
    named = [module for word, module in _declared() if word in _said_by_checks()]
    return with_imports(set().union(named, _imported_elsewhere(), *own))


@ft.cache
def _declared():
    """Words, and the module of operators that each names: of itself, or of one of its operators."""
    files = [name for name in sys.modules if name.startswith(FOLLOWED[0]) and is_file(name)]
    declared = [(name, name) for name in files]
    for spec in REGISTRY.values():
        declared += [(name, spec.rule.__module__) for name in (spec.name, *spec.aliases)]
    return [(name.rpartition(".")[2], module) for name, module in declared]


@ft.cache
def _said_by_checks():
    """What `functx/testing` calls by functx's name, but for what leads everywhere."""
    apart = {"opdb", "strategies", "two_conventions"}
    files = (path for path in (SOURCES / "testing").rglob("*.py") if apart.isdisjoint(path.parts))
    called = re.compile(r"\bfunctx\.(?:\w+\.)*(\w+)\(")
    return {name for path in files for name in called.findall(path.read_text())}


@ft.cache
def _imported_elsewhere():
    """The modules of operators that other code of functx imports, but for lists of names."""
    known = FOLLOWED[0].rstrip("."), "functx._interop"
    is_other = lambda name: name.startswith("functx._") and not name.startswith(known)
    return {module for name in filter(is_other, sys.modules) for module in imports_of(name)}
