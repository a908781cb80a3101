"""The shape of the code base, as assertions: each of all files, since one of each costs seconds."""

import ast
import functools as ft
import graphlib
import importlib
import operator
import re
from collections.abc import Sequence
from pathlib import Path

from write_facades import BEGIN, END

import functx
from functx._core import OPERATORS, REGISTRY
from functx.testing import op_db


ROOT = Path(functx.__file__).parent
# From bottom to top.
FLOORS = [
    "_core",
    "_arrays",
    "_ops",
    "_transforms",
    "_aot",
    "_amp",
    "_memory",
    "_profiling",
    "_sparse",
    "_curvature",
    "_sparsity",
    "_nested",
    "_interop",
    "(facade)",
    "testing",
    "cli",
]
# Of the core, from bottom to top; the modules beside them stand below.
ROOMS = [
    "primitives",
    "shapes",
    "devices",
    "context",
    "numbers",
    "randomness",
    "rules",
    "operators",
]
FILES = sorted(ROOT.rglob("*.py"))
FAMILIES = [p for p in sorted((ROOT / "_ops").rglob("*.py")) if p.name != "__init__.py"]
ENTRIES = [p for p in sorted((ROOT / "testing" / "opdb").rglob("*.py")) if p.name != "__init__.py"]


def floor(parts: tuple[str, ...]) -> int:
    if parts[:1] == ("__main__.py",):
        return FLOORS.index("cli")
    return FLOORS.index(parts[0] if parts and parts[0] in FLOORS else "(facade)")


@ft.lru_cache(maxsize=1)
def nodes_of(path: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(path.read_text())))


@ft.cache
def imports(path: Path) -> list[str]:
    """The functx modules a file imports by absolute name."""
    found = []
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level <= 1, f"{path}: relative imports stay inside one folder"
            found += [node.module or ""] if node.level == 0 else []
    return [name for name in found if name.split(".")[0] == "functx"]


def test_imports_point_down():
    for path in FILES:
        here = path.relative_to(ROOT).parts
        for module in imports(path):
            there, what = tuple(module.split(".")[1:]), f"{'/'.join(here)} imports {module}"
            assert floor(there) <= floor(here), f"{what}, a floor above it"
            assert here[0] != "_transforms" or there[0] != "_ops", f"{what}: they name no operator"


@ft.cache
def siblings(path: Path) -> list[str]:
    """The modules a file imports, relative names in full."""
    package = ".".join(("functx", *path.parent.relative_to(ROOT).parts))
    froms = [node for node in nodes_of(path) if isinstance(node, ast.ImportFrom)]
    return imports(path) + [f"{package}.{node.module}" for node in froms if node.level]


def room(parts: Sequence[str]) -> int:
    return ROOMS.index(parts[0]) if len(parts) > 1 else -1


def test_rooms_of_the_core_import_in_one_direction():
    graph = {}
    for path in sorted((ROOT / "_core").rglob("*.py")):
        here = path.relative_to(ROOT / "_core").parts
        if here != ("__init__.py",):  # the face of all of them
            graph[module_name(path)] = siblings(path)
            for module in siblings(path):
                what = f"{'/'.join(here)} imports {module}"
                assert module.startswith("functx._core."), f"{what}, not the module that has it"
                assert room(module.split(".")[2:]) <= room(here), f"{what}, a room above it"
    graphlib.TopologicalSorter(graph).prepare()  # refuses cycles


def module_name(path: Path) -> str:
    return ".".join(("functx", *path.relative_to(ROOT).with_suffix("").parts))


def test_nothing_among_operators_imports_an_operator_file():
    of_operators = {spec.rule.__module__ for spec in REGISTRY.values()}
    for path in FAMILIES:
        shared = of_operators & set(siblings(path))
        assert not shared, f"{path}: move what is shared out of {shared} into a file named after it"


def test_nothing_among_entries_imports_an_entry_file():
    of_entries = {module_name(p) for p in ENTRIES if "OPS = [" in p.read_text()}
    for path in ENTRIES:
        shared = of_entries & set(siblings(path))
        assert not shared, f"{path}: move what is shared out of {shared} into a file named after it"


