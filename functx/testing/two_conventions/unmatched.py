"""Operators in a recorded program for which JAX has no function, though they may differ."""

from __future__ import annotations

from typing import Any

from functx._core import REGISTRY
from functx._transforms.programs.labels import operator_of, outside_operators
from functx._transforms.programs.walking import equations, inner_programs

from .jax_rules import JAX_RULES
from .noting import holds_both


# Operators with ties, kinks, zeros or singular points for which JAX has no function.
WITHOUT_COUNTERPART = frozenset(
    """
    as_strided_scatter copysign corrcoef frac geqrf index_reduce linalg.cond linalg.lstsq
    lobpcg masked.amax masked.amin masked.cumprod masked.median masked.norm masked.normalize
    masked.prod masked.std mode nanmedian nanquantile nn.functional.adaptive_max_pool1d
    nn.functional.adaptive_max_pool2d nn.functional.adaptive_max_pool3d
    nn.functional.binary_cross_entropy nn.functional.cosine_embedding_loss
    nn.functional.cosine_similarity nn.functional.embedding nn.functional.embedding_bag
    nn.functional.fractional_max_pool2d nn.functional.fractional_max_pool3d
    nn.functional.gaussian_nll_loss nn.functional.grid_sample nn.functional.hardshrink
    nn.functional.hinge_embedding_loss nn.functional.huber_loss nn.functional.kl_div
    nn.functional.lp_pool1d nn.functional.lp_pool2d nn.functional.lp_pool3d
    nn.functional.margin_ranking_loss nn.functional.max_pool1d nn.functional.max_pool2d
    nn.functional.max_pool3d nn.functional.multi_margin_loss
    nn.functional.multilabel_margin_loss nn.functional.normalize nn.functional.poisson_nll_loss
    nn.functional.prelu nn.functional.rrelu nn.functional.smooth_l1_loss
    nn.functional.softshrink nn.functional.threshold nn.functional.triplet_margin_loss
    nn.functional.triplet_margin_with_distance_loss nan_to_num pca_lowrank pdist pinverse polar
    quantile renorm rnn_relu rnn_relu_cell scatter_reduce segment_reduce squared_cdist svd_lowrank
    """.split()
)
# JAX's primitives with ties that no operator stands for.
_PRIMITIVES = frozenset(["reduce_window_max", "reduce_window_min", "scatter-max", "scatter-min"])


def unmatched(program: Any) -> tuple[str, ...]:
    """What is called in `program` and may have kinks, but keeps its rules in both conventions.

    Operators that JAX has a function for are among it where they are called with options that the
    function lacks.
    """
    found = dict[str, None]()
    for eqn in equations(program, outside_operators):
        name = operator_of(eqn)
        if eqn.primitive.name in _PRIMITIVES:
            found[f"jax {eqn.primitive.name}"] = None
        if name is None or not (name in WITHOUT_COUNTERPART or name in JAX_RULES):
            continue
        if not any(holds_both(e) for inner in inner_programs(eqn) for e in equations(inner)):
            found[name] = None
    return tuple(found)


def judges_values(program: Any) -> bool:
    """Whether an operator in `program` refuses some values."""
    names = filter(None, map(operator_of, equations(program)))
    return any(REGISTRY[name].requires is not None for name in names)
