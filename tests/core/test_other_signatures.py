"""Operators that PyTorch shows twice, with their arguments in another order."""

import jax.numpy as jnp
import numpy as np
import pytest

import functx
import functx.nn.functional as F


TABLE = np.arange(6, dtype="float32").reshape(3, 2)
ROWS = np.asarray([2, 0, 2])


@pytest.mark.parametrize(
    "given, options",
    [
        ((), {}),
        ((-1,), {}),
        ((2,), {"padding_idx": 2}),
        ((2, True), {"padding_idx": 2, "scale_grad_by_freq": True}),
        ((-1, True, False), {"scale_grad_by_freq": True}),
    ],
)
def test_embedding_takes_the_table_first(given, options):
    one = functx.grad(lambda w: functx.embedding(w, ROWS, *given).sum())(TABLE)
    other = functx.grad(lambda w: F.embedding(ROWS, w, **options).sum())(TABLE)
    np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(functx.embedding(TABLE, ROWS, *given), TABLE[ROWS])


def test_embedding_takes_the_table_first_by_name():
    by_name = functx.embedding(weight=TABLE, indices=ROWS, padding_idx=-1)
    np.testing.assert_array_equal(by_name, TABLE[ROWS])
    np.testing.assert_array_equal(functx.embedding(TABLE, indices=ROWS), TABLE[ROWS])
    with pytest.raises(TypeError, match="embedding"):
        functx.embedding(TABLE, ROWS, -1, False, False, 3)


@pytest.mark.parametrize("training", [True, False])
def test_batch_norm_takes_the_statistics_last(training):
    x = np.asarray([[1.0, 2], [4, 8], [-1, 3]], "float32")
    weight, bias, mean, var = jnp.asarray([[2, 3], [-1, 1], [0.5, 1], [2, 4]], "float32")
    want = F.batch_norm(x, mean, var, weight, bias, training, 0.1, 0.25)
    got = functx.batch_norm(x, weight, bias, mean, var, training, 0.1, 0.25, False)
    np.testing.assert_array_equal(got, want)
    by_name = functx.batch_norm(
        x, weight, bias, mean, var, training=training, momentum=0.1, eps=0.25, cudnn_enabled=True
    )
    np.testing.assert_array_equal(by_name, want)
    np.testing.assert_array_equal(
        functx.batch_norm(x, mean, var, weight, bias, training, 0.1, 0.25), want
    )
