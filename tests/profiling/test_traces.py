"""The reader of traces, on traces and programs that are written here, as of a GPU."""

from pathlib import Path

import pytest

import functx
from functx._profiling.attribution import covered, own_seconds, shares_of
from functx._profiling.hlo import program_of
from functx._profiling.origins import origin_of
from functx._profiling.protobuf import fields, integers, varint
from functx._profiling.readings import reading_of
from functx._profiling.traces import KernelRun, trace_of


def number(value):
    value %= 2**64
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def message(*given):
    """The bytes of a message of these fields, as pairs of number and value."""
    out = b""
    for field, value in given:
        if isinstance(value, int):
            out += number(field << 3) + number(value)
        else:
            value = value.encode() if isinstance(value, str) else value
            out += number(field << 3 | 2) + number(len(value)) + value
    return out


def instruction(name, opcode, own, op_name="", operands=(), called=(), shape=(4,), frame=0):
    metadata = [(7, message((2, op_name), *([(15, frame)] if frame else [])))] if op_name else []
    return message(
        (1, name),
        (2, opcode),
        (3, message(*((3, size) for size in shape))),
        *metadata,
        (35, own),
        *((36, operand) for operand in operands),
        (38, b"".join(map(number, called))),
    )


def program(*computations, name="jit_step", functx_at=Path(functx.__file__).parent):
    """An `HloProto` of computations, each its number and instructions.

    Its stacks: 1 is a line of the user's, 2 an operator called there.
    """
    frames = message(
        (1, "/home/user/train.py"),
        (1, f"{functx_at}/_core/operators/call.py"),
        (2, "loss"),
        (3, message((1, 1), (2, 1), (3, 12), (4, 5))),
        (3, message((1, 2), (2, 1), (3, 99), (4, 5))),
        (4, message((1, 1))),
        (4, message((1, 2), (2, 1))),
    )
    made = [
        (3, message((5, n), *((2, i) for i in instructions))) for n, instructions in computations
    ]
    return message((1, message((1, name), *made, (17, frames))))


STATS = ["hlo_op", "hlo_module", "program_id", "fusion", "jit_step", "run_id"]


def event(which, offset, length, program=7, op=4, numbered=True):
    stats = [message((1, 1), (7, op)), message((1, 2), (7, 5))]
    stats += [message((1, 3), (3, program))] if numbered else []
    return message((1, which), (2, offset), (3, length), *((4, stat) for stat in stats))


def plane(name, lines, events=("kernel",), metadata=()):
    named = [(4, message((1, i), (2, message((2, n))))) for i, n in enumerate(events, 1)]
    stats = [(5, message((1, i), (2, message((2, n))))) for i, n in enumerate(STATS, 1)]
    return message((2, name), *((3, line) for line in lines), *named, *stats, *metadata)


def line(name, *events, start=1000):
    return message((2, name), (3, start), *((4, e) for e in events))


def of_programs(**protos):
    entries = [
        message((1, at), (2, message((2, f"{name}"), (5, message((1, 1), (6, proto))))))
        for at, (name, proto) in enumerate(protos.items())
    ]
    return plane("/host:metadata", [], metadata=[(4, entry) for entry in entries])


GELU = "jit(step)/transpose(jvp(jit(nn.functional.gelu)))/mul"
ONE = program((1, [instruction("fusion", "multiply", 1, GELU, frame=2)]))


def test_devices_are_found_by_their_kind_and_sums_of_kernels_are_left_out():
    kernel = event(1, 2_000_000, 3_000_000)
    gpu = plane("/device:GPU:0", [line("XLA Ops", kernel), line("Stream #7", kernel)])
    tpu = plane("/device:TPU:1", [line("XLA Modules", kernel), line("XLA Ops", kernel)])
    host = plane("/host:CPU", [line("python", kernel)])  # which only launched it
    data = message(*((1, p) for p in (gpu, tpu, host, of_programs(**{"jit_step(7)": ONE}))))
    trace = trace_of(data)
    assert [(k.device, k.line) for k in trace.kernels] == [
        ("GPU:0", "Stream #7"),
        ("TPU:1", "XLA Ops"),
    ]
    first = trace.kernels[0]
    assert (first.name, first.module, first.program) == ("fusion", "jit_step", 7)
    assert trace.programs[7].module == "jit_step"
    assert (first.start, first.seconds) == pytest.approx((3e-6, 3e-6))
    reading = reading_of(data, 1.0)
    assert reading.devices == ["GPU:0", "TPU:1"]
    for share in reading.shares:
        assert (share.origin.name, share.phase) == ("nn.functional.gelu", "backward")
        assert [(f.file, f.line, f.column) for f in share.frames] == [
            ("/home/user/train.py", 12, 5)
        ]


