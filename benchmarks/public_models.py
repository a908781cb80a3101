"""Public PyTorch models with random weights, a U-Net and an LSTM, and the inputs of one call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch  # noqa: TID251  compared with, never used by functx
from torch import nn  # noqa: TID251

from tests.interop.zoo.torchvision_operators import DECLARED as DECLARED  # before torchvision


BATCH, PIXELS, TOKENS, WIDTH, LAYERS, WORDS = 4, 96, 128, 256, 4, 1000


class Model(NamedTuple):
    """A name, what builds the module and its inputs, whether training steps are timed too, and
    whether these draw random numbers, which are not PyTorch's.
    """

    name: str
    build: Callable[[], tuple[nn.Module, tuple[Any, ...]]]
    trained: bool = False
    drawing: bool = False


class UNet(nn.Module):
    """Three levels of two convolutions with batch norm, the halves joined by concatenation."""

    def __init__(self, widths: tuple[int, ...] = (16, 32, 64)):
        super().__init__()
        self.down = nn.ModuleList(map(_twice, (3, *widths), widths))
        self.middle = _twice(widths[-1], 2 * widths[-1])
        wider = [2 * width for width in widths]
        self.up = nn.ModuleList(nn.ConvTranspose2d(2 * w, w, 2, 2) for w in widths)
        self.joined = nn.ModuleList(map(_twice, wider, widths))
        self.out = nn.Conv2d(widths[0], 2, 1)

    def forward(self, x: Any) -> Any:
        """Two numbers for each pixel."""
        seen = []
        for layers in self.down:
            x = layers(x)
            seen.append(x)
            x = nn.functional.max_pool2d(x, 2)
        x = self.middle(x)
        for up, joined, skip in zip(
            reversed(self.up), reversed(self.joined), reversed(seen), strict=True
        ):
            x = joined(torch.cat([up(x), skip], 1))
        return self.out(x)


def _twice(channels: int, filters: int) -> nn.Sequential:
    layer = lambda n: [nn.Conv2d(n, filters, 3, padding=1), nn.BatchNorm2d(filters), nn.ReLU()]
    return nn.Sequential(*layer(channels), *layer(filters))


class Recurrent(nn.Module):
    """A table of words, two layers of LSTM, and a score for each word."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(WORDS, WIDTH)
        self.layers = nn.LSTM(WIDTH, WIDTH, 2, batch_first=True)
        self.scores = nn.Linear(WIDTH, WORDS)

    def forward(self, ids: Any) -> Any:
        """The scores of the next word at each place."""
        return self.scores(self.layers(self.table(ids))[0])


def _torchvision(name: str) -> Callable[[], tuple[nn.Module, tuple[Any, ...]]]:
    def build() -> tuple[nn.Module, tuple[Any, ...]]:
        import torchvision

        return torchvision.models.get_model(name, weights=None), (_pictures(),)

    return build


def _timm(name: str, **options: Any) -> Callable[[], tuple[nn.Module, tuple[Any, ...]]]:
    def build() -> tuple[nn.Module, tuple[Any, ...]]:
        import timm

        return timm.create_model(name, pretrained=False, **options), (_pictures(),)

    return build


def _transformers(name: str, **options: Any) -> Callable[[], tuple[nn.Module, tuple[Any, ...]]]:
    def build() -> tuple[nn.Module, tuple[Any, ...]]:
        import transformers

        # PyTorch's fused attention on a CPU has no batching rule.
        config = transformers.CONFIG_MAPPING[name](
            vocab_size=WORDS, attn_implementation="eager", **options
        )
        config.use_cache = False
        config.return_dict = False
        return transformers.AutoModel.from_config(config), (_words(),)

    return build


def _pictures() -> torch.Tensor:
    return torch.randn(BATCH, 3, PIXELS, PIXELS)


def _words() -> torch.Tensor:
    return torch.randint(0, WORDS, (BATCH, TOKENS))


_ENCODER = {"hidden_size": WIDTH, "num_hidden_layers": LAYERS, "num_attention_heads": 4}
MODELS = (
    Model("ResNet-18", _torchvision("resnet18"), trained=True),
    Model("MobileNetV3 small", _torchvision("mobilenet_v3_small"), trained=True, drawing=True),
    Model("EfficientNet-B0", _torchvision("efficientnet_b0")),
    Model("DeiT tiny", _timm("deit_tiny_patch16_224", img_size=PIXELS)),
    Model("ConvNeXt atto", _timm("convnext_atto")),
    Model("U-Net", lambda: (UNet(), (_pictures(),))),
    Model("LSTM", lambda: (Recurrent(), (_words(),))),
    Model(
        "BERT",
        _transformers("bert", intermediate_size=4 * WIDTH, **_ENCODER),
        trained=True,
        drawing=True,
    ),
    Model("GPT-2", _transformers("gpt2", n_embd=WIDTH, n_layer=LAYERS, n_head=4)),
    Model("Llama", _transformers("llama", intermediate_size=3 * WIDTH, **_ENCODER)),
)


def built(model: Model) -> tuple[nn.Module, tuple[Any, ...]]:
    """The module in evaluation mode, and its inputs: the same whenever it is built."""
    torch.manual_seed(0)
    module, inputs = model.build()
    return module.eval(), inputs
