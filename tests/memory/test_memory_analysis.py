"""What a function needs of memory, counted by hand and held against the compiler's own figures."""

from __future__ import annotations

import dataclasses
import pickle

import jax
import jax.numpy as jnp
import pytest
from jax import lax

import functx
from functx.memory import analyze


F = functx.nn.functional
HERE = __file__


def spec(*shape, dtype="float32"):
    return jax.ShapeDtypeStruct(shape, dtype)


def square(x):
    return functx.matmul(x, x)


X = spec(10, 10)  # of 400 bytes


def figures(report):
    return (
        report.argument_bytes,
        report.output_bytes,
        report.temporary_bytes,
        report.peak_bytes,
    )


def test_a_chain_of_products_needs_three_at_once():
    # x, x @ x and its square; x stays, as the caller holds it.
    assert figures(analyze(lambda x: square(square(square(x))), X)) == (400, 400, 800, 1200)


def test_what_is_computed_where_it_is_read_takes_nothing():
    f = lambda x: functx.sum(functx.exp(x) * 2)
    assert analyze(f, X).peak_bytes == 404
    # One by one: the argument, its exponential, twice that.
    assert analyze(f, X, fused=False).peak_bytes == 1200


def test_what_is_read_where_it_is_needed_lives_until_then():
    def f(x):
        y = square(x)
        z = functx.add(functx.mul(y, 2), 1)  # neither is in memory
        return functx.sum(square(square(x))) + functx.sum(z)

    assert analyze(f, X).peak_bytes == 4 * 400


def test_a_product_reads_a_transposed_operand_where_it_is():
    assert analyze(lambda x: functx.matmul(x, functx.t(x)), X).peak_bytes == 800


def sums(x):
    return functx.sum(x), functx.mean(x)


@pytest.mark.parametrize(
    "f, bytes",
    [
        (lambda x: square(functx.exp(x)), 1200),  # products read memory
        (lambda x: sums(functx.exp(x)), 808),  # several read it, and it is dear
        (lambda x: sums(x * functx.t(x)), 808),  # or has two operands
        (lambda x: sums(-x), 412),
    ],
)
def test_what_is_read_from_memory_takes_some(f, bytes):
    assert analyze(f, X).peak_bytes == bytes


def test_buffers_live_from_the_step_that_makes_them_to_the_last_that_reads_them():
    def f(x):
        a = square(x)
        b = square(a)
        return functx.matmul(a, b)

    report = analyze(f, X)
    a, b, out = (x for x in report.buffers if x.kind != "argument")
    assert (a.first, a.last, b.first, b.last, out.first) == (0, 2, 1, 2, 2)
    assert out.last == len(report.steps) - 1
    assert [step.bytes for step in report.steps] == [800, 1200, 1600, 800]
    assert report.peak_step == 2 and report.alive(1) == tuple(
        x for x in report.buffers if x is not out
    )


def test_operators_are_told_with_lines_and_forward_from_backward():
    def layer(w, x):
        return functx.exp(functx.matmul(x, w))

    def loss(w, x):
        return functx.sum(layer(w, x))

    report = analyze(functx.grad(loss), spec(64, 8), spec(100, 64))
    made = {(x.operator, x.phase): x for x in report.largest}
    assert made.keys() == {("matmul", "forward"), ("exp", "backward")}
    line = made["exp", "backward"].line
    assert (line.file, line.line) == (HERE, layer.__code__.co_firstlineno + 1)
    assert {x.operator for x in report.at_peak if x.kind == "argument"} == {"args[0]", "args[1]"}


def test_what_a_checkpoint_computes_again_is_told_apart():
    def block(w, x):
        return functx.tanh(functx.matmul(x, w))

    def loss(wrap, w, x):
        run = wrap(block)
        return lax.scan(lambda c, _: (run(w, c), None), x, None, length=4)[0].sum()

    plain, wrapped = (
        analyze(functx.grad(lambda w, x, wrap=wrap: loss(wrap, w, x)), spec(8, 8), spec(50, 8))
        for wrap in (lambda f: f, functx.checkpoint)
    )
    assert {x.phase for x in plain.buffers} == {"", "forward", "backward"}
    assert {x.phase for x in wrapped.buffers} == {"", "forward", "backward", "recomputed"}
    again = {x.operator for x in wrapped.buffers if x.phase == "recomputed"}
    assert again == {"matmul"}  # the tanh of it is computed where it is read
    inside = {x.inside for x in wrapped.buffers if x.phase == "recomputed"}
    assert inside == {"scan"}


