"""Profiles of small programs: what occurs in them, and never for how long."""

import gzip
import json
import math
import pickle
import re
import sys
import threading
from pathlib import Path

import jax
import jax.numpy as jnp
import programs
import pytest
from compiling import compiling_anew

import functx
from functx._profiling import flames
from functx._profiling.tables import shown_seconds
from functx.profiler import profile, record_function


F = functx.nn.functional
SOURCE = Path(programs.__file__).read_text().splitlines()


def line(word):
    """How tables name the line of `programs.py` that ends with that word."""
    [at] = [i for i, text in enumerate(SOURCE, 1) if text.endswith(f"# line: {word}")]
    return f"programs.py:{at} "


@pytest.fixture(scope="module", autouse=True)
def anew():
    with compiling_anew():
        yield


def profiled(function, *args, times=1):
    """A profile of so many calls of the compiled function, and of nothing else."""
    compiled = jax.jit(function).lower(*args).compile()
    jax.block_until_ready(compiled(*args))
    with profile() as p:
        results = [compiled(*args) for _ in range(times)]
    assert results
    return p


X = jnp.linspace(-1, 1, 24, dtype="float32").reshape(4, 6)
W = jnp.linspace(0, 1, 30, dtype="float32").reshape(6, 5)
LABELS = jnp.arange(4)


@pytest.fixture(scope="module")
def of_gradient():
    compiled = jax.jit(functx.grad(programs.loss)).lower(W, X, LABELS).compile()
    results = []
    with profile() as p:
        for _ in range(3):
            with record_function("step"):
                results.append(compiled(W, X, LABELS))
    return p


def phases(table):
    return {(row.name, row.phase) for row in table}


def test_operators_forward_and_backward(of_gradient):
    found = phases(of_gradient.by_operator())
    for name in ("nn.functional.gelu", "nn.functional.cross_entropy", "lax.dot_general"):
        assert {(name, "forward"), (name, "backward")} <= found
    assert {phase for _, phase in found} == {"forward", "backward"}
    assert {row.name for row in of_gradient.by_transform()} == {"forward", "backward"}
    assert {row.phase for row in of_gradient.by_operator(phases=False)} == {""}


def test_calls_are_counted_for_each_phase(of_gradient):
    for row in of_gradient.by_operator():
        if row.name.startswith("nn."):
            assert row.calls == 3, row
            assert row.kernels >= 3


def test_the_same_operator_on_two_lines_is_two_calls():
    def twice(x):
        y = F.gelu(x)
        return F.gelu(y)

    [row] = profiled(twice, X, times=2).by_operator().named("nn.functional.gelu")
    assert row.calls == 4


def test_lines(of_gradient):
    table = of_gradient.by_line()
    names = [row.name for row in table]
    for word in ("gelu", "hidden", "entropy"):
        assert any(name.startswith(line(word)) for name in names), (word, names)
    rows = {row.name: row for row in table}
    caller = rows[line("hidden") + "loss"]
    assert rows[line("gelu") + "hidden"].self_seconds == pytest.approx(caller.total_seconds)
    assert caller.self_seconds == 0
    assert not any("functx" in name for name in names)
    assert {row.phase for row in of_gradient.by_line(phases=True)} == {"forward", "backward"}


def test_scopes_reach_both_passes_and_ranges_the_host(of_gradient):
    scopes = phases(of_gradient.by_scope(phases=True))
    assert {("hidden", "forward"), ("hidden", "backward"), ("(no scope)", "forward")} <= scopes
    [row] = of_gradient.by_range()
    assert (row.name, row.calls) == ("step", 3)


def test_self_times_of_all_tables_are_the_kernels(of_gradient):
    p = of_gradient
    whole = sum(row.self_seconds for row in p.by_kernel())
    assert whole > 0
    for table in (p.by_operator(), p.by_transform(), p.by_line(), p.by_scope()):
        assert sum(row.self_seconds for row in table) == pytest.approx(whole)
        assert sum(row.share for row in table) == pytest.approx(1)
    assert 0 < p.kernel_seconds <= p.seconds
    assert p.compile_seconds == 0


