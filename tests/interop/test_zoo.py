"""Public models, where their libraries are there: `python -m tests.interop.zoo` tries others."""

import contextlib
import importlib.util

import jax
import pytest


torch = pytest.importorskip("torch", reason="models are imported from an installed PyTorch")

from .zoo import checks, graphs  # noqa: E402
from .zoo.building import BATCH, Case  # noqa: E402
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


class Small(torch.nn.Module):
    """A model in double, for any batch or for one."""

    def __init__(self, batch=None):
        super().__init__()
        layers = [layer for _ in range(4) for layer in (torch.nn.Linear(3, 3), torch.nn.GELU())]
        self.layers = torch.nn.Sequential(*layers).double()
        self.batch = batch

    def forward(self, x):
        if self.batch is not None and x.shape[0] not in (BATCH, self.batch):
            raise ValueError("another batch")
        return {"y": self.layers(x), "count": x.shape[1]}


@pytest.mark.filterwarnings("ignore")  # of torch.export, about itself
@pytest.mark.parametrize("batch", [None, 3])
def test_graphs_of_a_small_model(batch, monkeypatch):
    pytest.importorskip("flatbuffers", reason="jax.export writes files with flatbuffers")
    x = torch.linspace(-1, 1, BATCH * 3, dtype=torch.float64).reshape(BATCH, 3)
    leaves, structure = jax.tree.flatten(((x,), {}))
    monkeypatch.setattr(graphs, "build", lambda spec: Case(Small(batch), leaves, structure))
    report = graphs.graphs("small")
    saved = ["saved values", "saved gradients"] if batch is None else []
    assert list(report["errors"]) == ["partition", "budget", *saved]
    assert max(report["errors"].values()) < 1e-12 and report["nodes"] > 0
    assert ("one batch" in report) is (batch is not None)


class Unit(torch.nn.Module):
    """The sum of a unit vector; of a vector of zeros PyTorch has NaN for the second derivative."""

    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(3, dtype=torch.float64))

    def forward(self, x):
        return torch.nn.functional.normalize(self.scale * x, dim=-1)


@pytest.mark.filterwarnings("ignore")  # of torch.export, about itself
@pytest.mark.parametrize(
    "size, refused", [(1.0, ""), (0.0, "its result is not finite")], ids=["finite", "not finite"]
)
def test_hessian_of_a_small_model(size, refused, monkeypatch):
    x = size * torch.arange(1, 4, dtype=torch.float64).expand(BATCH, 3)
    leaves, structure = jax.tree.flatten(((x,), {}))
    monkeypatch.setattr(checks, "build", lambda spec: Case(Unit(), leaves, structure))
    report = checks.hessian("unit")
    ways = ["forward over reverse", "reverse over reverse"][bool(refused) :]
    assert list(report["errors"]) == ways and report["double backward"] == refused
    assert max(report["errors"].values()) < 1e-12


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