def test_a_kernel_without_a_programs_number_is_found_by_the_modules_name():
    gpu = plane("/device:GPU:0", [line("Stream #7", event(1, 0, 10, numbered=False))])
    data = message((1, gpu), (1, of_programs(**{"jit_step(7)": ONE})))
    [share] = reading_of(data, 1.0).shares
    assert share.origin.name == "nn.functional.gelu"


@pytest.mark.parametrize("others", [{}, {"jit_step(4)": 1}, {"jit_other(4)": 0}])
def test_a_program_from_the_disks_cache_is_found_though_its_number_is_an_old_one(others):
    strangers = [program((1, [instruction("fusion", "add", 1, "jit(g)/add")])), program((1, []))]
    protos = {name: strangers[which] for name, which in others.items()} | {"jit_step(7)": ONE}
    gpu = plane("/device:GPU:0", [line("Stream #7", event(1, 0, 10, program=4))])
    [share] = reading_of(message((1, gpu), (1, of_programs(**protos))), 1.0).shares
    assert share.origin.name == "nn.functional.gelu"


def test_a_kernel_of_no_program_keeps_its_name_and_its_time():
    gpu = plane("/device:GPU:0", [line("Stream #7", message((1, 1), (2, 0), (3, 5_000_000)))])
    [share] = reading_of(message((1, gpu)), 1.0).shares
    assert (share.origin.name, share.phase) == ("(no program) kernel", "")
    assert share.seconds == pytest.approx(5e-6)


def run(name, start, seconds, which=7, times=1):
    return KernelRun(name, "jit_step", which, times, "CPU:0", "a", start, seconds)


def read(proto):
    return {7: program_of(memoryview(proto))}


def test_a_fusion_is_divided_by_the_elements_that_it_handles():
    inside = [
        instruction("p", "parameter", 1, "x", shape=(30,)),
        instruction("a", "exponential", 2, "jit(f)/jit(exp)/exp", operands=[1], shape=(30,)),
        instruction("b", "reduce", 3, "jit(f)/jit(sum)/reduce_sum", operands=[2], shape=()),
        instruction("c", "add", 4, "jit(f)/jit(add)/add", operands=[3], shape=(10,)),
        instruction("d", "constant", 5, "jit(f)/jit(mul)/mul"),
    ]
    proto = program((1, inside), (2, [instruction("fusion", "fusion", 9, "root", called=[1])]))
    shares = shares_of([run("fusion", 0, 0.7)], read(proto))
    seconds = {share.origin.name: share.seconds for share in shares}
    assert seconds == pytest.approx({"exp": 0.3, "sum": 0.3, "add": 0.1})


def test_a_product_weighs_as_much_as_its_multiplications():
    inside = [
        instruction("l", "parameter", 1, shape=(8, 16)),
        instruction("r", "parameter", 2, shape=(16, 4)),
        instruction("a", "dot", 3, "jit(f)/transpose", operands=[1, 2], shape=(8, 4)),
        instruction("b", "negate", 4, "jit(f)/neg", operands=[3], shape=(8, 4)),
    ]
    proto = program((1, inside), (2, [instruction("fusion", "fusion", 9, "root", called=[1])]))
    shares = shares_of([run("fusion", 0, 1.0)], read(proto))
    seconds = {share.origin.name: share.seconds for share in shares}
    product = 8 * 16 * 4
    assert seconds["lax.dot_general"] == pytest.approx(product / (product + 32))


def test_what_xla_made_itself_takes_the_origin_of_its_neighbours():
    path = "jit(f)/jit(nn.functional.gelu)/"
    instructions = [
        instruction("copy", "copy", 1),
        instruction("window", "reduce-window", 2, operands=[1]),
        instruction("sum", "reduce", 3, path + "reduce_sum", operands=[2], frame=2),
        instruction("after", "copy", 4, operands=[3]),
    ]
    programs = read(program((1, instructions)))
    for name in ("copy", "window", "after"):
        [share] = shares_of([run(name, 0, 1.0)], programs)
        assert share.origin.name == "nn.functional.gelu"
        assert [frame.line for frame in share.frames] == [12]


def test_a_loops_own_time_is_without_what_runs_inside_on_any_thread():
    body = [instruction("add", "add", 1, "jit(f)/while/body/add")]
    loop = [instruction("while", "while", 2, "jit(f)/while", called=[1])]
    programs = read(program((1, body), (2, loop)))
    kernels = [
        run("while", 0.0, 10.0),
        run("add", 1.0, 3.0),
        run("add", 2.0, 3.0)._replace(line="b"),
        run("add", 7.0, 1.0, times=2),  # of another run
        run("add", 20.0, 1.0),
    ]
    assert own_seconds(kernels, programs) == pytest.approx([6.0, 3.0, 3.0, 1.0, 1.0])
    seconds = {s.kernel: s.seconds for s in shares_of(kernels, programs)}
    assert seconds == pytest.approx({"while": 6.0, "add": 8.0})


