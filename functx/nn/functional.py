"""torch.nn.functional's names."""

from functx._names import equip as _equip


# Operators, written by `python -m tests.write_facades`.
# isort: split
from functx._ops.nn.activation import gelu as gelu, relu as relu, silu as silu, softplus as softplus
from functx._ops.nn.affine_grids import affine_grid as affine_grid
from functx._ops.nn.attention import scaled_dot_product_attention as scaled_dot_product_attention
from functx._ops.nn.class_margins import (
    multi_margin_loss as multi_margin_loss,
    multilabel_margin_loss as multilabel_margin_loss,
)
from functx._ops.nn.classification import cross_entropy as cross_entropy, nll_loss as nll_loss
from functx._ops.nn.convolution import (
    conv1d as conv1d,
    conv2d as conv2d,
    conv3d as conv3d,
    conv_tbc as conv_tbc,
)
from functx._ops.nn.distances import (
    cosine_similarity as cosine_similarity,
    pairwise_distance as pairwise_distance,
)
from functx._ops.nn.dropout import (
    alpha_dropout as alpha_dropout,
    dropout as dropout,
    dropout1d as dropout1d,
    dropout2d as dropout2d,
    dropout3d as dropout3d,
    feature_alpha_dropout as feature_alpha_dropout,
)
from functx._ops.nn.embedding_bags import embedding_bag as embedding_bag
from functx._ops.nn.exponential_units import (
    celu as celu,
    elu as elu,
    glu as glu,
    logsigmoid as logsigmoid,
    mish as mish,
    selu as selu,
    softsign as softsign,
    tanhshrink as tanhshrink,
)
from functx._ops.nn.grid_sampling import grid_sample as grid_sample
from functx._ops.nn.grouped_products import grouped_mm as grouped_mm
from functx._ops.nn.gumbel import gumbel_softmax as gumbel_softmax
from functx._ops.nn.interpolation import (
    interpolate as interpolate,
    upsample as upsample,
    upsample_bilinear as upsample_bilinear,
    upsample_nearest as upsample_nearest,
)
from functx._ops.nn.likelihoods import (
    binary_cross_entropy as binary_cross_entropy,
    gaussian_nll_loss as gaussian_nll_loss,
    kl_div as kl_div,
    poisson_nll_loss as poisson_nll_loss,
)
from functx._ops.nn.linear import bilinear as bilinear, linear as linear
from functx._ops.nn.linear_classification import linear_cross_entropy as linear_cross_entropy
from functx._ops.nn.losses import (
    binary_cross_entropy_with_logits as binary_cross_entropy_with_logits,
    huber_loss as huber_loss,
    l1_loss as l1_loss,
    mse_loss as mse_loss,
    smooth_l1_loss as smooth_l1_loss,
)
from functx._ops.nn.margins import (
    cosine_embedding_loss as cosine_embedding_loss,
    hinge_embedding_loss as hinge_embedding_loss,
    margin_ranking_loss as margin_ranking_loss,
    multilabel_soft_margin_loss as multilabel_soft_margin_loss,
    soft_margin_loss as soft_margin_loss,
)
from functx._ops.nn.multi_head import multi_head_attention_forward as multi_head_attention_forward
from functx._ops.nn.normalization.batch import (
    batch_norm as batch_norm,
    batch_norm_with_stats as batch_norm_with_stats,
)
from functx._ops.nn.normalization.group import group_norm as group_norm
from functx._ops.nn.normalization.instance import (
    instance_norm as instance_norm,
    instance_norm_with_stats as instance_norm_with_stats,
)
from functx._ops.nn.normalization.layer import layer_norm as layer_norm, rms_norm as rms_norm
from functx._ops.nn.normalization.local_response import local_response_norm as local_response_norm
from functx._ops.nn.padding import pad as pad
from functx._ops.nn.patches import fold as fold, unfold as unfold
from functx._ops.nn.piecewise_linear import (
    hardshrink as hardshrink,
    hardsigmoid as hardsigmoid,
    hardswish as hardswish,
    hardtanh as hardtanh,
    leaky_relu as leaky_relu,
    prelu as prelu,
    relu6 as relu6,
    rrelu as rrelu,
    softshrink as softshrink,
    threshold as threshold,
)
from functx._ops.nn.pooling.adaptive import (
    adaptive_avg_pool1d as adaptive_avg_pool1d,
    adaptive_avg_pool2d as adaptive_avg_pool2d,
    adaptive_avg_pool3d as adaptive_avg_pool3d,
)
from functx._ops.nn.pooling.adaptive_maximum import (
    adaptive_max_pool1d as adaptive_max_pool1d,
    adaptive_max_pool2d as adaptive_max_pool2d,
    adaptive_max_pool3d as adaptive_max_pool3d,
)
from functx._ops.nn.pooling.average import (
    avg_pool1d as avg_pool1d,
    avg_pool2d as avg_pool2d,
    avg_pool3d as avg_pool3d,
)
from functx._ops.nn.pooling.fractional import (
    fractional_max_pool2d as fractional_max_pool2d,
    fractional_max_pool3d as fractional_max_pool3d,
)
from functx._ops.nn.pooling.maximum import (
    max_pool1d as max_pool1d,
    max_pool2d as max_pool2d,
    max_pool3d as max_pool3d,
)
from functx._ops.nn.pooling.norms import (
    lp_pool1d as lp_pool1d,
    lp_pool2d as lp_pool2d,
    lp_pool3d as lp_pool3d,
)
from functx._ops.nn.pooling.unpooling import (
    max_unpool1d as max_unpool1d,
    max_unpool2d as max_unpool2d,
    max_unpool3d as max_unpool3d,
)
from functx._ops.nn.scaling import normalize as normalize
from functx._ops.nn.shuffling import (
    channel_shuffle as channel_shuffle,
    pixel_shuffle as pixel_shuffle,
    pixel_unshuffle as pixel_unshuffle,
)
from functx._ops.nn.softmax import (
    log_softmax as log_softmax,
    softmax as softmax,
    softmin as softmin,
)
from functx._ops.nn.sparse import embedding as embedding, one_hot as one_hot
from functx._ops.nn.temporal_classification import ctc_loss as ctc_loss
from functx._ops.nn.transposed_convolution import (
    conv_transpose1d as conv_transpose1d,
    conv_transpose2d as conv_transpose2d,
    conv_transpose3d as conv_transpose3d,
)
from functx._ops.nn.triplets import (
    triplet_margin_loss as triplet_margin_loss,
    triplet_margin_with_distance_loss as triplet_margin_with_distance_loss,
)
from functx._ops.pointwise.exponential import sigmoid as sigmoid
from functx._ops.pointwise.hyperbolic import tanh as tanh
from functx._ops.reductions.pairwise_distances import pdist as pdist


# End of operators.

_equip(__name__)
