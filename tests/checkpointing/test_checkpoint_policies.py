"""What a policy saves is there in the backward pass, and what it does not is computed again."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.ad_checkpoint import checkpoint_name

import functx
from functx._core.rules.custom_derivatives import derivative_rules
from functx._transforms.checkpointing import naming, operators
from functx._transforms.programs.walking import equations
from functx.checkpointing import CheckpointPolicy


F = functx.nn.functional
SQUARE = jax.ShapeDtypeStruct((8, 8), np.float64)
BYTES = 8 * 8 * 8  # of one such array


def network(w, x):
    return functx.matmul(functx.exp(functx.matmul(functx.sin(functx.matmul(x, w)), w)), w).sum()


def recomputed(f, *args, policy=None):
    return dict(
        functx.checkpointing.checkpoint_report(
            functx.checkpoint(f, policy=policy), *args
        ).recomputed
    )


def products(f, *args):
    """The matrix products in forward and backward pass together, operators or not."""
    program = jax.make_jaxpr(jax.grad(f))(*args)
    return sum(eqn.primitive.name == "dot_general" for eqn in equations(program.jaxpr))


def test_saved_operators_are_not_computed_again_and_others_are():
    everything = {"matmul": 2, "sin": 1, "exp": 1}
    assert recomputed(network, SQUARE, SQUARE) == everything
    assert recomputed(network, SQUARE, SQUARE, policy=[]) == everything
    assert recomputed(network, SQUARE, SQUARE, policy=["matmul"]) == {"sin": 1, "exp": 1}
    assert recomputed(network, SQUARE, SQUARE, policy=[functx.exp]) == {"matmul": 1, "sin": 1}
    assert recomputed(network, SQUARE, SQUARE, policy=list(everything)) == {}
    report = functx.checkpointing.checkpoint_report(network, SQUARE, SQUARE)
    assert report.forward == {"matmul": 3, "sin": 1, "exp": 1} and not report.recomputed


def test_the_program_itself_has_the_products_that_the_report_counts():
    plain = products(network, SQUARE, SQUARE)
    counts = {
        policy: products(functx.checkpoint(network, policy=policy), SQUARE, SQUARE) - plain
        for policy in (None, ("matmul",), ("exp",), ("sin",))
    }
    assert counts == {None: 2, ("matmul",): 0, ("exp",): 1, ("sin",): 2}


def test_residuals_are_what_the_policy_saves():
    def kept(policy):
        f = functx.checkpoint(network, policy=policy)
        return functx.checkpointing.checkpoint_report(f, SQUARE, SQUARE).residual_bytes

    assert [kept(None), kept(["matmul"]), kept(["exp"])] == [0, 2 * BYTES, BYTES]
    everything = functx.checkpointing.checkpoint_report(network, SQUARE, SQUARE).residual_bytes
    assert kept(["matmul"]) < everything
    _, pull = jax.eval_shape(
        lambda w, x: jax.vjp(functx.checkpoint(network, policy=["matmul"]), w, x), SQUARE, SQUARE
    )
    assert sum(x.size * 8 for x in jax.tree.leaves(pull)) == (2 + 2) * BYTES, "and two arguments"


def test_the_compiled_program_needs_less_memory():
    def temporary(wrap):
        layer = wrap(lambda x, w: (functx.tanh(functx.matmul(functx.sin(x), w)), None))
        loss = lambda ws, x: lax.scan(layer, x, ws)[0].sum()
        ws, x = (jax.ShapeDtypeStruct(shape, np.float32) for shape in [(8, 16, 16), (4096, 16)])
        compiled = jax.jit(jax.grad(loss)).lower(ws, x).compile()
        return compiled.memory_analysis().temp_size_in_bytes

    assert temporary(functx.checkpoint) < 0.6 * temporary(lambda f: f)


def test_the_compiled_program_is_that_of_jax():
    def instructions(checkpointed):
        lowered = jax.jit(jax.grad(checkpointed)).lower(SQUARE, SQUARE)
        return lowered.compile().as_text().count(" = ")

    dots = jax.checkpoint_policies.dots_saveable
    ours, theirs = functx.checkpoint(network), jax.checkpoint(network)
    assert instructions(ours) == instructions(theirs)
    ours = functx.checkpoint(network, policy=["matmul"])
    assert instructions(ours) == instructions(jax.checkpoint(network, policy=dots))


def test_nothing_is_computed_that_the_backward_pass_does_not_need():
    def trailing(x):
        return functx.add(functx.sin(functx.exp(x)), 1.0).sum()

    assert recomputed(trailing, SQUARE) == {"exp": 1}
    assert recomputed(lambda x: functx.add(functx.mul(x, 3.0), x).sum(), SQUARE) == {}


def test_an_operator_of_several_results_is_saved_as_a_unit():
    def f(x):
        spread, centre = functx.var_mean(functx.sin(x))
        return (spread * spread + centre * centre * functx.exp(x)).sum()

    report = functx.checkpointing.checkpoint_report(
        functx.checkpoint(f, policy=["var_mean"]), SQUARE
    )
    assert report.recomputed == {"sin": 1, "exp": 1} and report.residual_bytes < 40
    assert recomputed(f, SQUARE) == {"sin": 1, "exp": 1, "var_mean": 1}


def test_integer_results_are_saved():
    def f(x):
        return (x * functx.gather(x, 0, functx.argsort(functx.sin(x), 0))).sum()

    assert recomputed(f, SQUARE, policy=["argsort"]) == {"gather": 1}
    assert recomputed(f, SQUARE) == {"gather": 1, "argsort": 1, "sin": 1}


OWN = ["exp", "exp2", "sqrt", "log_softmax", "linalg.cholesky", "linalg.svd", "linalg.inv"]
OWN += ["softmax", "layer_norm", "linalg.norm", "var", "sort", "max"]
OPERATORS = functx._core.OPERATORS
OPTIONS = {
    "softmax": {"dim": 0},
    "log_softmax": {"dim": 0},
    "layer_norm": {"normalized_shape": (3,)},
    "max": {"dim": 0},
}


@pytest.mark.parametrize("name", OWN)
def test_a_saved_operator_has_what_its_own_derivative_reads(name):
    operator = OPERATORS.get(name) or OPERATORS[f"nn.functional.{name}"]
    f = lambda x: operator(functx.mul(x, x), **OPTIONS.get(name, {}))
    assert recomputed(f, np.eye(3)) == {"mul": 1, operator.spec.name: 1}, "where nothing is saved"
    assert recomputed(f, np.eye(3), policy=[operator]).get(operator.spec.name) is None


def test_random_numbers_are_saved_with_their_operator():
    f = lambda x: (functx.nn.functional.dropout(functx.sin(x)) ** 2).sum()
    assert recomputed(f, SQUARE) == {"sin": 1, "nn.functional.dropout": 1}
    assert recomputed(f, SQUARE, policy=["nn.functional.dropout"]) == {}


def test_of_attention_the_results_are_saved_and_not_the_weights():
    def attention(q, k, v):
        return F.scaled_dot_product_attention(q, k, v).sum()

    def kept(rows):
        shapes = [jax.ShapeDtypeStruct((2, rows, 16), np.float32)] * 3
        f = functx.checkpoint(attention, policy=["nn.functional.scaled_dot_product_attention"])
        return functx.checkpointing.checkpoint_report(f, *shapes).residual_bytes

    assert kept(1024) < 2 * 1024 * 16 * 4 * 2, "the weights take 8 MB"


def test_what_is_not_differentiated_is_saved_too():
    def f(x, y):
        return (x * functx.matmul(functx.sin(lax.stop_gradient(y)), y)).sum()

    x = jnp.ones((3, 3))
    saving = functx.checkpoint(f, policy=["matmul"])
    program = jax.make_jaxpr(jax.grad(lambda x: saving(x, MATRIX)))(x)
    assert sum(eqn.primitive.name == "dot_general" for eqn in equations(program.jaxpr)) == 1
    assert recomputed(lambda x: f(x, MATRIX), x, policy=["matmul"]) == {}
    assert recomputed(lambda x: f(x, MATRIX), x) == {"matmul": 1, "sin": 1}


MATRIX = np.arange(9.0).reshape(3, 3)


def test_policies_look_into_loops_branches_and_compiled_functions():
    layer = lambda w, x: functx.exp(functx.matmul(x, w))

    def loop(w, x):
        return lax.scan(lambda c, _: (layer(w, c), None), x, length=5)[0].sum()

    def branch(w, x):
        return lax.cond(x[0, 0] > 0, layer, lambda w, x: functx.matmul(w, x), w, x).sum()

    def called(w, x):
        return jax.jit(layer)(w, jax.jit(layer)(w, x)).sum()

    assert recomputed(loop, SQUARE, SQUARE) == {"matmul": 5, "exp": 5}
    assert recomputed(loop, SQUARE, SQUARE, policy=["matmul"]) == {"exp": 5}
    assert recomputed(loop, SQUARE, SQUARE, policy=["matmul", "exp"]) == {}
    assert recomputed(branch, SQUARE, SQUARE) == {"matmul": 1, "exp": 1}
    assert recomputed(branch, SQUARE, SQUARE, policy=["exp"]) == {}
    assert recomputed(called, SQUARE, SQUARE) == {"matmul": 2, "exp": 2}
    assert recomputed(called, SQUARE, SQUARE, policy=["matmul"]) == {"exp": 2}


def test_a_checkpoint_as_the_body_of_a_loop():
    layer = lambda w, x: functx.exp(functx.matmul(functx.sin(x), w))

    def loss(w, x, policy):
        body = functx.checkpoint(layer, policy=policy, prevent_cse=False)
        return lax.scan(lambda c, _: (body(w, c), None), x, length=5)[0].sum()

    reports = [
        functx.checkpointing.checkpoint_report(
            lambda w, x, policy=policy: loss(w, x, policy), SQUARE, SQUARE
        )
        for policy in (None, ["matmul"])
    ]
    assert reports[0].recomputed == {"matmul": 5, "sin": 5, "exp": 5}
    assert reports[1].recomputed == {"sin": 5, "exp": 5}
    assert reports[0].residual_bytes >= 5 * BYTES, "the carry"
    assert reports[1].residual_bytes == reports[0].residual_bytes + 5 * BYTES


def test_every_checkpoint_of_a_nest_decides_for_itself():
    def nest(outer, inner):
        inside = functx.checkpoint(lambda x: functx.exp(functx.sqrt(functx.sin(x))), policy=inner)
        f = functx.checkpoint(lambda x: inside(functx.mul(x, x)).sum(), policy=outer)
        report = functx.checkpointing.checkpoint_report(f, SQUARE)
        return dict(report.recomputed), report.residual_bytes // BYTES

    nothing = {"mul": 1, "sin": 1, "sqrt": 1, "exp": 1}
    assert nest(None, None) == (nothing, 0)
    assert nest(["sqrt"], None) == ({"mul": 1, "exp": 1}, 1)
    assert nest(["sqrt"], ["sqrt"]) == ({"mul": 1, "exp": 1}, 1)
    assert nest(None, ["sqrt"])[1] == 0, "what the inner one saves, the outer one computes again"
    assert nest(["exp"], ["sqrt"])[1] == 1


def test_a_policy_is_asked_for_each_call_in_order():
    calls = []

    def every_second(operator, *avals):
        calls.append((operator, [x.shape for x in avals]))
        return operator is functx.matmul and len(calls) % 2 == 1

    def f(w, x):
        for _ in range(4):
            x = functx.matmul(x, w)
        return functx.sum(functx.sin(x))

    kept = functx.checkpoint(f, policy=every_second)
    kept(np.eye(2), np.ones((3, 2)))
    shapes = [(3, 2), (2, 2)]
    assert calls[:4] == [(functx.matmul, shapes)] * 4
    assert [operator for operator, _ in calls[4:]] == [functx.sin, functx.sum]
    calls.clear()
    assert functx.checkpointing.checkpoint_report(kept, np.eye(2), np.ones((3, 2))).recomputed == {
        "matmul": 2
    }


def test_what_becomes_of_a_program_is_kept_with_it():
    layer = jax.jit(lambda x: functx.sin(functx.sin(x)))
    lengths = []
    for _ in range(2):
        kept = functx.checkpoint(lambda x: layer(x), policy=lambda *_: True)
        kept(np.ones(3))
        lengths.append((len(naming._made), operators.named_operator.cache_info().misses))
    assert lengths[0] == lengths[1], "so that eager calls compile once"


ANSWERS = {
    CheckpointPolicy.MUST_SAVE: {},
    CheckpointPolicy.PREFER_SAVE: {},
    CheckpointPolicy.MUST_RECOMPUTE: {"exp": 1},
    CheckpointPolicy.PREFER_RECOMPUTE: {"exp": 1},
    True: {},
    False: {"exp": 1},
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_answers_of_a_policy(answer):
    def policy(operator, *avals):
        return answer if operator.__name__ == "exp" else CheckpointPolicy.PREFER_RECOMPUTE

    f = lambda x: functx.sin(functx.exp(x)).sum()
    assert recomputed(f, SQUARE, policy=policy) == ANSWERS[answer]


def test_policies_of_jax_decide_by_primitives():
    policies = jax.checkpoint_policies
    assert recomputed(network, SQUARE, SQUARE, policy=policies.everything_saveable) == {}
    for policy in (
        policies.dots_saveable,
        policies.dots_with_no_batch_dims_saveable,
        policies.save_from_both_policies(policies.dots_saveable, policies.nothing_saveable),
    ):
        assert recomputed(network, SQUARE, SQUARE, policy=policy) == {"sin": 1, "exp": 1}
    f = lambda x: functx.sin(checkpoint_name(functx.add(x, x), "mine")).sum()
    assert recomputed(f, SQUARE) == {"add": 1}
    assert recomputed(f, SQUARE, policy=policies.save_only_these_names("mine")) == {}


def test_a_function_with_own_rules_is_one_unit():
    def forward(x):
        return functx.sin(functx.sin(x))

    own = derivative_rules(forward, jvp=lambda p, y, t: y * t[0], name="own")
    f = lambda x: functx.exp(own(functx.cos(x))).sum()
    saved = functx.checkpoint(f, policy=["sin"])
    program = str(jax.make_jaxpr(jax.grad(saved))(np.ones(3)))
    assert program.count("function_call[call=own]") == 2, "forward, and again"


def test_aliases_and_other_containers_of_operators():
    f = lambda x: functx.absolute(functx.arccos(x)).sum()
    for policy in (("arccos",), {"acos"}, frozenset([functx.arccos]), [functx.acos]):
        assert recomputed(f, SQUARE, policy=policy) == {}


BAD = [
    ("matmul", TypeError, r"either a function or a list of ops, got 'matmul' alone"),
    (functx.matmul, TypeError, r"list of ops, got functx.matmul alone\n.*\[functx.matmul\]"),
    (np.ones(2), TypeError, r"`policy` must be either a function or a list of ops, got f64\[2\]"),
    (CheckpointPolicy.MUST_SAVE, TypeError, "either a function or a list of ops"),
    ([jnp.sin], ValueError, "each op in `policy` to be an operator of functx"),
    ([functx.sin, lax.sin_p], ValueError, "each op in `policy` to be an operator of functx"),
    (["matmull"], ValueError, "got 'matmull'\n.*did you mean 'matmul'"),
]


@pytest.mark.parametrize("policy, error, message", BAD)
def test_bad_policies(policy, error, message):
    with pytest.raises(error, match=f"checkpoint: .*{message}"):
        functx.checkpoint(functx.sin, policy=policy)


def test_bad_answers_of_a_policy():
    kept = functx.checkpoint(lambda x: functx.sin(x), policy=lambda operator, *avals: "save")
    message = "`policy` must return a CheckpointPolicy or a bool, got 'save' for sin"
    with pytest.raises(TypeError, match=f"checkpoint: {message}"):
        kept(1.0)

    def failing(operator, *avals):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        functx.checkpoint(functx.sin, policy=failing)(1.0)
