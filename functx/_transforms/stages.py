"""What `jit` shows of a program before it runs: `jax.stages`, without the generator's share."""

from __future__ import annotations

from typing import Any

import jax

from functx._core.randomness.ambient_generator import drawing


class _Stage:
    """One of JAX's stages, to which attributes that are not defined here are passed on."""

    def __init__(self, stage: Any):
        self._stage = stage

    def __getattr__(self, name: str) -> Any:
        if name == "_stage":  # of one that is being copied
            raise AttributeError(name)
        return getattr(self._stage, name)

    def __repr__(self) -> str:
        return repr(self._stage)

    @property
    def out_info(self) -> Any:
        """Shapes and dtypes of what the function returns."""
        return self._stage.out_info[0]

    @property
    def args_info(self) -> Any:
        """Shapes and dtypes of the arguments: a tuple and a dict."""
        args, kwargs = self._stage.args_info
        return args[1:], kwargs


class Traced(_Stage):
    """A traced function, as `jax.stages.Traced`; its `jaxpr` takes the generator's draw first."""

    _stage: jax.stages.Traced

    def lower(self, **options: Any) -> Lowered:
        """The program for XLA."""
        return Lowered(self._stage.lower(**options))


class Lowered(_Stage):
    """A lowered function, as `jax.stages.Lowered`."""

    _stage: jax.stages.Lowered

    def compile(self, **options: Any) -> Compiled:
        """The program, compiled."""
        return Compiled(self._stage.compile(**options))


class Compiled(_Stage):
    """A compiled function, as `jax.stages.Compiled`; calls draw from the ambient generator."""

    _stage: jax.stages.Compiled

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return drawing(self._stage, *args, **kwargs)
