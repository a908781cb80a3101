"""Bad input accepted: each call that must be refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp

from functx.testing.checks.refusals import refusals

from .mutant import Mutant
from .subject import Subject


def refusal_mutants(subject: Subject) -> Iterator[Mutant]:
    """One for each refusal."""
    for i, refusal in enumerate(refusals(subject.info)):

        def mutated(*args: Any, refusal: Any = refusal, **kwargs: Any) -> Any:
            try:
                return subject.info.op(*args, **kwargs)
            except refusal.error as error:
                if not re.search(refusal.match, str(error)):
                    raise
                return jnp.zeros(())

        mutated.__name__ = getattr(subject.info.op, "__name__", "mutated")
        if subject.calls.spec is not None:
            mutated.spec = subject.calls.spec  # pyright: ignore[reportFunctionMemberAccess]
        cells = (("refusals", subject.dtype),)
        yield Mutant("bad input accepted", f"refusal {i}", mutated, cells, lambda sample: True)