def test_a_planned_checkpoint_is_told_apart_too():
    def loss(w, x):
        for _ in range(4):
            x = functx.tanh(functx.matmul(x, w))
        return functx.sum(x * x)

    wrapped = functx.checkpoint(loss, budget=0.7)
    report = analyze(functx.grad(wrapped), spec(8, 8), spec(50, 8))
    assert "recomputed" in {x.phase for x in report.buffers}
    assert report.peak_bytes < analyze(functx.grad(loss), spec(8, 8), spec(50, 8)).peak_bytes


def test_the_body_of_a_scan_holds_what_comes_from_outside():
    def f(w, xs):
        def body(carry, x):
            y = functx.matmul(functx.matmul(carry, w), w)
            return y, functx.sum(y)

        return lax.scan(body, xs[0], xs)

    # Arguments (400 and 2000), the stacked sums; in the body a product and what it is made of.
    report = analyze(f, X, spec(5, 10, 10))
    assert report.peak_bytes == 2400 + 20 + 2 * 400
    peak = report.steps[report.peak_step]
    assert (peak.operator, peak.inside) == ("matmul", "scan")
    (first,) = {x.first for x in report.buffers if x.operator == "sum" and x.kind == "output"}
    assert first < report.peak_step  # what is stacked is there from the beginning


def test_what_a_loop_reads_lives_until_it_is_over():
    def f(x):
        y = square(x)
        step = lambda i, c: functx.matmul(functx.matmul(c, c), y)
        return lax.fori_loop(0, 3, step, x) + 1

    report = analyze(f, X)
    y = next(x for x in report.buffers if x.operator == "matmul" and not x.inside)
    inner = [x for x in report.buffers if x.operator == "matmul" and x.inside]
    assert y.last > max(x.last for x in inner)


def test_a_while_loop_counts_its_condition_and_its_body():
    def f(x):
        going = lambda c: functx.sum(square(square(c))) < 1
        return lax.while_loop(going, lambda c: c + 1, x)

    report = analyze(f, X)
    assert report.steps[report.peak_step].inside == "while"
    assert report.peak_bytes == 400 + 3 * 400  # the carry, and two products of the condition


def test_of_a_cond_the_branch_counts_that_needs_the_most():
    def f(first, second):
        return lambda p, x: lax.cond(p, first, second, x)

    twice, once = lambda x: square(square(x)), lambda x: square(x)
    p = spec(dtype="bool")
    assert analyze(f(once, once), p, X).peak_bytes == 1 + 4 + 800
    assert analyze(f(twice, once), p, X).peak_bytes == 1 + 4 + 1200
    assert analyze(f(once, twice), p, X).peak_bytes == 1 + 4 + 1200
    (output,) = (x for x in analyze(f(once, twice), p, X).buffers if x.kind == "output")
    assert (output.operator, output.inside) == ("matmul", "")


def test_a_returned_argument_and_what_is_returned_twice_are_copies():
    def f(x):
        y = square(x)
        return x, y, y

    assert figures(analyze(f, X)) == (400, 1200, 0, 1600)
    assert analyze(lambda: jnp.ones(3), fused=True).output_bytes == 8 * 3


def test_a_donated_argument_makes_room():
    step = lambda x: square(square(x))
    plain, donating = analyze(jax.jit(step), X), analyze(jax.jit(step, donate_argnums=0), X)
    assert (plain.peak_bytes, donating.peak_bytes) == (1200, 800)
    own = functx.jit(step, donate_argnums=0)
    assert analyze(own, X).peak_bytes == 800
    assert analyze(own, X, compiled=True).compiled.alias_bytes == 400


def test_a_donated_argument_that_is_read_later_makes_no_room():
    def f(x):
        y = square(x)
        return y, functx.matmul(x[:1], x)

    assert analyze(jax.jit(f, donate_argnums=0), X).peak_bytes >= 800


def test_constants_and_dead_code():
    y = jnp.ones((10, 10), "float32")

    def f(x):
        square(square(x))
        return functx.matmul(x, y)

    report = analyze(f, X)
    assert report.constant_bytes == 400 and report.peak_bytes == 1200
    assert len(report.steps) == 2  # the product, and the return


def test_nothing_is_run_and_no_random_number_used_up():
    runs = []

    def f(x):
        jax.debug.callback(lambda: runs.append(1))
        return functx.sum(functx.rand(10) * x)

    functx.manual_seed(0)
    want = functx.rand(2)
    functx.manual_seed(0)
    report = analyze(f, spec(10))
    assert (functx.rand(2) == want).all() and not runs
    assert "the random generator" in {x.operator for x in report.buffers}
    assert "the random generator" not in {x.operator for x in analyze(square, X).buffers}


def test_keyword_arguments_trees_and_static_leaves():
    report = analyze(
        lambda p, *, mode, n: functx.sum(p["w"][0]) * n if mode == "a" else 0,
        {"w": [spec(4), None]},
        mode="a",
        n=spec(2),
    )
    names = {x.operator for x in report.buffers if x.kind == "argument"}
    assert names == {"args[0]['w'][0]", "kwargs['n']"}


