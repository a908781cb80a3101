"""PyTorch's operators that an imported program cannot have, by rules, with what to do instead.

A rule looks at a name and at what the schema says; the first that holds is the answer.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class AtenSchema(NamedTuple):
    """What PyTorch declares of one of its operators, as far as it matters here."""

    name: str  # without namespace and overload: "add"
    overload: str  # "Tensor", or "" for the default one
    arguments: tuple[tuple[str, str], ...]  # names and types
    returns: tuple[str, ...]  # types
    mutable: bool  # whether it writes into an argument


class LeftOut(NamedTuple):
    """A family of operators, and what to do where one of them appears."""

    family: str
    pattern: str  # of names, in full
    remedy: str


_BY_NAME = [
    LeftOut(
        "derivatives",
        r".*_backward(_.*)?|.*_jvp|_?grad|.*_backward|_.*_grad|_(un)?pack_dual|_make_dual.*|_fw_.*|"
        r"_grad_sum_to_size|_scaled_dot_product_.*_backward|get_gradients|_new_zeros_with_same_.*",
        "import the forward pass alone and differentiate it with functx.grad",
    ),
    LeftOut(
        "quantised arithmetic",
        r".*quant.*|q_.*|.*qparams.*|fbgemm_.*|.*_int4pack.*|_weight_int.*|qscheme|int_repr|"
        r"_wrapped_.*linear_prepack|_saturate_weight_to_fp16|_mixed_dtypes_linear|_dyn_quant.*|"
        r"_scaled_(grouped_)?mm.*|_int_mm|wrapped_.*|_fused_moving_avg_obs_.*|_empty_affine.*|_empty_per_channel.*",
        "import the model before it is quantised",
    ),
    LeftOut(
        "sparse tensors",
        r".*sparse.*|.*_cs[rc]_.*|.*_bs[rc]_.*|to_(cs|bs)[rc]|_?(crow|ccol|row|col)?_?indices(_copy)?|"
        r"_?values(_copy)?|_?coalesce|_?is_coalesced|_nnz|_dim[IV]|dense_dim|smm|sspaddmm|hspmm|"
        r"_spdiags|_spsolve|_to_dense|to_dense|_cslt.*|_rowwise_prune|_validate_.*|"
        r"c(row|col)_indices_copy|(row|col)_indices_copy|_coalesced|_convert_indices_.*",
        "use dense weights, or functx.sparse by hand",
    ),
    LeftOut(
        "nested tensors",
        r".*nested.*|.*jagged.*|to_padded_tensor|_ncf_.*",
        "give padded batches, or map the model of one sequence with functx.nested",
    ),
    LeftOut(
        "kernels of one backend",
        r".*cudnn.*|.*miopen.*|.*mkldnn.*|.*_mps.*|.*onednn.*|.*_cuda.*|_cufft.*|_use_.*|"
        r"_nnpack.*|_triton.*|.*_xla_.*|_philox.*|_thnn_fused.*|_flash_attention_.*|"
        r"_efficient_attention_.*|_fill_mem_eff.*|_varlen.*|convolution_overrideable|"
        r"batch_norm_(elemt|stats|gather_stats.*|update_stats)|_fused_sdp_choice|_mkl_.*|mkl_.*|"
        r"_native_multi_head_attention|_transformer_encoder_layer_fwd|_transform_bias_rescale_qkv",
        "export the model on the CPU, where PyTorch writes the operator that these stand for",
    ),
    LeftOut(
        "optimizers",
        r"_foreach_.*|_fused_(ada.*|sgd.*|muon.*)|_amp_.*|_multi_tensor.*|_sobol_.*",
        "use Optax on the parameters; functx.amp scales losses",
    ),
    LeftOut(
        "tests of PyTorch's own",
        r"_test_.*|_foobar|_debug_.*|hash_tensor|_print|warn",
        "none is needed",
    ),
    LeftOut(
        "storage and bookkeeping of tensors",
        r"is_contiguous|storage_offset|get_device|is_inference|is_signed|is_neg|is_conj|is_leaf|"
        r"is_distributed|retains_grad|_version|output_nr|is_pinned|_?pin_memory|is_set_to|set|"
        r"_?resize(_output)?|_has_.*|is_same_size|element_size|_is_zerotensor|_efficientzerotensor|"
        r"is_non_overlapping_and_dense|is_strides_like_format|_copy_from.*|_propagate_.*|stride|"
        r"_lazy_clone|from_file|_pin_memory|slice_inverse|result_type|can_cast|is_nonzero|requires_grad|"
        r"data|_cast_to.*|layout|device|_(add|remove)_batch_dim|_to_cpu|(un)?flatten_dense_tensors|"
        r"_reshape_copy|cuda|_shape_as_tensor|_reshape_from_tensor|_tensor_to_list|_list_to_tensor|"
        r"equal_storage|__getstate__|_is_.*view.*|"
        r"sym_is_contiguous|sym_storage_offset",
        "they have no meaning for arrays; move them out of forward",
    ),
    LeftOut(
        "packed sequences",
        r"_pack_(padded_)?sequence|_pad_packed_sequence|pad_sequence",
        "run padded batches, or map the model of one sequence with functx.nested",
    ),
    LeftOut(
        "what functx has no counterpart of",
        r"_upsample_lanczos2d_aa|chalf|_histogramdd_.*|_autocast_to_.*",
        "register a function for it: functx.interop.register",
    ),
    LeftOut(
        "TorchScript's own functions",
        r"(as_)?tensor|sorted|_no_grad_embedding_renorm_|__upsample.*|__interpolate",
        "export the model with torch.export, which writes what they do",
    ),
    LeftOut(
        "distributed programs",
        r"confirmed_by_owner|.*owner.*|rpc_.*|wait|to_here|local_value",
        "shard the imported function: docs/how-to/shard_over_devices.md",
    ),
]
_PYTHON = LeftOut(
    "TorchScript's arithmetic on Python values",
    "",
    "export the model with torch.export, which computes with Python's own numbers",
)
_QUANTISED = _BY_NAME[1]
_WRITES = LeftOut(
    "writes into their arguments",
    "",
    "give the module itself, or run exported_program.run_decompositions({}), which makes them pure",
)
_OUT = LeftOut("variants with out=", "", "call the operator without out=")


def left_out(schema: AtenSchema) -> LeftOut | None:
    """The family of operators that are left out to which this one belongs, if any."""
    if (
        any(
            name == "out" or name.startswith("out") and schema.overload.endswith("out")
            for name, _ in schema.arguments
        )
        and schema.mutable
    ):
        return _OUT
    if (family := family_of_name(schema.name)) is not None:
        return family
    if schema.mutable:
        return _WRITES
    if schema.overload == "quantized":
        return _QUANTISED
    if schema.overload.endswith(("hacked_twin", "sublist")) or not _on_tensors(schema):
        return _PYTHON
    return None


def family_of_name(name: str) -> LeftOut | None:
    """The family to which an operator belongs by its name alone, if any."""
    return next((each for each in _BY_NAME if re.fullmatch(each.pattern, name)), None)


def _on_tensors(schema: AtenSchema) -> bool:
    """Whether a schema takes or makes tensors, and has no type that only TorchScript has."""
    types = [kind for _, kind in schema.arguments] + list(schema.returns)
    if any(re.search(r"\bt\b|Dict|Future|RRef|Any|Enum|\bstr\[\]", kind) for kind in types):
        return False
    if all("Tensor" not in kind for kind in schema.returns):
        return False
    makes = {"dtype", "layout", "device", "size", "generator"}
    takes = any("Tensor" in kind for _, kind in schema.arguments)
    return takes or any(name in makes for name, _ in schema.arguments)
