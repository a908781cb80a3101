"""Public models, where their libraries are there: `python -m tests.interop.zoo` tries others."""

import contextlib
import importlib.util

import pytest


torch = pytest.importorskip("torch", reason="models are imported from an installed PyTorch")

from .zoo.running import Journal, judged, Outcome  # noqa: E402


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
        pytest.skip(f"{library} is not installed: pip install '.[models]' brings it")
    from .zoo.checks import values

    errors = values(spec)["errors"]
    assert errors["values"] < 1e-12 and errors["gradients"] < 1e-9


@pytest.mark.parametrize(
    "outcome, errors",
    [
        ("agrees", {"values": 1e-15, "gradients": 1e-10}),
        ("differs", {"values": 1e-15, "gradients": 1e-8}),
        ("differs", {"values": float("nan"), "gradients": 0.0}),
        ("in float32", {"values": 1e-7, "values in double": 1e-15}),
        ("differs", {"values": 1e-7, "values in double": 1e-7}),
        ("differs", {}),
    ],
)
def test_errors_are_judged(outcome, errors):
    assert judged(errors) == outcome


def test_a_run_goes_on_where_it_stopped(tmp_path):
    path = tmp_path / "models.jsonl"
    with contextlib.closing(Journal(path)) as journal:
        journal.add(Outcome("hf:albert", "values", "agrees", 1.0, 0.5, {"values": 1e-16}))
        journal.add(Outcome("hf:bart", "values", "time", 600.0, 0.5))
    with path.open("a") as file:
        file.write('{"model": "hf:bloom", "che')  # the run was killed
    with contextlib.closing(Journal(path)) as again:
        pass
    assert [each.model for each in again.outcomes] == ["hf:albert", "hf:bart"]
    assert again.has("hf:albert", "values") and not again.has("hf:albert", "training")
    assert not again.has("hf:bart", "values")
