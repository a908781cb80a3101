"""Models of torchvision, timm and transformers with random weights, and the inputs of one call.

`tv:NAME` is a model of torchvision, `timm:NAME` one of timm, as the libraries name them, and
`hf:NAME` a small configuration of transformers.
"""

import dataclasses
import inspect
import warnings

import jax
import numpy as np
import torch

from .torchvision_operators import DECLARED as DECLARED  # before anything imports torchvision


BATCH = 2
PIXELS = 96  # the side of pictures, for models that take any

# What a configuration of transformers is given, where it has the name.
SMALL = {
    **dict.fromkeys(("hidden_size", "d_model", "n_embd", "dim", "embedding_size"), 32),
    **dict.fromkeys(("num_hidden_layers", "n_layer", "n_layers", "num_layers"), 2),
    **dict.fromkeys(("encoder_layers", "decoder_layers", "num_decoder_layers"), 2),
    **dict.fromkeys(("num_attention_heads", "n_head", "n_heads", "num_heads"), 4),
    **dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads"), 4),
    **dict.fromkeys(("intermediate_size", "n_inner", "d_ff", "ffn_dim", "hidden_dim"), 48),
    **dict.fromkeys(("encoder_ffn_dim", "decoder_ffn_dim"), 48),
    **dict.fromkeys(("max_position_embeddings", "n_positions"), 64),
    **dict.fromkeys(("num_experts", "num_local_experts", "n_routed_experts"), 4),
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 16,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "d_kv": 8,
    "rotary_dim": 4,
    "vocab_size": 99,
    "image_size": 32,
    "patch_size": 8,
    "state_size": 8,
    "conv_kernel": 4,
    "expand": 2,
    "sliding_window": 8,
    "use_cache": False,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "attn_implementation": "sdpa",
}


@dataclasses.dataclass
class Case:
    """A model in double precision and evaluation mode, and what it is called with."""

    module: torch.nn.Module
    leaves: list[torch.Tensor]  # of the arguments, with the batch first
    structure: object

    def call(self, module, leaves):
        """What the module, or a function like it, returns for other leaves."""
        args, kwargs = jax.tree.unflatten(self.structure, leaves)
        return module(*args, **kwargs)

    @property
    def parameters(self):
        """The trained parameters by the first of their names."""
        return {name: p for name, p in self.module.named_parameters() if p.requires_grad}

    def arrays(self):
        """The leaves for JAX."""
        return [np.asarray(x) for x in self.leaves]


def build(spec):
    """The case of a model such as `timm:test_resnet`."""
    kind, _, name = spec.partition(":")
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module, inputs = {"tv": _torchvision, "timm": _timm, "hf": _transformers}[kind](name)
    for p in module.parameters():
        if p.ndim > 1 and not p.any():  # as some heads begin: no gradient would pass
            torch.nn.init.normal_(p, std=0.02)
    double = lambda x: x.double() if x.is_floating_point() else x
    leaves, structure = jax.tree.flatten(inputs)
    return Case(module.double().eval(), list(map(double, leaves)), structure)


def _torchvision(name):
    from torchvision import models

    builder = models.get_model_builder(name)
    options = {"init_weights": False} if name in ("googlenet", "inception_v3") else {}
    if "weights_backbone" in inspect.signature(builder).parameters:
        options["weights_backbone"] = None
    model = models.get_model(name, weights=None, **options)
    if name == "raft_small":
        pictures = torch.randn(2, BATCH, 3, 128, 128)
        return model, ((pictures[0], pictures[1]), {})
    if name in ("r3d_18", "s3d"):
        frames, size = (16, 224) if name == "s3d" else (4, 64)
        return model, ((torch.randn(BATCH, 3, frames, size, size),), {})
    size = {"maxvit_t": 224, "inception_v3": 299}.get(name, PIXELS)
    return model, ((torch.randn(BATCH, 3, size, size),), {})


def _timm(name):
    import timm

    model = timm.create_model(name, pretrained=False)
    known = model.default_cfg
    channels, *sizes = known["input_size"]
    if not known.get("fixed_input_size"):
        sizes = [min(size, PIXELS) for size in sizes]
    return model, ((torch.randn(BATCH, channels, *sizes),), {})


def _transformers(name):
    import transformers

    known = transformers.CONFIG_MAPPING[name]
    given = {key: value for key, value in SMALL.items() if hasattr(known(), key)}
    try:
        config = known(**given)
    except Exception:  # some take no size of heads that is not the quotient
        given.pop("head_dim", None)
        config = known(**given)
    config.use_cache, config.return_dict = False, True
    if hasattr(config, "num_experts") or hasattr(config, "num_local_experts"):
        config._experts_implementation = "batched_mm"  # PyTorch's grouped_mm takes no doubles
    model = transformers.AutoModel.from_config(config)
    if model.main_input_name == "pixel_values":
        size = config.image_size if isinstance(getattr(config, "image_size", None), int) else 32
        channels = getattr(config, "num_channels", 3)
        return model, ((), {"pixel_values": torch.randn(BATCH, channels, size, size)})
    inputs = {"input_ids": torch.randint(3, 90, (BATCH, 16))}
    if config.is_encoder_decoder:
        inputs["decoder_input_ids"] = torch.randint(3, 90, (BATCH, 10))
    return model, ((), inputs)


def forget(module):
    """Empties what parts keep of a call in dicts: tensors, with the graph that they come from."""
    for part in module.modules():
        for name, kept in vars(part).items():
            tensors = isinstance(kept, dict) and not name.startswith("_")
            if tensors and all(isinstance(x, torch.Tensor) for x in kept.values()):
                kept.clear()


def for_training(case):
    """The case in training mode, without what draws numbers: they differ by design."""
    for part in case.module.modules():
        for name, value in list(vars(part).items()):
            if isinstance(value, float) and ("drop" in name or isinstance(part, _drops())):
                setattr(part, name, 0.0)
            elif name == "mix_token":  # VOLO mixes pictures in places that it draws
                part.mix_token = False
    case.module.train()
    return case


def _drops():
    """Modules whose probability has a name that does not say so."""
    found = [torch.nn.modules.dropout._DropoutNd]
    try:
        from torchvision.ops import StochasticDepth
    except ImportError:
        return tuple(found)
    return (*found, StochasticDepth)
