"""Facades show the public names, all of them, and nothing else."""

import ast
import importlib
import inspect
import shutil
import subprocess
import sys
import typing
from pathlib import Path

import pytest
import write_facades
from public_homes import FACADES

import functx
from functx._core import OPERATORS, REGISTRY
from functx._names import MOVED, TOOLS


INIT = Path(functx.__file__)
ROOT = INIT.parent
# `torch.func.__all__` of PyTorch 2.13.
TORCH_FUNC = {
    "debug_unwrap",
    "functional_call",
    "functionalize",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "stack_module_state",
    "vjp",
    "vmap",
}
TRANSFORMS = [
    ".".join(("functx", *path.relative_to(ROOT).with_suffix("").parts))
    for path in sorted((ROOT / "_transforms").rglob("[!_]*.py"))
]


def of_operators():
    return [f"functx.{space}".rstrip(".") for space in write_facades.FACADES]


def operators_in(facade):
    space = facade.removeprefix("functx").removeprefix(".")
    paths = [(path, name) for name, spec in REGISTRY.items() for path in (name, *spec.aliases)]
    return {
        path.rpartition(".")[2]: OPERATORS[name]
        for path, name in paths
        if path.rpartition(".")[0] == space
    }


def test_facades_are_current():
    stale = [path for path, text in write_facades.current().items() if path.read_text() != text]
    assert not stale, "run python -m tests.write_facades"


@pytest.mark.parametrize("facade", of_operators())
def test_shows_every_operator_of_its_namespace(facade):
    module, operators = importlib.import_module(facade), operators_in(facade)
    assert {name: getattr(module, name) for name in operators} == operators


@pytest.mark.parametrize("facade", [f for f in of_operators() if f != "functx"])
def test_shows_operators_their_errors_and_what_takes_functions_alone(facade):
    module = importlib.import_module(facade)
    others = {name: getattr(module, name) for name in set(dir(module)) - set(operators_in(facade))}
    for value in others.values():
        is_error = isinstance(value, type) and issubclass(value, Exception)
        assert is_error or "function" in inspect.signature(value).parameters


def test_functx_shows_operators_transforms_dtypes_and_facades_alone():
    others = {
        name: getattr(functx, name) for name in set(dir(functx)) - set(operators_in("functx"))
    }
    for name, value in others.items():
        if inspect.ismodule(value):
            assert (ROOT / f"{name}.py").exists() or (ROOT / name / "__init__.py").exists()
        elif not hasattr(value, "dtype"):
            home = value.__module__
            inside = home.startswith(("functx._transforms.", "functx._arrays.", "functx._core."))
            assert inside, f"{name} of {home}"


@pytest.mark.parametrize("module", TRANSFORMS)
def test_transforms_are_public(module):
    for name in getattr(importlib.import_module(module), "__all__", []):
        assert any(name in dir(facade) for facade in FACADES), name


def test_testing_shows_its_public_names_and_three_modules_alone():
    import functx.testing

    modules = {
        name for name in dir(functx.testing) if inspect.ismodule(getattr(functx.testing, name))
    }
    assert modules == {"mutants", "strategies", "tolerances"}
    assert set(functx.testing.__all__) == set(dir(functx.testing)) - modules
    with pytest.raises(AttributeError, match=r"hint: it is Tolerance\(reason, floor=8\)"):
        functx.testing.Floor  # noqa: B018


def test_star_import_gives_what_dir_shows_but_for_what_is_imported_when_used():
    names = {}
    exec("from functx import *", names)
    assert set(names) - {"__builtins__"} == set(dir(functx)) - {"testing", *TOOLS}


@pytest.mark.parametrize("facade, old", [(f, old) for f, names in MOVED.items() for old in names])
def test_an_old_place_works_and_says_the_new_one(facade, old):
    module, home = importlib.import_module(facade), MOVED[facade][old]
    place, _, name = home.rpartition(".")
    assert old not in dir(module)
    with pytest.warns(DeprecationWarning, match=f"^{facade}.{old} is {home} now; ") as caught:
        assert getattr(module, old) is getattr(importlib.import_module(place), name)
    assert {warning.filename for warning in caught} == {__file__}
    with pytest.warns(DeprecationWarning, match=f"is {home} now"):
        exec(f"from {facade} import {old}", {})
    assert home in str(refusal(module, f"{old}_"))


def refusal(module, name):
    with pytest.raises(AttributeError) as caught:
        getattr(module, name)
    return caught.value


def test_type_checkers_see_old_places():
    (block,) = (node for node in ast.parse(INIT.read_text()).body if isinstance(node, ast.If))
    seen = {
        alias.asname
        for node in block.body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }
    assert {name.replace("_make_graph", "graph") for name in seen} == set(MOVED["functx"])


def test_func_has_what_torch_func_has():
    assert set(dir(functx.func)) <= set(dir(functx))
    assert set(dir(functx.func)) <= TORCH_FUNC
    for name in TORCH_FUNC - set(dir(functx.func)):
        assert "hint" in str(refusal(functx.func, name))


def copied(tmp_path):
    shutil.copytree(ROOT, tmp_path / "functx", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "tests").mkdir()
    shutil.copy(write_facades.__file__, tmp_path / "tests")
    return tmp_path / "functx"


def test_command_mends_facades_that_cannot_be_imported(tmp_path):
    copy = copied(tmp_path)
    init = copy / "__init__.py"
    name = min(path for path in REGISTRY if "." not in path)
    init.write_text(init.read_text().replace(f"{name} as {name}", f"moved as {name}"))

    def run(*arguments):
        command = [sys.executable, "-m", "tests.write_facades", *arguments]
        return subprocess.run(command, cwd=tmp_path)

    assert run("--check").returncode == 1
    assert run().returncode == 0
    assert init.read_text() == (ROOT / "__init__.py").read_text()
    assert run("--check").returncode == 0


@pytest.mark.parametrize(
    "facade", sorted({*of_operators(), *(home.__name__ for home in FACADES), "functx.random"})
)
def test_public_functions_are_typed(facade):
    module = importlib.import_module(facade)
    for name in dir(module):
        value = getattr(module, name)
        if inspect.isfunction(value):
            signature = inspect.signature(value)
            assert signature.return_annotation is not signature.empty, f"{name} returns what?"
            for parameter in signature.parameters.values():
                assert parameter.annotation is not parameter.empty, f"{name}: {parameter.name}"


@pytest.mark.parametrize(
    "name", sorted(name for name, spec in REGISTRY.items() if spec.other_signatures)
)
def test_each_form_is_an_overload(name):
    forms = typing.get_overloads(REGISTRY[name].rule)
    assert len(forms) > 1, "type checkers see no signature but the declared one: add @overload's"


def test_package_says_that_it_is_typed():
    assert (ROOT / "py.typed").exists()