def test_orders_and_limits(of_gradient):
    table = of_gradient.by_operator()
    assert [r.self_seconds for r in table] == sorted((r.self_seconds for r in table), reverse=True)
    names = [row.name for row in of_gradient.by_operator(sort="name")]
    assert names == sorted(names)
    assert list(of_gradient.by_operator(limit=2)) == list(table[:2])
    with pytest.raises(ValueError, match="by_operator: `sort` must be one of self, total"):
        of_gradient.by_operator(sort="time")
    with pytest.raises(ValueError, match="by_line: `limit` must be at least 1 or None, got 0"):
        of_gradient.by_line(limit=0)


def test_text_is_80_columns_and_says_what_it_leaves_out(of_gradient):
    text = str(of_gradient)
    assert max(map(len, text.splitlines())) <= 80
    assert "Not in the tables: compilation" in text and "dispatch, Python and waiting" in text
    assert "nn.functional.gelu" in text and "backward" in text
    for table in (of_gradient.by_line(), of_gradient.by_kernel(), of_gradient.by_range()):
        assert max(map(len, str(table).splitlines())) <= 80


@pytest.mark.parametrize(
    "seconds, shown",
    [
        (0, "0.0 us"),
        (1.234e-6, "1.2 us"),
        (999.96e-6, "1.00 ms"),
        (12.345e-3, "12.35 ms"),
        (99.999e-3, "100.0 ms"),
        (0.99999, "1.00 s"),
        (9999.9, "9999.9 s"),
        (-0.5, "-500.0 ms"),
    ],
)
def test_times_are_short(seconds, shown):
    assert shown_seconds(seconds) == shown


def test_forward_mode_is_tangent_and_vmap_batched():
    p = profiled(lambda w: functx.jvp(lambda w: F.gelu(w), (w,), (w,))[1], W)
    assert phases(p.by_operator()) == {("nn.functional.gelu", "tangent")}
    p = profiled(functx.vmap(functx.grad(lambda x: functx.sum(functx.sinh(x)))), X)
    assert {row.name for row in p.by_transform()} <= {"forward, batched", "backward, batched"}
    assert "sinh" in {row.name for row in p.by_operator()}


def test_a_tangent_of_a_gradient_is_tangent():
    def product(w):
        return functx.jvp(functx.grad(lambda w: functx.sum(F.gelu(w))), (w,), (w,))[1]

    assert {row.phase for row in profiled(product, W).by_operator()} == {"tangent"}


def test_a_recomputed_forward_pass_counts_as_backward():
    f = functx.checkpoint(lambda w: functx.sum(F.gelu(F.gelu(w))))
    found = profiled(functx.grad(f), W).by_operator().named("nn.functional.gelu")
    assert "backward" in {row.phase for row in found}


def loop(x):
    return jax.lax.scan(lambda c, _: (F.gelu(c) @ c, None), x, None, length=5)[0]


def test_calls_in_a_loop_are_counted_by_its_iterations_and_its_time_once():
    p = profiled(loop, jnp.ones((96, 96), "float32"), times=2)
    [row] = p.by_operator().named("nn.functional.gelu")
    assert row.calls == 10
    reading = p._reading
    loops = [k for k in reading.kernels if reading.programs[k.program].is_container(k.name)]
    assert loops, "a loop is a kernel of its own"
    inner = sum(k.seconds for k in reading.kernels if k not in loops)
    whole = sum(row.self_seconds for row in p.by_kernel())
    assert inner <= whole < inner + sum(k.seconds for k in loops)


def test_a_loop_that_is_one_kernel_is_divided_among_its_operators():
    x = jnp.ones((2, 2), "float32")
    p = profiled(lambda x: jax.lax.scan(lambda c, _: (F.gelu(c), None), x, None, length=5)[0], x)
    assert p.by_operator().named("nn.functional.gelu")


