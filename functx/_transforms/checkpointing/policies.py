"""Which results of operators a checkpoint saves, and which the backward pass computes again."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any, TypeAlias

from functx._core import describe, fail, nearest, OPERATORS, OpSpec, REGISTRY


__all__ = ["CheckpointPolicy"]

Decide: TypeAlias = Callable[..., bool]  # of an operator's name and the types of its arrays


class CheckpointPolicy(enum.Enum):
    """What a policy answers for one call of an operator: keep its results or not.

    - `MUST_SAVE`, `PREFER_SAVE`: the results of the call are saved.
    - `MUST_RECOMPUTE`, `PREFER_RECOMPUTE`: the backward pass computes the results again.

    Nothing overrules a policy, so what it prefers is done.

    >>> functx.checkpointing.CheckpointPolicy.MUST_SAVE.saves
    True
    """

    MUST_SAVE = enum.auto()
    PREFER_SAVE = enum.auto()
    MUST_RECOMPUTE = enum.auto()
    PREFER_RECOMPUTE = enum.auto()

    @property
    def saves(self) -> bool:
        """Whether results are saved."""
        return self in (CheckpointPolicy.MUST_SAVE, CheckpointPolicy.PREFER_SAVE)


def is_jax_policy(policy: Any) -> bool:
    """Whether `policy` is one of `jax.checkpoint_policies`, which decide by primitives."""
    made_by = getattr(policy, "__module__", None) or type(policy).__module__
    return callable(policy) and made_by.partition(".")[0] == "jax"


def decision(who: str, policy: Any) -> Decide:
    """The policy of a user as a function of an operator's name and the types of its arrays."""
    if isinstance(policy, str) or isinstance(getattr(policy, "spec", None), OpSpec):
        fail(
            who,
            f"`policy` must be either a function or a list of ops, got {_shown(policy)} alone",
            hint=f"policy=[{_shown(policy)}] saves its results",
            error=TypeError,
        )
    if isinstance(policy, (list, tuple, set, frozenset)):
        saved = frozenset(_operator_name(who, item) for item in policy)
        return lambda name, *avals: name in saved
    if not callable(policy):
        fail(
            who,
            f"`policy` must be either a function or a list of ops, got {describe(policy)}",
            error=TypeError,
        )

    def decide(name: str, *avals: Any) -> bool:
        answer = policy(OPERATORS[name], *avals)
        if isinstance(answer, CheckpointPolicy):
            return answer.saves
        if isinstance(answer, bool):
            return answer
        fail(
            who,
            f"`policy` must return a CheckpointPolicy or a bool, got {describe(answer)} for {name}",
            error=TypeError,
        )

    return decide


def _operator_name(who: str, item: Any) -> str:
    spec = getattr(item, "spec", None)
    if isinstance(spec, OpSpec):
        return spec.name
    hint = "policy=function decides by anything else; jax.checkpoint_policies by primitives"
    if isinstance(item, str):
        names = {alias: spec.name for spec in REGISTRY.values() for alias in spec.aliases}
        names |= {name: name for name in REGISTRY}
        if item in names:
            return names[item]
        hint = nearest(item, names) or hint
    fail(
        who,
        f"expected each op in `policy` to be an operator of functx, or its name, got "
        f"{describe(item)}",
        hint=hint,
        error=ValueError,
    )


def _shown(policy: Any) -> str:
    return repr(policy) if isinstance(policy, str) else f"functx.{policy.spec.name}"
