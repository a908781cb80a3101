"""Docstrings: every example runs, and those of public callables name every parameter."""

import doctest
import enum
import importlib
import importlib.util
import inspect
import linecache
import pkgutil
import re

import jax
import jax.numpy as jnp
import pytest

import functx


# Without those that import PyTorch, which have no examples.
MODULES = [m.name for m in pkgutil.walk_packages(functx.__path__, "functx.")]
FACADES = ["functx", *(m for m in MODULES if not re.search(r"\._|functx\.(testing|cli)", m))]


HAS_TORCH = importlib.util.find_spec("torch") is not None


def imported(name):
    """The module, or a skip where it imports PyTorch, which is not there."""
    if "._interop." in name:
        pytest.importorskip(
            name, reason="pip install '.[torch]' brings torch", exc_type=ImportError
        )
    return importlib.import_module(name)


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    """`functx`, `jnp` and `jax` are in scope."""
    module = imported(name)
    names = {"functx": functx, "jnp": jnp, "jax": jax}
    linecache.clearcache()  # each run asks for the time of every file in it
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for docstring in doctest.DocTestFinder().find(module, extraglobs=names):
        if docstring.examples and (HAS_TORCH or "import torch" not in docstring.docstring):
            runner.run(docstring)
    assert runner.failures == 0


def own_callables(module):
    """The public callables of functx in `module`, by name."""
    names = getattr(module, "__all__", [name for name in dir(module) if not name.startswith("_")])
    found = {name: getattr(module, name) for name in names}
    own = lambda value: (getattr(value, "__module__", None) or "").startswith("functx")
    return {name: value for name, value in found.items() if callable(value) and own(value)}


def unnamed_parameters(function):
    """The parameters of a callable that stand nowhere in backticks in its docstring."""
    docstring = function.__doc__ or ""
    if inspect.isclass(function):
        if issubclass(function, enum.Enum) or getattr(function, "_is_protocol", False):
            return []  # members are picked, protocols are annotations: nobody makes one
        docstring += function.__init__.__doc__ or ""
    spans = " ".join(re.findall(r"`[^`]*`", docstring))
    try:
        parameters = inspect.signature(function).parameters
    except ValueError:  # some built-in classes, such as exceptions, have no signature
        return []
    named = [name for name in parameters if name.strip("_")]  # `*_` takes what nobody passes
    return [name for name in named if not re.search(rf"\b{re.escape(name)}\b", spans)]


@pytest.mark.parametrize("name", FACADES)
def test_every_parameter_of_a_public_callable_stands_in_its_docstring(name):
    callables = own_callables(importlib.import_module(name))
    missing = {what: unnamed_parameters(value) for what, value in callables.items()}
    assert {what: names for what, names in missing.items() if names} == {}


def test_a_parameter_without_backticks_is_found():
    def function(named, plain, *rest):
        """Adds `named` to plain and to `rest`."""

    assert unnamed_parameters(function) == ["plain"]
