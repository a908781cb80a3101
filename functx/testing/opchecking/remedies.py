"""What to do where a check fails, if the message does not say it."""

from __future__ import annotations

from .failures import is_disagreement


_PURE = "make it a function of its arguments alone: no globals, caches, clocks or NumPy generators"
_LANES = (
    "a lane must depend on nothing but its own arguments: look at the batching rule, if there is "
    "one (`vmap` of a functx.Function, jax.custom_batching.custom_vmap), and at reductions and "
    "reshapes that count dimensions"
)
_MODES = (
    "one of the rules is wrong: `jvp` and `backward` must be each other's transposes; gradcheck "
    "says which is not the derivative of the values"
)
_DIFFERENCES = "the derivative rule is not the derivative of the values: a factor, a sign, a term"
_SECOND = (
    "the rule is right in values, and its own derivative wrong: it cuts something off "
    "(stop_gradient, NumPy, a value that was kept though it depends on the arguments)"
)
_DISAGREEMENTS = {
    "call": "call it with arguments that it takes; return an array, or a tree of arrays; of a "
    "functx.Function, pass its `apply`",
    "repeat": "pass the randomness in: a `key` argument, as of functx.rand(3, key=key); else "
    + _PURE,
    "jit": f"under jit it gives something else: it asks whether it is traced, or keeps state; "
    f"{_PURE}",
    "layouts": "it looks at where or how an argument is stored (`committed`, `sharding`): what it "
    "returns must depend on values alone",
    "vmap_rule": "write the batching rule with a dimension of lanes, or jax.lax.map, instead of a "
    "Python loop over lanes",
    "pullback_at_zero": "the reverse rule must be linear in the cotangent: no test for zeros in it",
    "hessian_in_scan": "the rule must be the same when it is recorded: no branch on tracers in it",
    "jet": "it asks whether it is traced, or calls what jax.experimental.jet has no exact rule "
    "for; functx's operators and functx.Function have one",
    "symbolic_values": "it asks whether sizes are equal, and a symbolic size answers no where it "
    "does not know: what it does then must be right for all sizes",
    "strict": "convert what is mixed with astype, or with functx's operators, which promote",
    "second_gradient": _SECOND,
    "gradgradcheck": _SECOND,
    "gradient": _DIFFERENCES,
    "gradcheck": _DIFFERENCES,
}
_RAISED = {
    "forward": "mend its forward rule, or give it one: functx.Function has both modes from either "
    "rule; modes=('reverse',) leaves forward mode out",
    "reverse": "mend its reverse rule, or give it one: functx.Function has both modes from either "
    "rule; modes=('forward',) leaves reverse mode out",
    "call": "call it with arguments that it takes",
    "jet": "jax.experimental.jet takes no jax.custom_jvp, and has no rule for some primitives: "
    "functx's operators and functx.Function have one",
    "symbolic": "ask of a symbolic size only what is true of all sizes; jnp.asarray(x.shape[0]) is "
    "its value in the program, int(x.shape[0]) and np.prod(x.shape) raise",
}
_UNMAPPED = (
    "call what maps: functx's operators and jax.numpy's; what does not needs a rule (`vmap` of a "
    "functx.Function, jax.custom_batching.custom_vmap, `vmap_method` of jax.pure_callback)"
)


def remedy_for(check: str, error: Exception) -> str:
    """What to do about `error`, which the check gave."""
    if not is_disagreement(error):
        return _RAISED.get(check, _UNMAPPED if "vmap" in check else "")
    if "= nan" in str(error):
        return "a derivative is no number here: mend it, or give arguments where f is smooth"
    general = _LANES if "vmap" in check else _MODES
    return _DISAGREEMENTS.get(check, general)
