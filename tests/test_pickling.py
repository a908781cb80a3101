"""What transforms and operators return, and what they raise, can be sent to another process."""

import copy
import importlib
import importlib.util
import inspect
import json
import os
import pickle
import pkgutil
import subprocess
import sys

import cloudpickle
import jax
import jax.extend as jex
import jax.numpy as jnp
import numpy as np
import pytest
from calls_to_send import calls
from public_homes import FACADES

import functx
import functx.cli
import functx.testing
from functx._core import OPERATORS
from functx._core.context.user_contexts import UserContext
from functx._core.errors import Refused
from functx._core.primitives.by_reference import Primitive


_SPARE = (
    "functx.cli.browser",
    "functx.testing.opdb",
    *(() if importlib.util.find_spec("torch") else ("functx._interop",)),  # it imports PyTorch
)


def modules():
    found = pkgutil.walk_packages(functx.__path__, "functx.")
    names = [info.name for info in found if not info.name.endswith("__main__")]
    return [importlib.import_module(name) for name in names if not name.startswith(_SPARE)]


def public():
    """Every public object by its full name."""
    for facade in FACADES:
        for name in dir(facade):
            yield f"{facade.__name__}.{name}".removeprefix("functx."), getattr(facade, name)


# Parameters that take functions. What has none of them is a context, or takes arrays alone.
_TAKING = {"backward", "f", "fn", "func", "functions", "matvec", "module", "outputs"}


def transforms():
    for name, value in public():
        if inspect.isfunction(value) and value.__module__.startswith("functx._transforms."):
            if _TAKING & inspect.signature(value).parameters.keys():
                yield name, value


def sent():
    """The functions in `calls` by what they show, without the same one under another name."""
    return {part for name in calls() for part in name.split(", ")}


def test_no_transform_is_forgotten():
    names = {}
    for name, value in transforms():
        names.setdefault(value, set()).add(name)
    assert [under for under in names.values() if not under & sent()] == []


def result(call):
    function, args = call
    functx.manual_seed(0)
    return jax.tree.map(np.asarray, function(*args))


RECEIVER = """
import json, pickle, sys
import jax, numpy as np

wrong = {}
for name, (function, args, want) in pickle.load(open(sys.argv[1], "rb")).items():
    try:
        if "functx" in sys.modules:
            sys.modules["functx"].manual_seed(0)
        call, args = pickle.loads(function), pickle.loads(args)
        sys.modules["functx"].manual_seed(0)
        got = jax.tree.map(np.asarray, call(*args))
        jax.tree.map(np.testing.assert_array_equal, got, pickle.loads(want))
    except Exception as error:
        wrong[name] = repr(error)
print(json.dumps(wrong))
"""


def test_another_process_computes_the_same(tmp_path):
    packed = {}
    for name, (function, args) in calls().items():
        cloudpickle.dumps(function)  # before it has compiled anything, and then
        want = result((function, args))
        packed[name] = [cloudpickle.dumps(x) for x in (function, args, want)]
    file = tmp_path / "calls"
    file.write_bytes(pickle.dumps(packed))
    env = os.environ | {"JAX_ENABLE_X64": "1"}
    command = [sys.executable, "-c", RECEIVER, str(file)]
    out = subprocess.run(command, capture_output=True, text=True, env=env, check=True)
    assert json.loads(out.stdout) == {}


def test_what_there_is_once_is_pickled_as_a_reference():
    kinds = (jex.core.Primitive, type(jax.make_user_context()))
    for module in modules():
        if module.__name__.startswith("functx.testing.mutants"):
            continue
        for name, value in vars(module).items():
            if isinstance(value, (Primitive, UserContext)):
                for copied in (pickle.loads(pickle.dumps(value)), copy.deepcopy(value)):
                    assert copied is value, f"{module.__name__}.{name}"
            else:
                foreign = any(value is x for x in vars(jex.core.primitives).values())
                assert not isinstance(value, kinds) or foreign, f"{module.__name__}.{name}"


