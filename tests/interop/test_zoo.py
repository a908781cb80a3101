"""Public models, where their libraries are there: `python -m tests.interop.zoo` tries others."""

import importlib.util

import pytest


torch = pytest.importorskip("torch", reason="models are imported from an installed PyTorch")

LIBRARIES = {"hf": "transformers", "timm": "timm", "tv": "torchvision"}
# Small, and of different kinds: those that compute in float32 inside are not among them.
MODELS = [
    "hf:albert",
    "hf:bart",
    "hf:clip_text_model",
    "hf:deit",
    "hf:electra",
    "hf:gpt_bigcode",
    "hf:gptj",
    "hf:m2m_100",
    "timm:test_byobnet",
    "timm:test_efficientnet",
    "timm:test_resnet",
    "timm:test_vit_relpos",
]


@pytest.mark.filterwarnings("ignore")  # of these libraries, about themselves
@pytest.mark.parametrize("spec", MODELS)
def test_values_and_gradients(spec):
    library = LIBRARIES[spec.partition(":")[0]]
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed: pip install torchvision timm transformers")
    from .zoo import compared

    values, gradients = compared(spec)
    assert values < 1e-12 and gradients < 1e-9
