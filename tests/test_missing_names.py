"""A name that a facade lacks gets an AttributeError that says what to use."""

import copy
import importlib
import inspect
import json
import operator
import pickle
import re
from pathlib import Path

import jax.experimental.sparse  # noqa: F401
import pytest

import functx
import functx.testing
from functx import _remedies
from functx._names import _JAXS_OWN, _PLACES, counterpart, COUNTERPARTS, MOVED
from functx._remedies import REMEDIES


pytestmark = pytest.mark.reads_files
RECORD = Path(__file__).parents[1] / "docs" / "ext" / "pytorch_functions.json"
FUNCTIONS = json.loads(RECORD.read_text())  # PyTorch's, by namespace


def refusal(path):
    """What asking for `functx.<path>` says."""
    with pytest.raises(AttributeError) as caught:
        operator.attrgetter(path)(functx)
    return str(caught.value)


@pytest.mark.parametrize(
    "path, remedy",
    [
        ("Tensor", "jax.Array"),
        ("pi", "math.pi, or jnp.pi"),
        ("inf", "math.inf, or jnp.inf"),
        ("nan", "math.nan, or jnp.nan"),
        ("stack_module_state", "functx.stack_trees"),
        ("array", "jnp.array"),
        ("chalf", "functx.cfloat"),
        ("gelu", "functx.nn.functional.gelu"),
        ("nn.functional.vmap", "functx.vmap"),
        ("fork_rng", "functx.random.fork_rng"),
        ("add_", "x = functx.add(x, ...)"),
        ("nn.Linear", "functx.nn.functional has functions"),
        ("masked.nansum", "jnp.nansum with where=mask"),
        ("nn.functional.max_pool2d_with_indices", "max_pool2d(..., return_indices=True)"),
        ("vmpa", "did you mean vmap"),
        ("linalg.sovle", "did you mean solve"),
        ("functionalize", "functx.aot.functionalize"),
        ("custom_vjp", "functx.Function"),
        ("custom_jvp", "functx.Function"),
        ("remat", "functx.checkpoint"),
        ("stop_gradient", "functx.detach"),
        ("tree_map", "jax.tree.map"),
        ("lax", "it is JAX's: jax.lax"),
        ("make_jaxpr", "it is JAX's: jax.make_jaxpr"),
        ("autograd.gradcheck", "functx.testing.gradcheck"),
        ("random.split", "keys are JAX's: jax.random.split"),
        ("random.PRNGKey", "jax.random.key(0)"),
        ("random.fold_in", "it is JAX's: jax.random.fold_in"),
        ("random.normal", "it is functx.normal"),
        ("debug.print", "it is JAX's: jax.debug.print"),
    ],
)
def test_says_what_to_use(path, remedy):
    assert remedy in refusal(path)


@pytest.mark.parametrize("facade", sorted(_PLACES))
def test_an_operator_still_to_come_is_named_in_jax(facade):
    module = importlib.import_module(facade)
    taken = {*REMEDIES, *COUNTERPARTS, *(name for other in _PLACES for name in _shown(other))}
    for place in _PLACES[facade]:
        jax_module = importlib.import_module(place)
        for name in set(getattr(jax_module, "__all__", dir(jax_module))) - taken:
            value = vars(jax_module).get(name)
            if name.startswith("_") or not callable(value) or inspect.isclass(value):
                continue
            if facade != "functx.masked" or "where" in inspect.signature(value).parameters:
                assert "JAX has j" in refusal(f"{module.__name__}.{name}".partition(".")[2])


def _shown(facade):
    return [*dir(importlib.import_module(facade)), *MOVED.get(facade, ())]


@pytest.mark.parametrize(
    "name", [n for names in COUNTERPARTS.values() for n in names.split(" and ")]
)
def test_counterparts_exist(name):
    module, _, function = name.rpartition(".")
    assert callable(getattr(importlib.import_module(module), function))


@pytest.mark.parametrize("name", sorted({*REMEDIES, *COUNTERPARTS}))
def test_what_exists_needs_no_remedy(name):
    space, _, last = f"functx.{name}".rpartition(".")
    assert last not in _shown(space), "it has come: strike it from the table"


@pytest.mark.parametrize("facade, space", sorted(_JAXS_OWN.items()))
def test_every_name_of_jax_gets_a_remedy(facade, space):
    for name in list(vars(importlib.import_module(space))):  # lookups import modules
        if not name.startswith("_") and name not in _shown(facade):
            assert counterpart(facade, name), name


@pytest.mark.parametrize("space", ["masked", "signal.windows", "special"])
def test_no_function_of_pytorchs_is_left_unexplained(space):
    facade = f"functx.{space}"
    lacking = [name for name in FUNCTIONS[space] if name not in _shown(facade)]
    assert [name for name in lacking if not counterpart(facade, name)] == []


@pytest.mark.parametrize("pattern", _remedies._BY_FAMILY)
def test_a_family_has_members(pattern):
    assert any(re.match(pattern, name) for names in FUNCTIONS.values() for name in names)


@pytest.mark.parametrize("remedy", sorted({*REMEDIES.values(), *_remedies._BY_FAMILY.values()}))
def test_a_remedy_names_what_exists(remedy):
    for library, path in re.findall(r"\b(functx|jax)\.((?:\w+\.)*\w+)", remedy):
        operator.attrgetter(path)(importlib.import_module(library))


def test_plain_where_nothing_is_near():
    assert refusal("qwertyuiop") == "module 'functx' has no attribute 'qwertyuiop'"
    assert refusal("_private") == "module 'functx' has no attribute '_private'"


def test_introspection_goes_on_working():
    assert not hasattr(functx, "Tensor")
    assert getattr(functx, "Tensor", 7) == 7
    assert pickle.loads(pickle.dumps(functx.sin)) is functx.sin
    assert copy.deepcopy(functx.sin) is functx.sin
    assert inspect.getmodule(functx) is functx and inspect.getdoc(functx)
    assert dict(inspect.getmembers(functx))["sin"] is functx.sin
    with pytest.raises(ImportError):
        from functx import Tensor  # noqa: F401
