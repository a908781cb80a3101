"""Function transforms and PyTorch-named operators on JAX.

`functx.grad`, `vjp`, `jvp`, `vmap`, `jacrev`, `jacfwd`, `hessian` and their kin have the
interface of `torch.func`; operators such as `functx.sum` or `functx.nn.functional.conv2d`
have PyTorch's names and semantics and take plain `jax.Array`s. Tools have modules of their own:
`functx.taps`, `functx.residuals`, `functx.checkpointing`, `functx.implicit`, `functx.aot`,
`functx.debug` and `functx.testing`. `functx.func` and `functx.autograd` are laid out as
`torch.func` and `torch.autograd` are.
"""

__version__ = "0.1.0"

from . import _help as _help  # isort: skip
import typing as _typing

from jax.numpy import (
    bfloat16 as bfloat16,
    bool_ as _bool,
    complex64 as complex64,
    complex128 as complex128,
    float16 as float16,
    float32 as float32,
    float64 as float64,
    int8 as int8,
    int16 as int16,
    int32 as int32,
    int64 as int64,
    uint8 as uint8,
)

from . import (
    autograd as autograd,
    debug as debug,
    fft as fft,
    linalg as linalg,
    masked as masked,
    nn as nn,
    random as random,
    signal as signal,
    special as special,
)
from ._arrays.constructors import (
    as_tensor as as_tensor,
    asarray as asarray,
    from_dlpack as from_dlpack,
    from_numpy as from_numpy,
    frombuffer as frombuffer,
    tensor as tensor,
)
from ._arrays.default_dtype import (
    default_dtype as default_dtype,
    get_default_dtype as get_default_dtype,
    set_default_dtype as set_default_dtype,
)
from ._arrays.determinism import (
    are_deterministic_algorithms_enabled as are_deterministic_algorithms_enabled,
    is_deterministic_algorithms_warn_only_enabled as is_deterministic_algorithms_warn_only_enabled,
    use_deterministic_algorithms as use_deterministic_algorithms,
)
from ._arrays.inspection import (
    broadcast_shapes as broadcast_shapes,
    can_cast as can_cast,
    finfo as finfo,
    iinfo as iinfo,
    is_complex as is_complex,
    is_floating_point as is_floating_point,
    is_nonzero as is_nonzero,
    is_same_size as is_same_size,
    is_signed as is_signed,
    is_tensor as is_tensor,
    numel as numel,
    promote_types as promote_types,
    result_type as result_type,
)
from ._arrays.matmul_precision import (
    float32_matmul_precision as float32_matmul_precision,
    get_float32_matmul_precision as get_float32_matmul_precision,
    set_float32_matmul_precision as set_float32_matmul_precision,
)
from ._arrays.x64 import enable_x64 as enable_x64, x64 as x64
from ._core.randomness.generators import Generator as Generator
from ._core.randomness.seeds import (
    get_rng_state as get_rng_state,
    initial_seed as initial_seed,
    manual_seed as manual_seed,
    seed as seed,
    set_rng_state as set_rng_state,
)
from ._names import equip as _equip, TOOLS as _TOOLS
from ._transforms.checkpointing.checkpoint import checkpoint as checkpoint
from ._transforms.functional_call import functional_call as functional_call
from ._transforms.functions.function import Function as Function
from ._transforms.grad import (
    grad as grad,
    grad_and_value as grad_and_value,
    value_and_grad as value_and_grad,
)
from ._transforms.jacobian import hessian as hessian, jacfwd as jacfwd, jacrev as jacrev
from ._transforms.jit import jit as jit
from ._transforms.jvp import jvp as jvp
from ._transforms.linearize import linearize as linearize
from ._transforms.modes.grad_modes import (
    detach as detach,
    enable_grad as enable_grad,
    inference_mode as inference_mode,
    is_grad_enabled as is_grad_enabled,
    is_inference_mode_enabled as is_inference_mode_enabled,
    no_grad as no_grad,
    set_grad_enabled as set_grad_enabled,
)
from ._transforms.products import hvp as hvp, vhp as vhp
from ._transforms.stacking import stack_trees as stack_trees, unstack_tree as unstack_tree
from ._transforms.vjp import vjp as vjp
from ._transforms.vmap import vmap as vmap


