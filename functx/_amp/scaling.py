"""`GradScaler`: the scale of a loss whose gradients are computed in halves, as pure state."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Self, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import describe, explain_unknown_keywords, fail, require_bool
from functx._core.numbers.dtypes import available
from functx._transforms.arguments import kind_of, leaves_with_paths
from functx._transforms.numbers import as_array


T = TypeVar("T")

_OPTIONS = ("growth_factor", "backoff_factor", "growth_interval", "enabled")
_HALVES = ("float16", "bfloat16")


@jax.tree_util.register_pytree_with_keys_class
class GradScaler:
    """Scales a loss so that its gradients do not vanish in float16, and finds a scale that fits.

    - `init_scale`: the first scale.
    - `growth_factor`: what the scale is multiplied by after `growth_interval` steps in a row whose
      gradients were finite.
    - `backoff_factor`: what it is multiplied by after a step whose gradients were not.
    - `growth_interval`: how many finite steps make it grow.
    - `enabled`: with `False` all methods hand on what they are given.

    It is `torch.amp.GradScaler` as a value: a pytree of two arrays, the scale (float32) and the
    count of finite steps (int32), whose options are static. No method changes it; `update` returns
    the next one. So it goes through `jax.jit`, `lax.scan`, `vmap`, and into checkpoints.

    bfloat16 has the range of float32, and needs none.

    Errors: ValueError where the factors do not grow and back off.

    >>> scaler = functx.amp.GradScaler(growth_interval=2)
    >>> loss = lambda w: w**2
    >>> w = jnp.float32(3)
    >>> grads = functx.grad(lambda w: scaler.scale(loss(w)))(w)
    >>> grads, found_inf = scaler.unscale(grads)
    >>> w = scaler.select(found_inf, w, w - 0.1 * grads)
    >>> scaler = scaler.update(found_inf)
    >>> w, found_inf, scaler.get_scale()
    (Array(2.4, dtype=float32), Array(False, dtype=bool), Array(65536., dtype=float32))
    """

    @explain_unknown_keywords("GradScaler", others="a scaler has no device: JAX moves its arrays")
    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        require_bool("GradScaler", "enabled", enabled)
        if isinstance(init_scale, str):
            fail(
                "GradScaler",
                f"`init_scale` must be a number, got {init_scale!r}",
                hint="a scaler has no device: JAX moves its arrays",
                error=TypeError,
            )
        _require(growth_factor > 1, "growth_factor", "more than 1", growth_factor)
        _require(0 < backoff_factor < 1, "backoff_factor", "between 0 and 1", backoff_factor)
        _require(growth_interval >= 1, "growth_interval", "at least 1", growth_interval)
        positive = isinstance(init_scale, Array) or (math.isfinite(init_scale) and init_scale > 0)
        _require(positive, "init_scale", "positive and finite", init_scale)
        self.growth_factor, self.backoff_factor = float(growth_factor), float(backoff_factor)
        self.growth_interval, self.enabled = int(growth_interval), enabled
        self._scale: Any = jnp.asarray(init_scale, "float32")
        self._growth_tracker: Any = jnp.zeros((), "int32")

    def scale(self, outputs: T) -> T:
        """The outputs, a loss or a tree of them, times the scale.

        - `outputs`: floating arrays; other leaves are handed on. A half becomes float32 first, in
          which the scale does not overflow.
        """
        if not self.enabled:
            return outputs
        return jax.tree.map(self._scaled, outputs)

    def _scaled(self, x: Any) -> Any:
        x = as_array(x)
        if not _has_gradient(x):
            return x
        x = x.astype("float32") if x.dtype.name in _HALVES else x
        return x * self._scale.astype(x.dtype)

    def unscale(self, grads: T, *, grad_scale: Any = None) -> tuple[T, Array]:
        """The gradients of the loss from those of the scaled loss, and whether any is not finite.

        - `grads`: a tree of gradients, float32, float64 or complex; other leaves are handed on.
        - `grad_scale`: what else they have been multiplied by, as by the number of steps over
          which they are summed. `None` is 1.

        Where several optimizers step apart, unscale the gradients of each. Of gradients that are
        summed over steps, unscale the sum, once: nothing tells gradients that are unscaled already.

        Errors: ValueError for gradients in halves, in which what was scaled vanishes when unscaled.
        Keep parameters in float32; autocast casts them where that is of use.
        """
        found = jnp.zeros((), bool)
        if not self.enabled and grad_scale is None:
            return grads, found
        _refuse_halves(grads)
        total = self._scale if self.enabled else jnp.ones((), "float32")
        if grad_scale is not None:
            total = total * jnp.asarray(grad_scale, "float32")
        inverse = (1 / total.astype(available("float64"))).astype("float32")  # as PyTorch does
        leaves, tree = jax.tree.flatten(grads)
        for x in filter(_has_gradient, leaves):
            found = found | ~jnp.isfinite(x).all()
        unscaled = [x * inverse.astype(x.dtype) if _has_gradient(x) else x for x in leaves]
        return tree.unflatten(unscaled), found if self.enabled else jnp.zeros((), bool)

    def select(self, found_inf: Any, old: T, new: T) -> T:
        """`new`, or `old` where gradients were not finite, so that the step is skipped.

        - `found_inf`: what `unscale` found.
        - `old`, `new`: parameters, the state of an optimizer or any tree, before and after it.
          Leaves that are no arrays are those of `new`.
        """
        if not self.enabled:
            return new
        skipped = jnp.asarray(found_inf, bool)
        return jax.tree.map(lambda a, b: _chosen(skipped, a, b), old, new)

    def update(self, *found_inf: Any, new_scale: Any = None) -> Self:
        """The scaler of the next step: its scale is smaller after gradients that were not finite.

        - `found_inf`: what `unscale` found, once for each optimizer.
        - `new_scale`: a scale to go on with, in place of what the rule gives.

        Errors: TypeError where there is neither.
        """
        if not self.enabled:
            return self
        if new_scale is not None:
            return self._with(jnp.asarray(new_scale, "float32"), self._growth_tracker)
        if not found_inf:
            fail(
                "GradScaler.update",
                "`found_inf` is missing: no gradients were looked at",
                hint="grads, found_inf = scaler.unscale(grads); scaler.update(found_inf)",
                error=TypeError,
            )
        found = jnp.stack([jnp.asarray(x, bool) for x in found_inf]).any()
        steps = self._growth_tracker + 1
        grows = steps == self.growth_interval
        grown = self._scale * jnp.float32(self.growth_factor)
        grown = jnp.where(grows & jnp.isfinite(grown), grown, self._scale)
        scale = jnp.where(found, self._scale * jnp.float32(self.backoff_factor), grown)
        return self._with(scale, jnp.where(found | grows, 0, steps).astype("int32"))

    def get_scale(self) -> Array:
        """The scale: 1 if the scaler is not enabled."""
        return self._scale if self.enabled else jnp.ones((), "float32")

    def is_enabled(self) -> bool:
        """Whether the scaler does anything."""
        return self.enabled

    def state_dict(self) -> dict[str, Any]:
        """The scale, the options and the count of finite steps, under PyTorch's names.

        Empty if the scaler is not enabled. Scale and count are arrays.
        """
        if not self.enabled:
            return {}
        return {
            "scale": self._scale,
            "growth_factor": self.growth_factor,
            "backoff_factor": self.backoff_factor,
            "growth_interval": self.growth_interval,
            "_growth_tracker": self._growth_tracker,
        }

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> Self:
        """The scaler that `state_dict` describes; this one stays.

        - `state_dict`: what `state_dict()` returned, of this class or of PyTorch's.

        Errors: RuntimeError where it is empty, because the saved scaler was not enabled.
        """
        if not self.enabled:
            return self
        if not state_dict:
            fail(
                "GradScaler.load_state_dict",
                "`state_dict` is empty: it is that of a scaler that was not enabled",
                hint="GradScaler(enabled=False) needs no state",
            )
        options = {name: state_dict[name] for name in _OPTIONS[:3]}
        loaded = type(self)(float(state_dict["scale"]), **options)
        return loaded._with(loaded._scale, jnp.asarray(state_dict["_growth_tracker"], "int32"))

    def _with(self, scale: Any, growth_tracker: Any) -> Self:
        return type(self).tree_unflatten(self.tree_flatten()[1], (scale, growth_tracker))

    def tree_flatten(self) -> tuple[tuple[Any, Any], tuple[Any, ...]]:
        """The two arrays, and the options."""
        options = tuple(getattr(self, name) for name in _OPTIONS)
        return (self._scale, self._growth_tracker), options

    def tree_flatten_with_keys(self) -> tuple[Any, tuple[Any, ...]]:
        """The same, the arrays with their names."""
        arrays, options = self.tree_flatten()
        names = map(jax.tree_util.GetAttrKey, ("scale", "growth_tracker"))
        return tuple(zip(names, arrays, strict=True)), options

    @classmethod
    def tree_unflatten(cls, options: tuple[Any, ...], arrays: Any) -> Self:
        """The scaler of two arrays, or of what a transform has in their place."""
        scaler = object.__new__(cls)
        vars(scaler).update(zip(_OPTIONS, options, strict=True))
        scaler._scale, scaler._growth_tracker = arrays
        return scaler

    def __repr__(self) -> str:
        options = ", ".join(f"{name}={getattr(self, name)}" for name in _OPTIONS)
        return f"GradScaler(scale={self._scale}, growth_tracker={self._growth_tracker}, {options})"


def _require(holds: bool, name: str, wanted: str, got: Any) -> None:
    if not holds:
        fail("GradScaler", f"`{name}` must be {wanted}, got {describe(got)}", error=ValueError)


def _has_gradient(x: Any) -> bool:
    """Whether `x` is an array of floating or complex numbers."""
    return isinstance(x, (Array, np.ndarray)) and kind_of(x) in ("real", "complex")


def _refuse_halves(grads: Any) -> None:
    for path, x in leaves_with_paths((grads,), ("grads",)):
        if _has_gradient(x) and x.dtype.name in _HALVES:
            fail(
                "GradScaler.unscale",
                f"gradients must be in float32 or wider, got {path} {describe(x)}: what was scaled "
                "would vanish in it again",
                hint="keep parameters in float32; in functx.amp.autocast products cast them",
                error=ValueError,
            )


def _chosen(skipped: Array, old: Any, new: Any) -> Any:
    if not isinstance(new, (Array, np.ndarray, np.generic, int, float, complex)):
        return new
    old, new = as_array(old), as_array(new)
    return lax.select(skipped, old, new)
