"""What `torch.func`'s transforms take, functx's take under the same names, in the same order."""

import inspect

import pytest

import functx


torch = pytest.importorskip("torch", reason="parity is measured against an installed PyTorch")

NAMES = [name for name in torch.func.__all__ if hasattr(functx, name)]
POSITIONAL = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)


def parameters(function):
    """Those that are public."""
    each = inspect.signature(function).parameters.values()
    return [p for p in each if not p.name.startswith("_")]


@pytest.mark.parametrize("name", NAMES)
def test_parameters_are_torchs(name):
    theirs, ours = parameters(getattr(torch.func, name)), parameters(getattr(functx, name))
    assert {p.name for p in theirs} <= {p.name for p in ours}
    count = sum(p.kind in POSITIONAL for p in theirs)
    assert [p.name for p in ours if p.kind in POSITIONAL][:count] == [p.name for p in theirs][
        :count
    ]


def test_the_transforms_of_torch_are_here_or_explained():
    for name in sorted({*torch.func.__all__} - {*NAMES}):
        with pytest.raises(AttributeError, match="hint: ") as caught:
            getattr(functx, name)
        assert "did you mean" not in str(caught.value), name