# Operators, written by `python -m tests.write_facades`.
# isort: split
from ._ops.creation.filled import (
    eye as eye,
    full as full,
    ones as ones,
    ones_like as ones_like,
    scalar_tensor as scalar_tensor,
    zeros as zeros,
    zeros_like as zeros_like,
)
from ._ops.creation.likenesses import (
    fill as fill,
    full_like as full_like,
    new_full as new_full,
    new_ones as new_ones,
    new_zeros as new_zeros,
)
from ._ops.creation.ranges import arange as arange, linspace as linspace, logspace as logspace
from ._ops.creation.triangles import tril_indices as tril_indices, triu_indices as triu_indices
from ._ops.creation.vandermonde import vander as vander
from ._ops.fft.short_time import istft as istft, stft as stft
from ._ops.indexing.assigning import index_put as index_put
from ._ops.indexing.combining import index_reduce as index_reduce, scatter_reduce as scatter_reduce
from ._ops.indexing.flattened import put as put, take as take
from ._ops.indexing.gathering import (
    gather as gather,
    index_select as index_select,
    take_along_dim as take_along_dim,
)
from ._ops.indexing.masking import (
    argwhere as argwhere,
    masked_fill as masked_fill,
    masked_scatter as masked_scatter,
    masked_select as masked_select,
    nonzero as nonzero,
    nonzero_static as nonzero_static,
)
from ._ops.indexing.scattering import (
    index_add as index_add,
    scatter as scatter,
    scatter_add as scatter_add,
)
from ._ops.indexing.slices import index_copy as index_copy, index_fill as index_fill
from ._ops.indexing.unraveling import unravel_index as unravel_index
from ._ops.linalg.cholesky import (
    cholesky as cholesky,
    cholesky_inverse as cholesky_inverse,
    cholesky_solve as cholesky_solve,
)
from ._ops.linalg.determinants import det as det, logdet as logdet, slogdet as slogdet
from ._ops.linalg.earlier_signatures import qr as qr, svd as svd
from ._ops.linalg.exponential import matrix_exp as matrix_exp
from ._ops.linalg.householder import (
    geqrf as geqrf,
    householder_product as _householder_product,
    ormqr as ormqr,
)
from ._ops.linalg.lobpcg import lobpcg as lobpcg
from ._ops.linalg.low_rank import pca_lowrank as pca_lowrank, svd_lowrank as svd_lowrank
from ._ops.linalg.packed_lu import lu as lu, lu_solve as lu_solve, lu_unpack as lu_unpack
from ._ops.linalg.pseudoinverse import pinverse as pinverse
from ._ops.linalg.repeated_products import matrix_power as matrix_power
from ._ops.linalg.solving import inv as _inv
from ._ops.linalg.triangular import triangular_solve as triangular_solve
from ._ops.nn.activation import relu as relu
from ._ops.nn.affine_grids import affine_grid_generator as affine_grid_generator
from ._ops.nn.convolution import (
    conv1d as conv1d,
    conv2d as conv2d,
    conv3d as conv3d,
    conv_tbc as conv_tbc,
)
from ._ops.nn.distances import (
    cosine_similarity as cosine_similarity,
    pairwise_distance as pairwise_distance,
)
from ._ops.nn.dropout import (
    alpha_dropout as alpha_dropout,
    dropout as dropout,
    dropout2d as _dropout2d,
    feature_alpha_dropout as feature_alpha_dropout,
)
from ._ops.nn.exponential_units import celu as celu, selu as selu
from ._ops.nn.grid_sampling import (
    grid_sampler as grid_sampler,
    grid_sampler_2d as grid_sampler_2d,
    grid_sampler_3d as grid_sampler_3d,
)
from ._ops.nn.linear import bilinear as bilinear
from ._ops.nn.normalization.batch import batch_norm as batch_norm
from ._ops.nn.normalization.group import group_norm as group_norm
from ._ops.nn.normalization.layer import layer_norm as layer_norm, rms_norm as rms_norm
from ._ops.nn.normalization.native import (
    native_batch_norm as native_batch_norm,
    native_group_norm as native_group_norm,
    native_layer_norm as native_layer_norm,
)
from ._ops.nn.padding import constant_pad_nd as constant_pad_nd
from ._ops.nn.piecewise_linear import (
    hardshrink as hardshrink,
    prelu as prelu,
    rrelu as rrelu,
    threshold as threshold,
)
from ._ops.nn.pooling.adaptive import adaptive_avg_pool1d as adaptive_avg_pool1d
from ._ops.nn.pooling.average import avg_pool1d as avg_pool1d
from ._ops.nn.pooling.maximum import (
    max_pool1d as max_pool1d,
    max_pool2d as max_pool2d,
    max_pool3d as max_pool3d,
)
from ._ops.nn.recurrent.cells import (
    gru_cell as gru_cell,
    lstm_cell as lstm_cell,
    rnn_relu_cell as rnn_relu_cell,
    rnn_tanh_cell as rnn_tanh_cell,
)
from ._ops.nn.recurrent.sequences import (
    gru as gru,
    lstm as lstm,
    rnn_relu as rnn_relu,
    rnn_tanh as rnn_tanh,
)
from ._ops.nn.shuffling import (
    channel_shuffle as channel_shuffle,
    pixel_shuffle as pixel_shuffle,
    pixel_unshuffle as pixel_unshuffle,
)
from ._ops.nn.softmax import log_softmax as log_softmax, softmax as softmax
from ._ops.nn.sparse import embedding as embedding
from ._ops.nn.transposed_convolution import (
    conv_transpose1d as conv_transpose1d,
    conv_transpose2d as conv_transpose2d,
    conv_transpose3d as conv_transpose3d,
)
from ._ops.pointwise.arithmetic import (
    abs as abs,
    add as add,
    addcmul as addcmul,
    copysign as copysign,
    lerp as lerp,
    mul as mul,
    neg as neg,
    positive as positive,
    rsub as rsub,
    sgn as sgn,
    sign as sign,
    sub as sub,
)
from ._ops.pointwise.bitwise import (
    bitwise_and as bitwise_and,
    bitwise_left_shift as bitwise_left_shift,
    bitwise_not as bitwise_not,
    bitwise_or as bitwise_or,
    bitwise_right_shift as bitwise_right_shift,
    bitwise_xor as bitwise_xor,
)
from ._ops.pointwise.casting import byte as byte, char as char
from ._ops.pointwise.closeness import allclose as allclose, equal as equal, isclose as isclose
from ._ops.pointwise.comparison import (
    eq as eq,
    ge as ge,
    gt as gt,
    isfinite as isfinite,
    isinf as isinf,
    isnan as isnan,
    isneginf as isneginf,
    isposinf as isposinf,
    isreal as isreal,
    le as le,
    logical_and as logical_and,
    logical_not as logical_not,
    logical_or as logical_or,
    logical_xor as logical_xor,
    lt as lt,
    ne as ne,
    signbit as signbit,
)
from ._ops.pointwise.complex_parts import (
    complex as complex,
    conj as conj,
    imag as imag,
    polar as polar,
    real as real,
    view_as_complex as view_as_complex,
    view_as_real as view_as_real,
)
from ._ops.pointwise.division import (
    addcdiv as addcdiv,
    div as div,
    floor_divide as floor_divide,
    fmod as fmod,
    reciprocal as reciprocal,
    remainder as remainder,
)
from ._ops.pointwise.divisors import gcd as gcd, lcm as lcm
from ._ops.pointwise.exponential import (
    exp as exp,
    exp2 as exp2,
    expm1 as expm1,
    log as log,
    log1p as log1p,
    log2 as log2,
    log10 as log10,
    logaddexp as logaddexp,
    logaddexp2 as logaddexp2,
    logit as logit,
    sigmoid as sigmoid,
    xlogy as xlogy,
)
from ._ops.pointwise.hyperbolic import (
    acosh as acosh,
    asinh as asinh,
    atanh as atanh,
    cosh as cosh,
    sinh as sinh,
    tanh as tanh,
)
from ._ops.pointwise.inverse_trigonometric import acos as acos, asin as asin, atan as atan
from ._ops.pointwise.powers import (
    float_power as float_power,
    hypot as hypot,
    pow as pow,
    rsqrt as rsqrt,
    sqrt as sqrt,
    square as square,
)
from ._ops.pointwise.representation import frexp as frexp, ldexp as ldexp, nextafter as nextafter
from ._ops.pointwise.rounding import (
    ceil as ceil,
    floor as floor,
    frac as frac,
    round as round,
    trunc as trunc,
)
from ._ops.pointwise.selection import (
    clamp as clamp,
    clamp_max as clamp_max,
    clamp_min as clamp_min,
    fmax as fmax,
    fmin as fmin,
    maximum as maximum,
    minimum as minimum,
    nan_to_num as nan_to_num,
    where as where,
)
from ._ops.pointwise.special_functions import digamma as digamma, erf as erf, lgamma as lgamma
from ._ops.pointwise.steps import heaviside as heaviside
from ._ops.pointwise.trigonometric import (
    angle as angle,
    atan2 as atan2,
    cos as cos,
    deg2rad as deg2rad,
    rad2deg as rad2deg,
    sin as sin,
    sinc as sinc,
    tan as tan,
)
from ._ops.products.chains import chain_matmul as chain_matmul
from ._ops.products.contractions import einsum as einsum, tensordot as tensordot
from ._ops.products.matrices import bmm as bmm, dot as dot, matmul as matmul, mm as mm, mv as mv
from ._ops.products.scaled_sums import (
    addbmm as addbmm,
    addmm as addmm,
    addmv as addmv,
    addr as addr,
    baddbmm as baddbmm,
)
from ._ops.products.vectors import cross as cross, inner as inner, vdot as vdot
from ._ops.random.continuous import (
    normal as normal,
    rand as rand,
    rand_like as rand_like,
    randn as randn,
    randn_like as randn_like,
)
from ._ops.random.counts import binomial as binomial, geometric as geometric, poisson as poisson
from ._ops.random.densities import (
    cauchy as cauchy,
    exponential as exponential,
    log_normal as log_normal,
    uniform as uniform,
)
from ._ops.random.discrete import (
    bernoulli as bernoulli,
    multinomial as multinomial,
    randint as randint,
    randint_like as randint_like,
    randperm as randperm,
)
from ._ops.reductions.counts import bincount as bincount, histc as histc
from ._ops.reductions.covariances import corrcoef as corrcoef, cov as cov
from ._ops.reductions.distances import dist as dist, renorm as renorm
from ._ops.reductions.exponentials import logcumsumexp as logcumsumexp, logsumexp as logsumexp
from ._ops.reductions.extrema import (
    amax as amax,
    amin as amin,
    aminmax as aminmax,
    argmax as argmax,
    argmin as argmin,
    max as max,
    min as min,
)
from ._ops.reductions.finite_differences import gradient as gradient
from ._ops.reductions.histograms import histogram as histogram, histogramdd as histogramdd
from ._ops.reductions.integrals import (
    cumulative_trapezoid as cumulative_trapezoid,
    trapezoid as trapezoid,
)
from ._ops.reductions.logical import all as all, any as any
from ._ops.reductions.medians import kthvalue as kthvalue, median as median, nanmedian as nanmedian
from ._ops.reductions.modes import mode as mode
from ._ops.reductions.moments import (
    std as std,
    std_mean as std_mean,
    var as var,
    var_mean as var_mean,
)
from ._ops.reductions.norms import norm as norm
from ._ops.reductions.pairwise_distances import (
    cdist as cdist,
    pdist as pdist,
    squared_cdist as squared_cdist,
)
from ._ops.reductions.quantiles import nanquantile as nanquantile, quantile as quantile
from ._ops.reductions.scans import (
    cummax as cummax,
    cummin as cummin,
    cumprod as cumprod,
    cumsum as cumsum,
    diff as diff,
)
from ._ops.reductions.segments import segment_reduce as segment_reduce
from ._ops.reductions.sums import (
    count_nonzero as count_nonzero,
    mean as mean,
    nanmean as nanmean,
    nansum as nansum,
    prod as prod,
    sum as sum,
    trace as trace,
)
from ._ops.shape.broadcasting import (
    broadcast_tensors as broadcast_tensors,
    broadcast_to as broadcast_to,
    expand as expand,
    expand_as as expand_as,
    repeat as repeat,
    sum_to_size as sum_to_size,
    tile as tile,
)
from ._ops.shape.copies import clone as clone
from ._ops.shape.diagonals import (
    diag as diag,
    diag_embed as diag_embed,
    diagflat as diagflat,
    diagonal as diagonal,
    diagonal_scatter as diagonal_scatter,
    tril as tril,
    triu as triu,
)
from ._ops.shape.grids import (
    cartesian_prod as cartesian_prod,
    combinations as combinations,
    meshgrid as meshgrid,
)
from ._ops.shape.joining import (
    block_diag as block_diag,
    cat as cat,
    column_stack as column_stack,
    dstack as dstack,
    hstack as hstack,
    stack as stack,
    vstack as vstack,
)
from ._ops.shape.outer_products import kron as kron, outer as outer
from ._ops.shape.ranks import (
    atleast_1d as atleast_1d,
    atleast_2d as atleast_2d,
    atleast_3d as atleast_3d,
)
from ._ops.shape.rearranging import (
    flip as flip,
    fliplr as fliplr,
    flipud as flipud,
    movedim as movedim,
    permute as permute,
    roll as roll,
    rot90 as rot90,
    transpose as transpose,
)
from ._ops.shape.repeating import repeat_interleave as repeat_interleave
from ._ops.shape.selecting import (
    narrow as narrow,
    select as select,
    select_scatter as select_scatter,
    slice as slice,
    slice_scatter as slice_scatter,
)
from ._ops.shape.splitting import (
    chunk as chunk,
    dsplit as dsplit,
    hsplit as hsplit,
    split as split,
    split_with_sizes as split_with_sizes,
    tensor_split as tensor_split,
    unbind as unbind,
    vsplit as vsplit,
)
from ._ops.shape.strides import (
    as_strided as as_strided,
    as_strided_scatter as as_strided_scatter,
    unfold as unfold,
)
from ._ops.shape.transposing import H as H, mH as mH, mT as mT, T as T, t as t
from ._ops.shape.views import (
    flatten as flatten,
    ravel as ravel,
    reshape as reshape,
    reshape_as as reshape_as,
    squeeze as squeeze,
    unflatten as unflatten,
    unsqueeze as unsqueeze,
    view as view,
    view_as as view_as,
)
from ._ops.signal.periodic_windows import (
    bartlett_window as bartlett_window,
    blackman_window as blackman_window,
    hamming_window as hamming_window,
    hann_window as hann_window,
    kaiser_window as kaiser_window,
)
from ._ops.sorting.membership import isin as isin
from ._ops.sorting.searching import bucketize as bucketize, searchsorted as searchsorted
from ._ops.sorting.sorting import argsort as argsort, msort as msort, sort as sort, topk as topk
from ._ops.sorting.uniqueness import unique as unique, unique_consecutive as unique_consecutive
from ._ops.special.gamma import igamma as igamma, igammac as igammac, mvlgamma as mvlgamma
from ._ops.special.modified_bessel import i0 as i0
from ._ops.special.normal import erfc as erfc, erfinv as erfinv
from ._ops.special.zeta import polygamma as polygamma


