"""What ATen has under another name or another signature than the catalog, each with the reason.

A key is a name, for all overloads, or a name with an overload. All else in ATen is found by what
the catalog declares.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from . import (
    attending,
    branching,
    convolutions,
    copying,
    drawing,
    looking_up,
    multiplying,
    normalizing,
    picking,
    resampling,
)


@dataclasses.dataclass(frozen=True)
class OtherName:
    """What stands for an operator of PyTorch's: a function of ATen's arguments, or an operator."""

    reason: str
    function: Callable[..., Any] | None = None  # takes ATen's names; `self` is `input`
    operator: str = ""  # of the catalog
    names: Mapping[str, str] = dataclasses.field(default_factory=dict)  # of its parameters


def _by(function: Callable[..., Any], reason: str) -> OtherName:
    return OtherName(reason, function)


def _named(operator: str, reason: str, **names: str) -> OtherName:
    return OtherName(reason, None, operator, names)


_DTYPES = "PyTorch's casts are one method, of which the dtype is an option"
_NO_COPY = "arrays are immutable, so that no copy is needed"
_LAZY = "a bit of a tensor says it; arrays have none"
_FACTS = "a fact of the array"
_CHECKED = "it was checked when the model was exported"
_UNSAFE = "the same without a check, or without the promise of a view"
_STATISTICS = "returns what PyTorch's backward kernel needs beside the result"
_NUMBERS = "modes are numbers in ATen, names in Python"
_PLACES = "returns positions too"
_OLDER = "an older option"
_INTERNAL = "the kernel beneath the operator of that name"
_RANKS = "one operator for several ranks"
_OTHER_NAME = "named otherwise in Python"
_PYTHON_OPERATOR = "the method of a Python operator"
_FILLED = "is filled later; its strides are XLA's"
_DRAWS = "draws into the shape of a tensor"
_MODULE = "in torch.nn.functional with other names of arguments"

_CASTS = {
    "Byte": "uint8",
    "Char": "int8",
    "Double": "float64",
    "Float": "float32",
    "Half": "float16",
    "Int": "int32",
    "Long": "int64",
    "Short": "int16",
}

OTHER_NAMES: dict[str, OtherName] = {
    # Casts, copies and sizes
    "_to_copy": _by(copying.cast, _DTYPES),
    "to": _by(copying.cast, _DTYPES),
    "to.other": _by(copying.cast_as, _DTYPES),
    "type_as": _by(copying.cast_as, _DTYPES),
    **{f"_cast_{name}": _by(copying.Caster(dtype), _DTYPES) for name, dtype in _CASTS.items()},
    "clone": _by(copying.same, _NO_COPY),
    "contiguous": _by(copying.same, _NO_COPY),
    "alias": _by(copying.same, _NO_COPY),
    "cpu": _by(copying.same, "arrays stay where they are"),
    "lift": _by(copying.same, _NO_COPY),
    "lift_fresh": _by(copying.same, _NO_COPY),
    "lift_fresh_copy": _by(copying.same, _NO_COPY),
    "detach": _by(copying.cut, "no operator, but a grad mode here"),
    "detach_copy": _by(copying.cut, "no operator, but a grad mode here"),
    "copy": _by(copying.copied, "what copy_ becomes without writing"),
    "_unsafe_view": _by(copying.reshaped, _UNSAFE),
    "_reshape_alias": _by(copying.reshaped, _UNSAFE),
    "_reshape_alias_copy": _by(copying.reshaped, _UNSAFE),
    "resize_as": _by(copying.sized_as, "what resize_as_ becomes without writing"),
    "_conj": _by(copying.conjugated, _LAZY),
    "_conj_copy": _by(copying.conjugated, _LAZY),
    "_conj_physical": _by(copying.conjugated, _LAZY),
    "_neg_view": _by(copying.negated, _LAZY),
    "_neg_view_copy": _by(copying.negated, _LAZY),
    "resolve_conj": _by(copying.same, _LAZY),
    "resolve_neg": _by(copying.same, _LAZY),
    "numpy_T": _by(copying.reversed_dims, "the attribute T"),
    "matrix_H": _by(copying.matrix_adjoint, "the attribute H"),
    "size": _by(copying.size, _FACTS),
    "sym_size": _by(copying.size, _FACTS),
    "sym_stride": _by(copying.stride, _FACTS),
    "numel": _by(copying.elements, _FACTS),
    "sym_numel": _by(copying.elements, _FACTS),
    "dim": _by(copying.rank, _FACTS),
    "is_floating_point": _by(copying.is_floating, _FACTS),
    "is_complex": _by(copying.is_complex, _FACTS),
    "item": _by(copying.scalar, "a Python number where values are known"),
    "_local_scalar_dense": _by(copying.scalar, "a Python number where values are known"),
    "_assert_tensor_metadata": _by(copying.nothing, _CHECKED),
    "_assert_scalar": _by(copying.nothing, _CHECKED),
    "_assert_async": _by(copying.nothing, _CHECKED),
    "_functional_assert_async": _by(copying.nothing, _CHECKED),
    "_functional_assert_scalar": _by(copying.nothing, _CHECKED),
    "_functional_sym_constrain_range": _by(copying.nothing, _CHECKED),
    "_functional_sym_constrain_range_for_size": _by(copying.nothing, _CHECKED),
    "sym_constrain_range": _by(copying.nothing, _CHECKED),
    "sym_constrain_range_for_size": _by(copying.nothing, _CHECKED),
    "_linalg_check_errors": _by(copying.nothing, "functx.linalg checks where values are known"),
    "_make_dep_token": _by(copying.nothing, "orders statements that change nothing here"),
    # Creation
    "empty_strided": _by(copying.with_sizes, _FILLED),
    "empty_permuted": _by(copying.with_sizes, _FILLED),
    "new_empty_strided": _by(copying.new_with_sizes, _FILLED),
    "arange": _by(copying.arange_of, "the end is the only number of one overload"),
    "range": _by(copying.closed_range, "the older arange, whose end belongs to it"),
    "_dim_arange": _by(copying.positions, _INTERNAL),
    "zero": _by(copying.zeros_as, "what zero_ becomes without writing"),
    # Indexing, splitting, joining
    "index": _by(picking.index, "written x[...] in Python"),
    "_unsafe_index": _by(picking.index, _UNSAFE),
    "index_put": _by(picking.index_put, "a list of indices, in which None is a whole dimension"),
    "_unsafe_index_put": _by(picking.index_put, _UNSAFE),
    "_index_put_impl": _by(picking.index_put, _UNSAFE),
    "_unsafe_masked_index": _by(picking.masked_index, "an index under a mask"),
    "_unsafe_masked_index_put_accumulate": _by(picking.masked_index_put, "its transpose"),
    "split": _by(picking.split, "one size or several have one name in Python"),
    "split.": _by(picking.split_with_sizes, "one size or several have one name in Python"),
    "slice.Tensor": _by(picking.sliced, "an end may be a symbolic size"),
    "slice_copy": _by(picking.sliced, "an end may be a symbolic size"),
    "narrow.": _by(picking.narrowed, "a length may be a symbolic size"),
    "split_copy": _by(picking.split, "one size or several have one name in Python"),
    "unsafe_split": _by(picking.split, _UNSAFE),
    "unsafe_split_with_sizes": _by(picking.split_with_sizes, _UNSAFE),
    "unsafe_chunk": _named("chunk", _UNSAFE),
    "_chunk_cat": _by(picking.chunk_and_cat, "a split and a join for communication"),
    "_stack": _named("stack", _INTERNAL),
    "_unique": _by(picking.unique, "counts are another operator's"),
    "_unique2": _by(picking.unique, "always three results"),
    "unique_dim": _by(picking.unique_rows, "always three results"),
    "unique_consecutive": _by(picking.unique_runs, "always three results"),
    "unique_dim_consecutive": _by(picking.unique_runs_of_rows, "always three results"),
    "_aminmax": _by(picking.least_and_greatest, _INTERNAL),
    "nonzero_numpy": _by(picking.where_nonzero, "the option as_tuple"),
    "__and__": _named("bitwise_and", _PYTHON_OPERATOR),
    "__or__": _named("bitwise_or", _PYTHON_OPERATOR),
    "__xor__": _named("bitwise_xor", _PYTHON_OPERATOR),
    "__lshift__": _named("bitwise_left_shift", _PYTHON_OPERATOR),
    "__rshift__": _named("bitwise_right_shift", _PYTHON_OPERATOR),
    "_is_all_true": _named("all", _INTERNAL),
    "_is_any_true": _named("any", _INTERNAL),
    "_logcumsumexp": _named("logcumsumexp", _INTERNAL),
    "atleast_1d": _named("atleast_1d", "one tensor or several", self="tensors"),
    "atleast_2d": _named("atleast_2d", "one tensor or several", self="tensors"),
    "atleast_3d": _named("atleast_3d", "one tensor or several", self="tensors"),
    "one_hot": _named("nn.functional.one_hot", _MODULE, self="tensor"),
    # Convolutions
    "convolution": _by(convolutions.convolution, _RANKS),
    "_convolution": _by(convolutions.convolution, _RANKS),
    "_convolution_mode": _by(convolutions.convolution_by_name, _RANKS),
    "thnn_conv2d": _by(convolutions.with_kernel_size, _INTERNAL),
    "_slow_conv2d_forward": _by(convolutions.with_kernel_size, _INTERNAL),
    "slow_conv3d": _by(convolutions.with_kernel_size, _INTERNAL),
    "slow_conv3d_forward": _by(convolutions.with_kernel_size, _INTERNAL),
    "slow_conv_dilated2d": _by(convolutions.with_kernel_size, _INTERNAL),
    "slow_conv_dilated3d": _by(convolutions.with_kernel_size, _INTERNAL),
    "slow_conv_transpose2d": _by(convolutions.transposed_with_kernel_size, _INTERNAL),
    "slow_conv_transpose3d": _by(convolutions.transposed_with_kernel_size, _INTERNAL),
    "_conv_depthwise2d": _by(convolutions.depthwise, _INTERNAL),
    "conv_depthwise3d": _by(convolutions.depthwise, _INTERNAL),
    "im2col": _by(convolutions.patches, "unfold of torch.nn.functional"),
    "col2im": _by(convolutions.from_patches, "fold of torch.nn.functional"),
    # Normalization, activation, dropout
    "_native_batch_norm_legit_functional": _by(normalizing.batch_norm_and_stats, _STATISTICS),
    "_native_batch_norm_legit_no_training": _by(normalizing.batch_norm_of_statistics, _STATISTICS),
    "_native_batch_norm_legit.no_stats": _by(
        normalizing.batch_norm_without_statistics, _STATISTICS
    ),
    "_batch_norm_no_update": _by(normalizing.batch_norm_of_statistics, _STATISTICS),
    "_batch_norm_with_update_functional": _by(normalizing.batch_norm_with_update, _STATISTICS),
    "_batch_norm_impl_index": _by(normalizing.batch_norm_by_index, _STATISTICS),
    "_fused_rms_norm": _by(normalizing.rms_norm_and_scale, _STATISTICS),
    "_softmax": _by(normalizing.softmax, _INTERNAL),
    "_log_softmax": _by(normalizing.log_softmax, _INTERNAL),
    "_safe_softmax": _by(normalizing.safe_softmax, "zeros where all of a row is -inf"),
    "_masked_softmax": _by(normalizing.masked_softmax, _INTERNAL),
    "_masked_scale": _by(normalizing.masked_scale, "what a kept mask lets pass"),
    "native_dropout": _by(normalizing.dropout_and_mask, "returns the mask too"),
    "_fused_dropout": _by(normalizing.fused_dropout, "returns the mask too"),
    "_weight_norm": _by(normalizing.weight_norm, "a reparametrization of a module"),
    "_weight_norm_interface": _by(normalizing.weight_norm_and_norm, _STATISTICS),
    "norm_except_dim": _by(normalizing.except_dim, "a reparametrization of a module"),
    "elu": _by(normalizing.elu, "SELU and CELU are calls of it"),
    "log_sigmoid": _named("nn.functional.logsigmoid", _OTHER_NAME),
    "log_sigmoid_forward": _by(normalizing.log_sigmoid_and_buffer, _STATISTICS),
    "_prelu_kernel": _named("nn.functional.prelu", _INTERNAL),
    "rrelu_with_noise": _by(normalizing.rrelu_and_noise, _STATISTICS),
    "rrelu_with_noise_functional": _by(normalizing.rrelu_and_noise, _STATISTICS),
    # Padding, pooling, resampling
    **{f"reflection_pad{d}d": _by(resampling.reflected, _MODULE) for d in (1, 2, 3)},
    **{f"replication_pad{d}d": _by(resampling.replicated, _MODULE) for d in (1, 2, 3)},
    "_pad_circular": _by(resampling.circular, _MODULE),
    "_pad_enum": _by(resampling.padded_by_number, _NUMBERS),
    **{
        f"max_pool{d}d_with_indices": _by(resampling.greatest_and_places, _PLACES)
        for d in (1, 2, 3)
    },
    **{f"adaptive_max_pool{d}d": _by(resampling.adaptive_greatest, _PLACES) for d in (1, 2, 3)},
    **{f"_adaptive_avg_pool{d}d": _by(resampling.adaptive_mean, _INTERNAL) for d in (2, 3)},
    **{f"fractional_max_pool{d}d": _by(resampling.fractional, _PLACES) for d in (2, 3)},
    **{f"max_unpool{d}d": _by(resampling.unpooled, "the window is in its size") for d in (2, 3)},
    **{f"upsample_nearest{d}d": _by(resampling.nearest, _RANKS) for d in (1, 2, 3)},
    **{f"_upsample_nearest_exact{d}d": _by(resampling.nearest_exact, _RANKS) for d in (1, 2, 3)},
    "upsample_linear1d": _by(resampling.linear, _RANKS),
    "upsample_bilinear2d": _by(resampling.bilinear, _RANKS),
    "upsample_bicubic2d": _by(resampling.bicubic, _RANKS),
    "upsample_trilinear3d": _by(resampling.trilinear, _RANKS),
    "_upsample_bilinear2d_aa": _by(resampling.bilinear_smooth, _RANKS),
    "_upsample_bicubic2d_aa": _by(resampling.bicubic_smooth, _RANKS),
    "native_channel_shuffle": _named("nn.functional.channel_shuffle", _INTERNAL),
    "_grid_sampler_2d_cpu_fallback": _named("grid_sampler_2d", _INTERNAL),
    # Random draws
    "normal_functional": _by(drawing.normal, _DRAWS),
    "normal.float_float": _by(drawing.normal_of_size, "the size is the third argument"),
    "random": _by(drawing.integers, _DRAWS),
    "_standard_gamma": _by(drawing.gamma, "the catalog has no operator for it"),
    "_sample_dirichlet": _by(drawing.dirichlet, "the catalog has no operator for it"),
    # Attention
    "_scaled_dot_product_attention_math": _by(attending.by_math, _STATISTICS),
    "_scaled_dot_product_flash_attention_for_cpu": _by(attending.for_cpu, _STATISTICS),
    "_scaled_dot_product_flash_attention": _by(attending.flash, _STATISTICS),
    "_scaled_dot_product_efficient_attention": _by(attending.efficient, _STATISTICS),
    "_scaled_dot_product_fused_attention_overrideable": _by(attending.overrideable, _STATISTICS),
    # Products, norms, decompositions
    "einsum": _by(multiplying.einsum, "a list of arrays, and an order of products"),
    "tensordot": _by(multiplying.tensordot, "dimensions are two arguments"),
    "mm.dtype": _by(multiplying.mm_to, "a dtype of the result"),
    "bmm.dtype": _by(multiplying.mm_to, "a dtype of the result"),
    "addmm.dtype": _by(multiplying.addmm_to, "a dtype of the result"),
    "baddbmm.dtype": _by(multiplying.baddbmm_to, "a dtype of the result"),
    "_addmm_activation": _by(multiplying.addmm_activation, "two operators in one"),
    "_add_relu": _by(multiplying.add_relu, "two operators in one"),
    "_trilinear": _by(multiplying.trilinear, "what bilinear is made of"),
    "_grouped_mm": _by(multiplying.grouped_mm, _OTHER_NAME),
    "frobenius_norm": _by(multiplying.frobenius_norm, "an option of norm"),
    "nuclear_norm": _by(multiplying.nuclear_norm, "an option of norm"),
    "native_norm": _by(multiplying.vector_norm, _INTERNAL),
    "linalg__powsum": _by(multiplying.power_sum, _INTERNAL),
    "linalg_matrix_rank.": _by(multiplying.matrix_rank, _OLDER),
    "linalg_matrix_rank.tol_tensor": _by(multiplying.matrix_rank, _OLDER),
    "linalg_tensorsolve": _named("linalg.tensorsolve", _OTHER_NAME, self="A", other="B"),
    "linalg_solve_triangular": _named("linalg.solve_triangular", _OTHER_NAME, self="A", other="B"),
    **{
        f"{function.__name__}.{overload}": _by(function, _OLDER)
        for function in (
            multiplying.var,
            multiplying.std,
            multiplying.var_mean,
            multiplying.std_mean,
        )
        for overload in ("", "dim")
    },
    "cdist": _by(multiplying.distances, _NUMBERS),
    "_cdist_forward": _by(multiplying.distances, _INTERNAL),
    "_euclidean_dist": _by(multiplying.distances, _INTERNAL),
    "_pdist_forward": _by(multiplying.distances_of_rows, _INTERNAL),
    "stft.": _by(multiplying.short_time, "PyTorch pads in Python, and its kernel does not"),
    "_fft_r2c": _by(multiplying.fft_of_real, _NUMBERS),
    "_fft_c2r": _by(multiplying.fft_to_real, _NUMBERS),
    "_fft_c2c": _by(multiplying.fft_of_complex, _NUMBERS),
    "_linalg_svd": _by(multiplying.svd, _STATISTICS),
    "_linalg_eigh": _by(multiplying.eigh, _INTERNAL),
    "_linalg_eigvals": _named("linalg.eigvals", _INTERNAL),
    "_linalg_det": _by(multiplying.det, _STATISTICS),
    "_linalg_slogdet": _by(multiplying.slogdet, _STATISTICS),
    "_linalg_solve_ex": _by(multiplying.solve, _STATISTICS),
    "_lu_with_info": _by(multiplying.lu_and_info, _OTHER_NAME),
    "_cholesky_solve_helper": _by(multiplying.cholesky_solve, _INTERNAL),
    "_compute_linear_combination": _by(multiplying.linear_combination, "of matrix_exp"),
    # Tables and losses
    "embedding": _by(looking_up.embedding, "the table comes first"),
    "embedding_bag": _by(looking_up.embedding_bag, _STATISTICS),
    "embedding_renorm": _by(looking_up.embedding_renorm, "what max_norm does to a table"),
    "_embedding_bag": _by(looking_up.embedding_bag, _STATISTICS),
    "_embedding_bag_forward_only": _by(looking_up.embedding_bag, _STATISTICS),
    "segment_reduce": _by(looking_up.segment_reduce, "indices are of its backward kernel"),
    "nll_loss": _by(looking_up.nll_loss, _NUMBERS),
    "nll_loss2d": _by(looking_up.nll_loss, _RANKS),
    "nll_loss_nd": _by(looking_up.nll_loss, _RANKS),
    "nll_loss_forward": _by(looking_up.nll_loss_and_weight, _STATISTICS),
    "nll_loss2d_forward": _by(looking_up.nll_loss_and_weight, _STATISTICS),
    "cross_entropy_loss": _named("nn.functional.cross_entropy", _OTHER_NAME),
    "multilabel_margin_loss_forward": _by(looking_up.multilabel_margin_loss, _STATISTICS),
    "binary_cross_entropy_with_logits": _by(
        looking_up.binary_cross_entropy_of_logits, "arguments in another order"
    ),
    "_ctc_loss": _by(looking_up.ctc_loss, _STATISTICS),
}

# Of libraries, and of the import itself.
OF_LIBRARIES: dict[str, Callable[..., Any]] = {
    "functx::unrecorded": copying.unrecorded,
    "transformers::grouped_mm_fallback": multiplying.grouped_mm,
}
HIGHER_ORDER: dict[str, Callable[..., Any]] = {
    "cond": branching.cond,
    "while_loop": branching.while_loop,
    "scan": branching.scan,
    "map_impl": branching.mapped,
    "associative_scan": branching.associative_scan,
}