def test_no_function_is_written_twice():
    written: dict[str, str] = {}
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                body = node.body[ast.get_docstring(node) is not None :]
                code, here = ast.unparse(body), f"{path.relative_to(ROOT)}: {node.name}"
                if len(code) > 80:  # what is shorter may be a coincidence
                    assert code not in written, f"{here} repeats {written[code]}"
                    written[code] = here


# Two operators of PyTorch's, `svd` and `linalg.svd`, show users results of one name.
PYTORCHS_NAMES = {"SVDResult"}
CAMEL_CASE = re.compile(r"_*[A-Z]\w*[a-z]\w*")


def classes_and_aliases(path: Path) -> list[str]:
    """The names of a file's classes, nested ones too, and of its aliases of types."""
    tree = ast.parse(path.read_text())
    names = [node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        names += [t.id for t in targets if isinstance(t, ast.Name) and CAMEL_CASE.fullmatch(t.id)]
    return names


def test_a_class_name_has_one_meaning():
    written: dict[str, str] = {}
    for path in FILES:
        here = path.relative_to(ROOT)
        for name in classes_and_aliases(path):
            if name not in PYTORCHS_NAMES:
                assert name not in written, f"{here} and {written[name]} both define `{name}`"
                written[name] = str(here)


def test_private_jax_lives_in_one_file():
    found = [path.name for path in FILES if "jax._src" in path.read_text()]
    assert found == ["jax_compat.py"]


def test_rules_by_platform_vary_alike_inside_shard_map():
    found = [path.name for path in FILES if "lax.platform_dependent" in path.read_text()]
    assert found == ["manual_axes.py"], "functx._core has the one to use"


def test_files_are_read_in_one_sitting():
    for path in FILES:
        text = path.read_text()
        written = re.sub(f"{re.escape(BEGIN)}.*{re.escape(END)}", "", text, flags=re.S)
        assert len(written.splitlines()) <= 400, f"split {path} by subject"


def test_files_of_tests_have_names_of_their_own():
    """Outside packages pytest imports them by these, and refuses the second."""
    tests = Path(__file__).parent
    names = [p.name for p in tests.rglob("*.py") if not (p.parent / "__init__.py").exists()]
    assert sorted(names) == sorted(set(names))


def test_family_exports_its_operators_and_nothing_else():
    for path in FAMILIES:
        module = module_name(path)
        family = importlib.import_module(module)
        declared = [s.rule.__name__ for s in REGISTRY.values() if s.rule.__module__ == module]
        assert sorted(getattr(family, "__all__", [])) == sorted(declared), module


def test_family_has_a_twin_in_the_database():
    declaring = {s.rule.__module__ for s in REGISTRY.values()}
    for path in FAMILIES:
        if module_name(path) in declaring:
            twin = ROOT / "testing" / "opdb" / path.relative_to(ROOT / "_ops")
            assert twin.exists(), path


def test_operator_is_reachable_by_its_names():
    for name, spec in REGISTRY.items():
        for path in (name, *spec.aliases):
            assert operator.attrgetter(path)(functx) is OPERATORS[name], path


def test_operator_is_documented():
    assert [name for name, spec in REGISTRY.items() if not spec.rule.__doc__] == []


def test_database_knows_every_operator():
    assert {info.name for info in op_db} == set(REGISTRY)


def test_database_ids_are_unique():
    ids = [info.id for info in op_db]
    assert sorted(ids) == sorted(set(ids))


def test_gaps_name_checks_and_reasons():
    from functx.testing import CHECKS

    for info in op_db:
        for gap in info.gaps:
            assert gap.check in CHECKS and len(gap.reason) > 20, f"{info.id}: {gap}"


def test_gaps_are_few():
    """A gap is a fact of mathematics or of a platform, and there are not many of these."""
    assert len({gap.reason for info in op_db for gap in info.expected_failures}) <= 12


def test_facts_about_operators_lie_in_the_database():
    """As conventions of the entries, so that nothing under `tests/` names an operator."""
    assert not (Path(__file__).parent / "ops").exists()
