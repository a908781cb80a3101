"""Public models with random weights, imported: values and gradients against PyTorch in double.

`python -m tests.interop.zoo hf:albert timm:test_resnet tv:squeezenet1_0` compares these, and says
for each how far it is from PyTorch.

It needs torchvision, timm or transformers: `tv:NAME` is a model of torchvision, `timm:NAME` of
timm, `hf:NAME` a small configuration of transformers.
"""

import sys
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import torch

import functx
from functx.interop import from_torch


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
    "num_key_value_heads": 2,
    "head_dim": 8,
    "d_kv": 8,
    "rotary_dim": 4,
    "vocab_size": 99,
    "image_size": 32,
    "patch_size": 8,
    "use_cache": False,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "attn_implementation": "sdpa",
}


def of_torchvision(name):
    import torchvision

    return torchvision.models.get_model(name, weights=None), (torch.randn(2, 3, 96, 96),), {}


def of_timm(name):
    import timm

    model = timm.create_model(name, pretrained=False)
    return model, (torch.randn(2, *model.default_cfg["input_size"]),), {}


def of_transformers(name):
    import transformers

    known = transformers.CONFIG_MAPPING[name]
    config = known(**{k: v for k, v in SMALL.items() if hasattr(known(), k)})
    config.use_cache, config.return_dict = False, True
    model = transformers.AutoModel.from_config(config)
    if model.main_input_name == "pixel_values":
        size = (2, getattr(config, "num_channels", 3), config.image_size, config.image_size)
        return model, (), {"pixel_values": torch.randn(size)}
    inputs = {"input_ids": torch.randint(3, 90, (2, 16))}
    if config.is_encoder_decoder:
        inputs["decoder_input_ids"] = torch.randint(3, 90, (2, 10))
    return model, (), inputs


def build(spec):
    """A model in evaluation mode and double precision, and the arguments of one call."""
    kind, _, name = spec.partition(":")
    torch.manual_seed(0)
    make = {"tv": of_torchvision, "timm": of_timm, "hf": of_transformers}[kind]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model, args, kwargs = make(name)
    double = lambda x: x.double() if x.is_floating_point() else x
    kwargs = {key: double(x) for key, x in kwargs.items()}
    return model.double().eval(), tuple(map(double, args)), kwargs


def inexact(tree):
    """The inexact tensors of a result, with dicts in the order of their keys, as in JAX."""
    if isinstance(tree, torch.Tensor):
        return [tree] if tree.is_floating_point() else []
    if hasattr(tree, "keys"):
        return [x for key in sorted(tree.keys()) for x in inexact(tree[key])]
    return [x for each in tree for x in inexact(each)] if isinstance(tree, (list, tuple)) else []


def compared(spec):
    """The relative errors of values and of gradients of all parameters, each the greatest."""
    module, args, kwargs = build(spec)
    want = inexact(module(*args, **kwargs))
    weights = [torch.randn_like(x) for x in want]
    named = {name: p for name, p in module.named_parameters() if p.requires_grad}
    loss = sum((x * w).sum() for x, w in zip(want, weights, strict=True))
    slopes = torch.autograd.grad(loss, list(named.values()), allow_unused=True)
    model = from_torch(module)
    array = lambda x: jnp.asarray(x.detach().numpy())
    given, others = [array(x) for x in args], {key: array(x) for key, x in kwargs.items()}

    def weighted(params):
        out = jax.tree.leaves(model(params, *given, **others))
        out = [x for x in out if jnp.issubdtype(x.dtype, jnp.inexact)]
        pairs = zip(out, weights, strict=True)
        return sum(jnp.sum(x * array(w)) for x, w in pairs), out

    got_slopes, got = functx.jit(functx.grad(weighted, has_aux=True))(model.params)
    values = max(error(a, array(b)) for a, b in zip(got, want, strict=True))
    greatest = max(float(g.abs().max()) for g in slopes if g is not None)
    zero = lambda name: jnp.zeros(named[name].shape)
    pairs = {n: zero(n) if g is None else array(g) for n, g in zip(named, slopes, strict=True)}
    gradients = max(error(got_slopes[n], g, 1e-6 * greatest) for n, g in pairs.items())
    return values, gradients


def error(got, want, least=1e-300):
    return float(np.abs(got - want).max() / (np.abs(want).max() + least))


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)
    for given_spec in sys.argv[1:]:
        errors = compared(given_spec)
        print("{}: values {:.1e}, gradients {:.1e}".format(given_spec, *errors), flush=True)
