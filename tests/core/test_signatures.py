"""Every operator can be called as its signature says, with sequences of any class PyTorch takes.

The check `spelling` writes the samples of operators with one signature by name. Here are those with
several, whose other signatures are read before the declared one is.
"""

import collections
import inspect
import itertools

import jax
import numpy as np
import pytest

import functx
from functx._core import REGISTRY
from functx._core.operators.roles import RoleKind
from functx.testing import op_db
from functx.testing.calls import Calls
from functx.testing.checks.cases import sized
from functx.testing.checks.forward import sample_dtype


OPERATORS = {info.name: info for info in reversed(op_db) if info.name in REGISTRY}


def calls_of(info, most):
    """The arguments of the first samples, by name in the declared form."""
    calls = Calls(info.op)
    samples = itertools.islice(info.samples(info.make(sample_dtype(info))), most)
    for sample in (sized(info, sample) for sample in samples):
        yield calls.arguments(sample.args, sample.kwargs)


def called(op, given):
    """The shapes and dtypes of a call by the names of the signature that `inspect` shows."""
    args, kwargs = [], {}
    for name, parameter in inspect.signature(op).parameters.items():
        if name in given and parameter.kind is parameter.POSITIONAL_ONLY:
            args.append(given[name])
        elif name in given:
            kwargs[name] = given[name]
    assert len(args) + len(kwargs) == len(given), f"the signature lacks some of {[*given]}"
    traced = {name: x for name, x in kwargs.items() if op.spec.roles[name].traced}

    def call(args, traced):
        with functx.random.scope(jax.random.key(0)):
            return op(*args, **kwargs | traced)

    shapes = jax.eval_shape(call, args, traced)
    return jax.tree.map(lambda x: (x.shape, str(x.dtype)), shapes)


SEVERAL = [info for info in OPERATORS.values() if info.spec.other_signatures is not None]


@pytest.mark.parametrize("info", SEVERAL, ids=lambda info: info.name)
def test_every_signature_is_callable_as_it_stands(info):
    for given in calls_of(info, most=2):
        assert called(info.op, given)


def test_the_signature_that_is_shown_is_the_declared_one():
    for info in OPERATORS.values():
        shown = dict(inspect.signature(info.op).parameters)
        if any(role.kind is RoleKind.KEY for role in info.spec.roles.values()):
            assert shown.pop("generator").default is None
        assert list(shown.values()) == list(info.spec.signature.parameters.values()), info.name


class List(list):
    """A list of another class."""


class Tuple(tuple):
    """A tuple of another class, as `torch.Size` is."""


def named(items):
    items = [List(x) if isinstance(x, tuple) else x for x in items]
    return collections.namedtuple("Named", [f"n{i}" for i in range(len(items))])(*items)


def of_numpy(items):
    return [np.int32(x) if type(x) is int else x for x in items]


def nested(kind, value):
    """`value` with a class of sequences in the place of lists and tuples, at every depth."""
    if isinstance(value, (list, tuple)):
        return kind([nested(kind, item) for item in value])
    return value


def with_sequences(info):
    """The first call that gives static sequences, and the names of those."""
    roles = info.spec.roles
    for given in calls_of(info, most=8):
        names = [
            name
            for name, x in given.items()
            if isinstance(x, (list, tuple)) and x and not roles[name].traced
        ]
        if names:
            return given, names
    return {}, []


def takes_sequences(info):
    notes = [str(p.annotation) for p in info.spec.signature.parameters.values()]
    return any(part in note for note in notes for part in ("Sequence", "Dims", "Shape", "tuple"))


TAKING = [info for info in OPERATORS.values() if takes_sequences(info)]


@pytest.mark.parametrize("info", TAKING, ids=lambda info: info.name)
def test_static_sequences_may_be_of_any_class_that_inherits_from_list_or_tuple(info):
    given, names = with_sequences(info)
    if not names:
        pytest.skip("its first samples give no sequence")
    want = called(info.op, given)
    for kind in (List, Tuple, named, of_numpy):
        assert called(info.op, given | {name: nested(kind, given[name]) for name in names}) == want