def test_what_needs_nothing():
    assert figures(analyze(lambda: None)) == (0, 0, 0, 0)
    assert figures(analyze(lambda x: x + 1, spec(0, 3))) == (0, 0, 0, 0)
    assert str(analyze(lambda: None))


def test_inside_of_jit_and_vmap_it_sees_what_they_trace():
    seen = []

    def f(x):
        seen.append(analyze(square, x, compiled=True))
        return x

    jax.jit(f)(jnp.ones((10, 10), "float32"))
    jax.vmap(f)(jnp.ones((7, 10, 10), "float32"))
    assert [report.peak_bytes for report in seen] == [800, 800]
    assert [report.compiled.total_bytes for report in seen] == [800, 800]


def test_symbolic_sizes_count():
    n = jax.export.symbolic_shape("n")[0]
    assert analyze(lambda x: functx.sum(x), spec(n)).argument_bytes == 4 * 64


def network(weights, x):
    for w in weights:
        x = x + F.gelu(functx.matmul(F.layer_norm(x, (64,)), w))
    return functx.mean(x * x)


def conv(w, x):
    return functx.sum(F.relu(F.conv2d(F.relu(F.conv2d(x, w)), w)) ** 2)


def attention(x):
    return functx.sum(F.scaled_dot_product_attention(x, x, x) ** 2)


def recurrent(w, xs):
    step = lambda h, x: (functx.tanh(functx.matmul(h, w) + x),) * 2
    return functx.sum(lax.scan(step, xs[0], xs)[1] ** 2)


@pytest.mark.parametrize(
    "f, args",
    [
        (functx.grad(network), ([spec(64, 64)] * 3, spec(128, 64))),
        (functx.grad(conv), (spec(8, 8, 3, 3), spec(2, 8, 64, 64))),
        (functx.grad(attention), (spec(2, 1, 64, 16),)),
        (functx.grad(recurrent), (spec(16, 16), spec(20, 8, 16))),
        (functx.vmap(functx.grad(network), in_dims=(None, 0)), ([spec(64, 64)], spec(8, 4, 64))),
        (jax.jit(lambda x: lax.fori_loop(0, 9, lambda i, x: square(x), x)), (spec(64, 64),)),
    ],
    ids=["MLP", "CNN", "attention", "RNN", "vmap", "loop"],
)
def test_the_compiler_agrees_within_a_factor_of_two(f, args):
    report = analyze(f, *args, compiled=True)
    assert 0.5 <= report.peak_bytes / report.compiled.total_bytes <= 2
    assert report.compiled.argument_bytes == report.argument_bytes


def test_the_table_is_eighty_columns_wide_and_says_the_most():
    report = analyze(functx.grad(network), [spec(64, 64)] * 3, spec(128, 64), compiled=True)
    lines = str(report).splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0] == f"network: at most {report.peak_bytes:,} bytes at once"
    (row,) = (line for line in lines if "args[0][*]" in line)
    assert row.split()[:4] == ["49,152", "3", "x", "f32[64,64]"]
    assert "layer_norm" in str(report) and "backward" in str(report)
    assert f"compiled for cpu: {report.compiled.total_bytes:,} bytes" in lines
    short = report.table(rows=2).splitlines()
    assert any("others" in line for line in short) and len(short) < len(lines)


def test_a_report_never_changes_and_is_pickled():
    report = analyze(functx.grad(network), [spec(64, 64)], spec(128, 64), compiled=True)
    assert pickle.loads(pickle.dumps(report)) == report
    with pytest.raises(dataclasses.FrozenInstanceError):
        report.peak_bytes = 0


def test_errors_name_the_function():
    with pytest.raises(TypeError, match=r"^memory\.analyze: `func` must be callable, got 3"):
        analyze(3)
    with pytest.raises(TypeError, match=r"^memory\.analyze: `fused` must be a bool, got 1"):
        analyze(square, X, fused=1)
    with pytest.raises(jax.errors.TracerBoolConversionError, match=r"memory\.analyze: `func` asks"):
        analyze(lambda x: x if x.sum() > 0 else -x, X)


def test_a_product_that_broadcasts_does_not_write_its_operands_out():
    a, b = spec(1, 32, 32), spec(24, 32, 1)
    wide = lambda a, b: functx.bmm(functx.expand(a, (24, 32, 32)), b)
    reports = [analyze(f, a, b, compiled=True) for f in (functx.matmul, wide)]
    assert [report.peak_bytes for report in reports] == [7168 + 2 * 3072, 7168 + 101376]
    assert [report.compiled.temporary_bytes for report in reports] == [3072, 101376]