def test_what_is_jax_alone_stands_under_its_primitives():
    names = {row.name for row in profiled(lambda x: jnp.sin(x) @ x.T, X).by_operator()}
    assert "sin" not in names and "matmul" not in names
    assert {"lax.sin", "lax.dot_general"} <= names


def test_an_operator_called_eagerly_is_found():
    jax.block_until_ready(F.gelu(X))
    with profile() as p:
        y = F.gelu(X)
    assert y.shape == X.shape
    [row] = p.by_operator()
    assert (row.name, row.phase, row.calls) == ("nn.functional.gelu", "forward", 1)


def test_compilation_is_told_apart():
    fresh = jax.jit(lambda x: functx.cos(x) * 3)
    with profile() as p:
        y = fresh(X)
    assert y.shape == X.shape
    assert p.compile_seconds > 0


def test_pickled_and_compared(of_gradient):
    again = pickle.loads(pickle.dumps(of_gradient))
    assert list(again.by_operator()) == list(of_gradient.by_operator())
    same = of_gradient.compare(again)
    assert {row.difference for row in same} == {0.0}
    forward = profiled(programs.loss, W, X, LABELS, times=2)
    changed = of_gradient.compare(forward)
    rows = {(row.name, row.phase): row for row in changed}
    gelu = rows["nn.functional.gelu", "forward"]
    assert (gelu.calls_before, gelu.calls_after) == (3, 2)
    gone = rows["nn.functional.gelu", "backward"]
    assert (gone.calls_after, gone.after) == (0, 0) and gone.difference == -gone.before
    changes = [abs(row.difference) for row in changed]
    assert changes == sorted(changes, reverse=True)
    text = str(changed)
    assert max(map(len, text.splitlines())) <= 80 and "backward" in text
    with pytest.raises(TypeError, match="compare: `other` must be a profile, got str"):
        of_gradient.compare("before")


@pytest.mark.parametrize("name", ["trace.json", "trace.json.gz"])
def test_chrome_trace(of_gradient, tmp_path, name):
    of_gradient.export_chrome_trace(tmp_path / name)
    data = (tmp_path / name).read_bytes()
    events = json.loads(gzip.decompress(data) if name.endswith("gz") else data)["traceEvents"]
    kernels = [event for event in events if event.get("cat") == "kernel"]
    assert len(kernels) == len(of_gradient._reading.kernels)
    assert all(event["ts"] >= 0 and event["dur"] >= 0 for event in events if event["ph"] == "X")
    told = [event["args"] for event in kernels if "nn.functional.gelu" in event["name"]]
    assert {phase for args in told for phase in args["phases"]} == {"forward", "backward"}
    assert any(args["scopes"] == ["hidden"] for args in told)
    assert [e["name"] for e in events if e.get("cat") == "range"] == ["step"] * 3
    named = {e["args"]["name"] for e in events if e["name"] == "process_name"}
    assert named == {"host", *of_gradient._reading.devices}


@pytest.mark.parametrize("by", ["operator", "line"])
def test_flame_graph(of_gradient, tmp_path, monkeypatch, by):
    monkeypatch.setattr(flames, "_THINNEST", 0)  # a loaded machine makes other bars thin
    of_gradient.flame_graph(tmp_path / "flames.html", by=by)
    page = (tmp_path / "flames.html").read_text()
    assert not re.search(r"(src|href)=|https?://", page), "it loads nothing"
    bars = json.loads(re.search(r"const bars = (.*), colours", page)[1])
    root, *rest = bars
    assert root[:3] == [0, 0.0, 1.0]
    for depth, left, width, *_ in rest:
        below = [b for b in bars if b[0] == depth - 1 and b[1] <= left + 2e-6]
        assert any(left + width <= b[1] + b[2] + 2e-6 for b in below)
    words = {bar[3] for bar in bars}
    expected = {"nn.functional.gelu", "hidden"} if by == "operator" else {line("gelu") + "hidden"}
    assert expected <= words
    with pytest.raises(ValueError, match="flame_graph: `by` must be one of operator, line"):
        of_gradient.flame_graph(tmp_path / "none.html", by="time")


