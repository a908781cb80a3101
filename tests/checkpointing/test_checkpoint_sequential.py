"""A chain in segments has the values of the chain, and keeps the inputs of segments."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import functx


LAYERS = [lambda x: functx.exp(functx.sin(x))] * 7
INPUT = np.linspace(-1, 1, 16)
BYTES = INPUT.nbytes


def chain(segments, policy=None):
    return lambda x: functx.checkpointing.checkpoint_sequential(
        LAYERS, segments, x, policy=policy
    ).sum()


def plain(x):
    for layer in LAYERS:
        x = layer(x)
    return x.sum()


@pytest.mark.parametrize("segments", [1, 2, 7])
def test_values_and_gradients_are_those_of_the_chain(segments):
    for f in (lambda f: f, functx.grad):
        np.testing.assert_allclose(f(chain(segments))(INPUT), f(plain)(INPUT))


def test_all_segments_but_the_last_keep_their_inputs_alone():
    report = functx.checkpointing.checkpoint_report(chain(3), INPUT)
    assert report.forward == {"sin": 7, "exp": 7}
    assert report.recomputed == {"sin": 4, "exp": 4}, "segments of 2, 2 and 3"
    without = functx.checkpointing.checkpoint_report(plain, INPUT).residual_bytes
    assert report.residual_bytes < without
    assert not functx.checkpointing.checkpoint_report(chain(1), INPUT).recomputed


def test_a_policy_holds_in_each_segment():
    report = functx.checkpointing.checkpoint_report(chain(3, ["sin"]), INPUT)
    assert report.recomputed == {"exp": 4}


def test_functions_hand_any_tree_on():
    swap = lambda pair: {"a": functx.sin(pair["b"]), "b": pair["a"], "name": pair["name"]}
    out = functx.checkpointing.checkpoint_sequential(
        [swap] * 4, 2, {"a": INPUT, "b": INPUT, "name": "x"}
    )
    np.testing.assert_allclose(out["a"], np.sin(np.sin(INPUT)))
    assert out["name"] == "x"


@pytest.mark.parametrize(
    "functions, segments, error, message",
    [
        (LAYERS, 0, ValueError, "`segments` must be between 1 and 7, .* got 0"),
        (LAYERS, 8, ValueError, "`segments` must be between 1 and 7, .* got 8"),
        ([], 1, ValueError, "between 1 and 0"),
        (LAYERS, 2.0, TypeError, "`segments` must be an int, got 2.0"),
        (functx.sin, 1, TypeError, "`functions` must be a list of functions"),
        ([functx.sin, INPUT], 1, TypeError, "checkpoint_sequential: "),
    ],
)
def test_refusals(functions, segments, error, message):
    with pytest.raises(error, match=message):
        functx.checkpointing.checkpoint_sequential(functions, segments, INPUT)


def test_a_report_runs_nothing_and_takes_shapes():
    shape = jax.ShapeDtypeStruct((2**20, 2**20), np.float32)
    report = functx.checkpointing.checkpoint_report(
        functx.checkpoint(lambda x: functx.exp(x).sum()), shape
    )
    assert report.recomputed == {"exp": 1} and report.residual_bytes == 0


def test_a_report_of_a_function_that_keeps_what_it_closes_over():
    w = np.ones((4, 4))
    report = functx.checkpointing.checkpoint_report(
        lambda x: functx.matmul(w, x).sum(), INPUT.reshape(4, 4)
    )
    assert report.residual_bytes == 0 and report.forward == {"matmul": 1}


def test_a_report_counts_integer_and_other_arguments_out():
    f = lambda x, n, mode, *, scale: {"y": functx.exp(x) * scale, "n": n + 1, "mode": mode}
    report = functx.checkpointing.checkpoint_report(f, INPUT, np.arange(3), "train", scale=2.0)
    assert report.forward == {"exp": 1} and report.residual_bytes == BYTES


@pytest.mark.parametrize("segments", [1, 3])
def test_a_report_agrees_with_the_list_of_residuals(segments):
    f = functx.checkpoint(chain(segments), policy=["exp"])
    kept = [r for r in functx.residuals.saved_residuals(f, INPUT) if r.origin == "operator"]
    assert kept and functx.checkpointing.checkpoint_report(f, INPUT).residual_bytes == sum(
        r.bytes for r in kept
    )
