"""What needs PyTorch says so where it is missing, and nothing else imports it."""

import importlib.util
import subprocess
import sys

import pytest


def run(source):
    return subprocess.run([sys.executable, "-c", source], capture_output=True, text=True)


@pytest.mark.parametrize("call", ["from_torch(object())", "to_torch(abs)"])
def test_an_error_names_the_extra(call):
    done = run(
        "import sys; sys.modules['torch'] = None\n"
        "import functx.interop\n"
        f"try: functx.interop.{call}\n"
        "except ImportError as error: print(error)"
    )
    assert done.stdout.startswith(f"{call.partition('(')[0]}: PyTorch is not"), done.stderr
    assert "functx[torch]" in done.stdout


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
def test_torch_is_imported_when_it_is_used():
    done = run(
        "import functx.interop, sys; assert 'torch' not in sys.modules\n"
        "f = functx.interop.to_torch(functx.sin)\n"
        "import torch; f(torch.ones(2)); print('torch._dynamo' in sys.modules)"
    )
    assert done.stdout.strip() == "False", done.stderr