def test_plot(of_gradient):
    figure = pytest.importorskip("matplotlib.figure", reason="pictures need it")
    axes = figure.Figure().subplots()
    assert of_gradient.plot(limit=2, axes=axes) is axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    sums = {}
    for row in of_gradient.by_operator():
        sums[row.name] = sums.get(row.name, 0) + row.self_seconds
    assert names == sorted(sums, key=lambda name: -sums[name])[:2]
    with pytest.raises(ValueError, match="plot: `limit` must be at least 1"):
        of_gradient.plot(limit=0)


def test_plot_without_matplotlib_says_what_to_install(of_gradient, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        of_gradient.plot()


def test_profiles_do_not_nest_and_the_outer_one_goes_on():
    step = jax.jit(lambda x: F.gelu(x))
    with profile() as outer:
        with pytest.raises(RuntimeError, match="another profile is running") as caught:
            with profile():
                pass
        assert "record_function" in str(caught.value)
        y = step(X)
    assert y.shape == X.shape
    assert outer.by_operator().named("nn.functional.gelu")


def test_a_second_thread_is_refused_while_one_runs():
    caught = []

    def other():
        try:
            profile().__enter__()
        except RuntimeError as error:
            caught.append(str(error))

    with profile():
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert "another profile is running" in caught[0]


def test_a_trace_of_jaxs_own_is_refused_and_leaves_profiles_possible(tmp_path):
    jax.profiler.start_trace(tmp_path)
    try:
        with pytest.raises(RuntimeError, match="JAX's profiler does not start"):
            profile().__enter__()
    finally:
        jax.profiler.stop_trace()
    with profile():
        pass


def test_results_are_read_after_the_region():
    p = profile()
    with pytest.raises(RuntimeError, match="the region has not begun"):
        p.by_operator()
    with p:
        jax.block_until_ready(jnp.sin(X))
        with pytest.raises(RuntimeError, match="the region has not ended"):
            str(p)
        with pytest.raises(RuntimeError, match="cannot be pickled"):
            pickle.dumps(p)
    assert len(p.by_operator())
    with pytest.raises(RuntimeError, match="a profile records one region"):
        p.__enter__()


def test_an_array_that_failed_elsewhere_raises_at_its_owners():
    long = lambda x: functx.expand_copy(x[0, :1], (2**23,))
    too_large = lambda x: functx.sum(functx.outer(long(x), long(x)) @ long(x))
    failed = jax.jit(too_large)(X)
    assert profiled(F.gelu, X).by_operator().named("nn.functional.gelu")
    with pytest.raises(jax.errors.JaxRuntimeError):
        failed.block_until_ready()


def test_a_region_in_which_nothing_ran_says_so():
    with profile() as p:
        math.sqrt(2)
    with pytest.raises(RuntimeError, match="no compiled program ran in the region"):
        p.by_operator()


def test_an_error_inside_passes_and_what_ran_before_is_kept():
    step = jax.jit(lambda x: F.gelu(x))
    jax.block_until_ready(step(X))
    p = profile()
    with pytest.raises(ZeroDivisionError):
        with p:
            jax.block_until_ready(step(X))
            1 / 0  # noqa: B018
    assert p.by_operator().named("nn.functional.gelu")


def test_files_are_kept_on_request_and_gone_otherwise(tmp_path):
    with profile(keep=tmp_path) as p:
        jax.block_until_ready(jnp.sin(X))
    assert len(list(tmp_path.rglob("*.xplane.pb"))) == 1
    assert len(p.by_operator())
    folder = Path(p._folder.name)
    assert not folder.exists()


def test_python_calls_are_recorded_on_request(tmp_path):
    with profile(python_calls=True) as p:
        jax.block_until_ready(programs.hidden(W, X))
    p.export_chrome_trace(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert any("programs.py" in e["name"] for e in events if e.get("cat") == "python")