_segment_reduce = segment_reduce
absolute = abs
adjoint = mH
alias_copy = clone
arccos = acos
arccosh = acosh
arcsin = asin
arcsinh = asinh
arctan = atan
arctan2 = atan2
arctanh = atanh
as_strided_copy = as_strided
clip = clamp
concat = cat
concatenate = cat
conj_physical = conj
diagonal_copy = diagonal
divide = div
empty = zeros
empty_like = zeros_like
expand_copy = expand
feature_dropout = _dropout2d
fix = trunc
ger = outer
greater = gt
greater_equal = ge
inverse = _inv
less = lt
less_equal = le
moveaxis = movedim
multiply = mul
narrow_copy = narrow
negative = neg
new_empty = new_zeros
not_equal = ne
orgqr = _householder_product
permute_copy = permute
row_stack = vstack
select_copy = select
split_copy = split
split_with_sizes_copy = split_with_sizes
squeeze_copy = squeeze
subtract = sub
swapaxes = transpose
swapdims = transpose
t_copy = t
transpose_copy = transpose
trapz = trapezoid
true_divide = div
unbind_copy = unbind
unfold_copy = unfold
unsqueeze_copy = unsqueeze
view_as_complex_copy = view_as_complex
view_as_real_copy = view_as_real
view_copy = view
# End of operators.