@pytest.mark.parametrize("functx_at", [Path(functx.__file__).parent, "/elsewhere/functx"])
def test_a_function_of_jaxs_is_no_operator_of_functx(functx_at):
    """A program from the cache on disk may have been compiled by another installation."""
    path = "jit(f)/jit(sin)/sin"
    instructions = [
        instruction("theirs", "sine", 1, path, frame=1),
        instruction("ours", "sine", 2, path, frame=2),
    ]
    programs = read(program((1, instructions), functx_at=functx_at))
    shares = {n: shares_of([run(n, 0, 1.0)], programs)[0] for n in ("theirs", "ours")}
    assert {n: share.origin.name for n, share in shares.items()} == {
        "theirs": "lax.sin",
        "ours": "sin",
    }
    assert [frame.line for frame in shares["ours"].frames] == [12]


def test_spans_that_overlap_are_covered_once():
    assert covered([(5, 6), (0, 2), (1, 3), (1, 2)]) == 4
    assert covered([]) == 0


@pytest.mark.parametrize(
    "path, name, chain, scopes, batched",
    [
        ("jit(f)/jvp(head)/jit(nn.functional.gelu)/mul", "nn.functional.gelu", "j", "head", False),
        (
            "jit(f)/vmap(transpose(jvp(jit(sin))))/functx.rule:sin/cond/branch_0_fun/cos",
            "sin",
            "tj",
            "",
            True,
        ),
        ("jit(sin)/functx.rule:sin/cos", "sin", "tj", "", False),
        ("jit(sin)/jvp()/cos", "sin", "j", "", False),
        ("jit(sin)/sin", "sin", "", "", False),
        ("jit(f)/outer/inner/while/body/closed_call/jit(sin)/mul", "sin", "", "outer,inner", False),
        ("jit(f)/transpose(jvp())/mul", "lax.mul", "tj", "", False),
        ("jit(f)/jit(layer)/jit(_where)/select_n", "lax.select_n", "", "", False),
        ("jit(f)/jit(layer)", "jit(layer)", "", "", False),
        ("jit(f)/mul;jit(f)/add", "lax.mul", "", "", False),
        ("", "(unnamed)", "", "", False),
    ],
)
def test_what_a_path_says(path, name, chain, scopes, batched):
    origin = origin_of(path)
    assert origin.name == name
    assert "".join(transform[0] for transform in origin.chain) == chain
    assert ",".join(origin.scopes) == scopes
    assert origin.batched == batched


def test_a_copy_of_an_argument_goes_by_what_xla_does():
    assert origin_of("args[0]", "copy").name == "xla.copy"
    assert origin_of("", "copy").name == "xla.copy"
    assert origin_of("jit(f)/transpose", "dot").name == "lax.dot_general"


@pytest.mark.parametrize(
    "chain, reverses, phase",
    [
        ((), set(), "forward"),
        (("jvp",), set(), "tangent"),
        (("jvp",), {("transpose", "jvp")}, "forward"),
        (("transpose", "jvp"), {("transpose", "jvp")}, "backward"),
        (("jvp", "transpose", "jvp"), set(), "tangent"),
        (("jvp", "transpose", "jvp"), {("transpose", "jvp")}, "tangent"),
        (("jvp", "transpose", "jvp"), {("transpose", "jvp", "transpose", "jvp")}, "backward"),
        (("jvp",), {("transpose", "jvp", "jvp")}, "forward"),
    ],
)
def test_the_phase_follows_from_the_transforms_of_the_program(chain, reverses, phase):
    assert origin_of("jit(f)/mul")._replace(chain=chain).phase(reverses) == phase


def test_fields_of_a_protocol_buffer():
    data = message((1, 300), (2, "word"), (16, -1)) + b"\x1d\0\0\0\0" + b"\x21" + bytes(8)
    found = [(n, v if isinstance(v, int) else bytes(v)) for n, v in fields(memoryview(data))]
    assert found == [(1, 300), (2, b"word"), (16, 2**64 - 1), (3, bytes(4)), (4, bytes(8))]
    assert varint(memoryview(b"\xac\x02"), 0) == (300, 2)
    assert integers(memoryview(b"\x01\xac\x02")) == [1, 300] and integers(5) == [5]
    with pytest.raises(ValueError, match="no field of kind 3"):
        list(fields(memoryview(b"\x0b")))