def test_operators_and_public_functions_are_pickled_by_their_names():
    functions = OPERATORS | dict(public())
    for name, value in functions.items():
        if callable(value) and not hasattr(value, "dtype"):
            assert pickle.loads(pickle.dumps(value)) is value, name
            assert copy.deepcopy(value) is value, name


def test_classes_of_results_and_errors_can_be_imported():
    for module in modules():
        for name, value in vars(module).items():
            if isinstance(value, type) and value.__module__.startswith("functx"):
                assert pickle.loads(pickle.dumps(value)) is value, f"{module.__name__}.{name}"


def errors():
    found = {
        value
        for module in modules()
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, BaseException)
    }
    return sorted((e for e in found if e.__module__.startswith("functx")), key=lambda e: e.__name__)


@pytest.mark.parametrize("kind", errors(), ids=lambda kind: kind.__name__)
def test_errors_keep_all_that_they_say(kind):
    error = kind("no", "hint", TypeError) if issubclass(kind, Refused) else kind("no")
    error.add_note("a note")
    vars(error)["kind"] = "inf"
    copied = pickle.loads(pickle.dumps(error))
    assert (type(copied), str(copied), vars(copied)) == (kind, str(error), vars(error))


def test_an_error_pickled_under_its_old_place_comes_back():
    with pytest.warns(DeprecationWarning, match="is functx.debug.AnomalyError now"):
        error = pickle.loads(b"cfunctx\nAnomalyError\n(S'no'\ntR.")
    assert type(error) is functx.debug.AnomalyError and str(error) == "no"


def test_an_anomaly_keeps_where_it_was():
    with pytest.raises(functx.debug.AnomalyError) as caught:
        functx.debug.detect_anomaly(functx.sqrt)(jnp.asarray(-1.0))
    copied = pickle.loads(pickle.dumps(caught.value))
    assert copied.line == caught.value.line
    assert (copied.operator, copied.inputs) == ("sqrt", ("f64[] (finite)",))


def results():
    x = jnp.asarray([3.0, 1.0])
    f = lambda x: functx.sum(functx.sin(x))
    yield functx.max(x, dim=0)
    yield functx.linalg.eigh(jnp.eye(2))
    yield functx.checkpointing.CheckpointPolicy.MUST_SAVE
    yield functx.checkpointing.checkpoint_report(f, x)
    yield functx.residuals.saved_residuals(f, x)
    yield functx.autograd.graph.make_graph(f)(x).nodes
    yield functx.random.Generator(jax.random.key(3), 2)


def test_results_come_back():
    for value in results():
        for copied in (pickle.loads(pickle.dumps(value)), copy.deepcopy(value)):
            assert type(copied) is type(value)
            assert repr(copied) == repr(value)


HOLDING = {
    "vjp: what it returns, a Pullback": lambda f, x: functx.vjp(f, x)[1],
    "vjp: what it returns, a Once": lambda f, x: functx.vjp(f, x, retain=False)[1],
    "linearize: what it returns, a Pushforward": lambda f, x: functx.linearize(f, x)[1],
    "trace: what it returns, a Graph": lambda f, x: functx.autograd.graph.make_graph(f)(x),
}


@pytest.mark.parametrize("message", HOLDING)
def test_recorded_programs_are_refused_and_can_be_copied(message):
    one = jnp.asarray(1.0, "float32")
    made = HOLDING[message](functx.sin, one)
    for dumps in (pickle.dumps, cloudpickle.dumps):
        with pytest.raises(TypeError, match=f"{message}, holds .* cannot be pickled\\n  hint: "):
            dumps(made)
    for copied in (copy.copy(made), copy.deepcopy(made)):
        assert type(copied) is type(made)
        if callable(made):
            assert copied(one) is not None


def test_stages_of_a_compiled_function_can_be_copied():
    lowered = functx.jit(functx.sin).lower(jnp.asarray(1.0))
    assert copy.copy(lowered).as_text() == lowered.as_text()
