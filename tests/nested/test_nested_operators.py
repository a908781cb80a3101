"""Every operator of the database over a ragged batch: as sequence by sequence, or refused."""

import jax.numpy as jnp
import numpy as np
import pytest

import functx.nested as fn
from functx._core import category
from functx.testing import op_db
from functx.testing.checks.resizing import Resizable
from functx.testing.checks.symbolic import symbols


DTYPES = ("float64", "int64", "bool", "complex128")
REFUSAL = "cannot be done along a ragged dimension|depends on a ragged size"


def calls(info):
    """The first call whose arrays have sizes that may change, with the places of these."""
    dtype = next((d for d in DTYPES if d in info.accepted), None)
    for sample in info.samples(info.make(dtype)) if dtype else ():
        if not sample.values_only and any(x.size > 1 for x in sample.arrays()):
            call = Resizable(info, sample)
            return [(call, [p for p in g if isinstance(p[0], int)], g) for g in symbols(call)]
    return []


def lanes_of(call, group):
    """The arrays at the sizes of three lanes, as far as the operator takes these."""
    (own,) = {call.sizes[place] for place in group if isinstance(place[0], int)}
    found = {}
    for n in (own, own + 1, 1):
        sizes = dict.fromkeys(group, n)
        if not call.takes(sizes):
            continue
        arrays = [jnp.asarray(x) for x in call.values(sizes)]
        try:
            found[n] = arrays, call.function(sizes)(*arrays)
        except Exception as error:  # an index that is out of range in this lane
            assert call.info.refuses(error)
    return found


def batched(call, places, lanes):
    """The arguments of all lanes, padded with what must not matter, and their dims."""
    longest, arguments, dims = max(lanes) + 1, [], []
    for i, x in enumerate(call.arrays):
        ragged = tuple(sorted(d for which, d in places if which == i))
        if not ragged:
            arguments.append(jnp.asarray(x))
            dims.append(None)
            continue
        names, arrays = ("n",) * len(ragged), [arrays[i] for arrays, _ in lanes.values()]
        batch = fn.nested(arrays, dim=ragged, name=names, buckets=[longest])
        nonsense = jnp.nan if category(batch.dtype) >= 2 else 1
        (_, *lengths), info = batch.tree_flatten()
        arguments.append(fn.Nested(batch.padded(nonsense), lengths, **info))
        dims.append(0)
    return arguments, tuple(dims)


@pytest.mark.full
@pytest.mark.parametrize("info", [x for x in op_db if not x.random], ids=lambda info: info.id)
def test_operator_over_a_ragged_batch(info):
    for call, places, group in calls(info):
        lanes = lanes_of(call, group) if places else {}
        if not lanes:
            continue
        which, dim = min(places)
        arguments, dims = batched(call, places, lanes)

        def of_one(*arrays, call=call, group=group, which=which, dim=dim):
            return call.function(dict.fromkeys(group, arrays[which].shape[dim]))(*arrays)

        try:
            got = fn.vmap(of_one, in_dims=dims)(*arguments)
        except RuntimeError as error:
            if "nested.vmap" in str(error) and any(w in str(error) for w in REFUSAL.split("|")):
                continue
            raise
        for k, result in enumerate(got):
            rows = result.unbind() if isinstance(result, fn.Nested) else list(result)
            for mine, (_, want) in zip(rows, lanes.values(), strict=True):
                assert mine.shape == want[k].shape and mine.dtype == want[k].dtype
                np.testing.assert_allclose(mine, want[k], rtol=1e-8, atol=1e-9)
