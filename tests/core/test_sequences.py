"""Sequences of arrays may be of a class that inherits from list or tuple, as in PyTorch."""

import jax
import jax.numpy as jnp
import pytest

import functx
from functx.testing import op_db
from functx.testing.calls import Calls
from functx.testing.checks.cases import sized
from functx.testing.checks.forward import sample_dtype


class List(list):
    pass


class Tuple(tuple):
    pass


TAKING = [
    info
    for info in op_db
    if info.spec is not None
    and any(role.traced and role.several for role in info.spec.roles.values())
]


def with_sequences(info):
    """The first sample that gives a sequence of arrays, by name, and the names of those."""
    calls = Calls(info.op)
    for sample in map(lambda s: sized(info, s), info.samples(info.make(sample_dtype(info)))):
        given = calls.arguments(sample.args, sample.kwargs)
        roles = info.spec.roles
        names = [n for n, x in given.items() if isinstance(x, (list, tuple)) and roles[n].traced]
        if names:
            return calls, given, names
    return calls, {}, []


@pytest.mark.parametrize("info", TAKING, ids=lambda info: info.id)
def test_classes_of_lists_are_taken_as_lists(info):
    calls, given, names = with_sequences(info)
    if not names:
        pytest.skip("it takes one array as well, and its samples give that")
    arrays, tree = jax.tree.flatten({name: list(given[name]) for name in names})

    def call(kind, *arrays):
        several = tree.unflatten(arrays)
        with functx.random.scope(jax.random.key(0)):
            return calls(given | {name: kind(several[name]) for name in names})

    want = jax.eval_shape(lambda *xs: call(list, *xs), *arrays)
    for kind in (tuple, List, Tuple):
        got = jax.eval_shape(lambda *xs, kind=kind: call(kind, *xs), *arrays)
        assert jax.tree.map(lambda x: (x.shape, x.dtype), got) == jax.tree.map(
            lambda x: (x.shape, x.dtype), want
        )


def test_without_tracing():
    x = jnp.ones(2)
    for kind in (List, Tuple):
        assert functx.cat(kind([x, 2 * x])).tolist() == [1, 1, 2, 2]
        assert functx.stack(tensors=kind([x, x]), dim=-1).shape == (2, 2)
        assert functx.sum(functx.ones(2, 3), kind([0, 1])) == 6
        assert functx.zeros(kind([2, 3])).shape == (2, 3)


@pytest.mark.parametrize(
    "given, shown",
    [
        ([1.0, 2.0], r"\[1.0, 2.0\]"),
        ([True, 2 + 1j], r"\[True, \(2\+1j\)\]"),
        ([jnp.ones(2, "float32"), 2], r"\[f32\[2\], 2\]"),
    ],
)
def test_numbers_in_a_list_are_shown_as_they_were_given(given, shown):
    expected = rf"^sum: `input` must be an array, got {shown}\n  hint: jnp.asarray makes"
    with pytest.raises(TypeError, match=expected):
        functx.sum(given)
    with pytest.raises(TypeError, match=expected):
        jax.jit(lambda: functx.sum(given))()
