"""Of a check that fails, pytest shows the line of the user's test."""

import os
import re
import subprocess
import sys
from pathlib import Path


PROGRAM = """
import jax
import jax.numpy as jnp
from hypothesis import find

import functx
from functx.testing import *
from functx.testing.checks.compare import assert_close
from functx.testing.strategies import calls


class Wrong(functx.Function):
    @staticmethod
    def forward(ctx, x):
        return x * x

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output


def apply(x):
    return Wrong.apply(x)


@jax.custom_jvp
def bent(x):
    return x


bent.defjvp(lambda x, t: (bent(*x), t[0] * t[0]))
BENT = OpInfo(bent, lambda make: iter([call(make(2))]), dtypes=("float32",))
X = jnp.arange(2.0)
"""
LINES = {
    "residuals": "assert_residuals(functx.sin, X, bytes=0)",
    "gradients": "gradcheck(apply, X, eps=1e-2, atol=1e-2)",
    "second_gradients": "gradgradcheck(lambda x: x * apply(x), X, eps=1e-2, atol=1e-2)",
    "function": "check_function(Wrong, X)",
    "opcheck": "opcheck(apply, X, checks=['gradient']).raise_if_failed()",
    "close": "assert_close(X, X + 1, what='X')",
    "properties": "assert_properties(find(calls(BENT), lambda call: True), 'linear_jvp')",
}


def test_the_line_of_the_test_is_shown_alone(tmp_path):
    made = tmp_path / "test_made.py"
    tests = [f"def test_{name}():\n    {line}\n" for name, line in LINES.items()]
    made.write_text("\n\n".join([PROGRAM, *tests]))
    words = ["-q", "--tb=short", "-p", "no:cacheprovider", "-W", "ignore", "--rootdir", tmp_path]
    # Options in the environment are of the suite that runs this test, not of the one made here.
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *words, made], capture_output=True, text=True, env=own
    )
    shown = re.findall(r"^(\S+):\d+: in (\w+)$", run.stdout, re.MULTILINE)
    assert [(Path(file).name, function) for file, function in shown] == [
        (made.name, f"test_{name}") for name in LINES
    ], run.stdout