# PyTorch's other names of dtypes.
bool = _bool
cdouble = complex128
cfloat = complex64
double = float64
float = float32
half = float16
int = int32
long = int64
short = int16

if _typing.TYPE_CHECKING:
    from . import (
        amp as amp,
        aot as aot,
        backends as backends,
        checkpointing as checkpointing,
        curvature as curvature,
        func as func,
        implicit as implicit,
        memory as memory,
        nested as nested,
        profiler as profiler,
        residuals as residuals,
        sparse as sparse,
        sparsity as sparsity,
        taps as taps,
        testing as testing,
    )

    # Old places, which `_names` knows at run time.
    from ._aot.graphs.tracing import make_graph as _make_graph
    from ._transforms.anomaly.detect import detect_anomaly as detect_anomaly
    from ._transforms.anomaly.report import AnomalyError as AnomalyError
    from ._transforms.checkpointing.policies import CheckpointPolicy as CheckpointPolicy
    from ._transforms.checkpointing.report import checkpoint_report as checkpoint_report
    from ._transforms.checkpointing.sequential import checkpoint_sequential as checkpoint_sequential
    from ._transforms.functions.once import once_differentiable as once_differentiable
    from ._transforms.implicit.linear import custom_linear_solve as custom_linear_solve
    from ._transforms.implicit.roots import (
        custom_fixed_point as custom_fixed_point,
        custom_root as custom_root,
    )
    from ._transforms.residuals.hooks import (
        disable_residual_hooks as disable_residual_hooks,
        residual_hooks as residual_hooks,
    )
    from ._transforms.residuals.offload import offload_residuals as offload_residuals
    from ._transforms.residuals.saved import saved_residuals as saved_residuals
    from ._transforms.taps.capture import (
        tap_grads as tap_grads,
        tap_values as tap_values,
        value_and_tap_grads as value_and_tap_grads,
    )
    from ._transforms.taps.fused import fused_update as fused_update
    from ._transforms.taps.rule_hooks import with_rule_hooks as with_rule_hooks
    from ._transforms.taps.tap import tap as tap, tap_group as tap_group

    graph = _make_graph

_equip(__name__, modules=(*_TOOLS, "testing"))
