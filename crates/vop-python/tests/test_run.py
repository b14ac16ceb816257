"""Kernels: modules, launches on arrays, and launch files."""

from __future__ import annotations

import pickle
import signal
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT

import vop

HEAD = ".version 8.0\n.target sm_75\n.address_size 64\n"

SCALE = (
    HEAD
    + """
.const .align 4 .b8 _ZN2ns6factorE[4] = {3, 0, 0, 0};
.visible .entry _Z5scalePjPKjj(.param .u64 to, .param .u64 from, .param .u32 n) {
    .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [to];
    ld.param.u64 %rd2, [from];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
    mad.lo.u32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 ret;
    mul.wide.u32 %rd3, %r5, 4;
    add.u64 %rd4, %rd2, %rd3; add.u64 %rd5, %rd1, %rd3;
    ld.global.u32 %r6, [%rd4];
    ld.const.u32 %r7, [_ZN2ns6factorE];
    mul.lo.u32 %r6, %r6, %r7;
    st.global.u32 [%rd5], %r6;
    ret;
}
.visible .entry forever() {
L:  bra L;
}
.visible .entry unknown() {
    no_such.u32 1;
    nor_this.u32 1;
}
"""
)


def copier(ty: str, bytes: int) -> vop.Kernel:
    """A kernel that stores its second parameter, a number of a type, at its first."""
    register = {1: "b16", 2: "b16", 4: "b32", 8: "b64"}[bytes]
    text = f""".entry copy(.param .u64 to, .param .{ty} x) {{
        .reg .b64 %rd1; .reg .{register} %x;
        ld.param.u64 %rd1, [to];
        ld.param.b{8 * bytes} %x, [x];
        st.global.b{8 * bytes} [%rd1], %x;
    }}"""
    return vop.load(HEAD + text)["copy"]


def test_a_launch_works_on_arrays_in_place() -> None:
    module = vop.load(SCALE)
    assert module.kernels == ("_Z5scalePjPKjj", "forever", "unknown") == tuple(module) and len(module) == 3
    kernel = module["scale"]
    assert kernel is module["scale"] and kernel.name == "_Z5scalePjPKjj"
    assert kernel.signature == "scale(unsigned int*, unsigned int const*, unsigned int)"
    assert kernel.parameters[2] == vop.Parameter("n", "u32", 4)
    source, to = np.arange(100, dtype=np.uint32), np.zeros((10, 10), np.uint32)
    report = kernel[4, (32, 1)](to, source, 100)
    np.testing.assert_array_equal(to.reshape(-1), 3 * source)
    # 8 statements in 128 threads, a return in 28, and 8 more in the others.
    assert (report.blocks, report.instructions, report.video) == (4, 128 * 8 + 28 + 100 * 8, 0)
    assert report.findings == () and report.order_dependent == ()
    # A part of an array, and one array twice.
    kernel[1, 32](to[2:4], to[2:4], 20)
    np.testing.assert_array_equal(to.reshape(-1), np.where((source >= 20) & (source < 40), 9, 3) * source)
    # Views that overlap.
    line = np.arange(10, dtype=np.uint32)
    kernel[1, 1](line[1:], line[:9], 1, cores=1)
    assert line[:3].tolist() == [0, 0, 2]


def test_variables() -> None:
    module = vop.load(SCALE)
    factor = module.variable("ns::factor", np.uint32)
    assert factor.tolist() == [3]
    factor[0] = 7
    data = np.array([5], np.uint32)
    module["scale"][1, 1](data, data, 1)
    assert data.tolist() == [35] and module.variable("factor").tolist() == [7, 0, 0, 0]
    # Another module has its own.
    assert vop.load(SCALE).variable("factor", "u4").tolist() == [3]
    # The variable keeps the memory.
    del module
    assert factor.tolist() == [7]
    with pytest.raises(vop.VopError, match="no variable `nothing`"):
        vop.load(SCALE).variable("nothing")


def test_a_failure_says_where() -> None:
    kernel = vop.load(SCALE)["scale"]
    source, to = np.arange(100, dtype=np.uint32), np.zeros(100, np.uint32)
    with pytest.raises(vop.RunError, match="4 bytes beyond its end") as raised:
        kernel[4, 32](to, source, 101)
    error = raised.value
    assert (error.code, error.line, error.block, error.thread) == ("V0606", 17, (3, 0, 0), (4, 0, 0))
    assert error.address == source.ctypes.data + 400 and error.statement == "ld.global.u32 %r6, [%rd4];"
    assert error.span is not None and SCALE[slice(*error.span)].startswith("ld.global.u32 %r6")
    assert "`argument 2`" in error.message and "17 |" in str(error) and error.source is None
    assert isinstance(error, vop.VopError) and error.findings[0].severity == "error"
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.findings, again.address) == (str(error), error.findings, error.address)
    # The kernel is as before.
    kernel[4, 32](to, source, 100)
    assert to[99] == 297


def test_what_may_only_be_read_is_not_written() -> None:
    kernel = vop.load(SCALE)["scale"]
    source = np.ones(4, np.uint32)
    to = np.zeros(4, np.uint32)
    to.flags.writeable = False
    with pytest.raises(vop.RunError, match="may only be read"):
        kernel[1, 4](to, source, 4)
    assert to.tolist() == [0] * 4
    source.flags.writeable = False
    kernel[1, 4](np.zeros(4, np.uint32), source, 4)


def test_arguments_fit_their_parameters() -> None:
    kernel = vop.load(SCALE)["scale"]
    data = np.ones(4, np.uint32)
    with pytest.raises(vop.VopError, match="2 arguments are given for 3 parameters: `to`"):
        kernel[1, 1](data, data)
    with pytest.raises(vop.VopError, match="not contiguous") as raised:
        kernel[1, 1](data[::2], data, 1)
    assert raised.value.help is not None and "ascontiguousarray" in raised.value.help
    with pytest.raises(TypeError, match="Python objects"):
        kernel[1, 1](np.array([None]), data, 1)
    with pytest.raises(TypeError, match="`n` .*no pointer"):
        kernel[1, 1](data, data, data)
    for wrong in ["1", None, 1.0, 1j, [1]]:
        with pytest.raises(TypeError, match="argument 3"):
            kernel[1, 1](data, data, wrong)
    for unfit in [2**32, -(2**31) - 1, b"123"]:
        with pytest.raises(vop.VopError, match="argument 3"):
            kernel[1, 1](data, data, unfit)


@pytest.mark.parametrize(
    ("ty", "value", "expected"),
    [
        ("u32", -1, b"\xff\xff\xff\xff"),
        ("s32", 2**31, b"\0\0\0\x80"),
        ("u8", 200, b"\xc8"),
        ("u16", np.uint16(513), b"\x01\x02"),
        ("b32", np.float32(1.0), b"\0\0\x80\x3f"),
        ("b32", np.True_, b"\1\0\0\0"),
        ("f32", 1, b"\0\0\x80\x3f"),
        ("f32", np.float64(0.5), b"\0\0\0\x3f"),
        ("f32", float("inf"), b"\0\0\x80\x7f"),
        ("f64", 1.0, b"\0\0\0\0\0\0\xf0\x3f"),
        ("f16", 1.0, b"\0\x3c"),
        ("u64", 2**64 - 2, b"\xfe" + b"\xff" * 7),
        ("b64", b"12345678", b"12345678"),
    ],
)
def test_numbers(ty: str, value: object, expected: bytes) -> None:
    to = np.zeros(8, np.uint8)
    copier(ty, len(expected))[1, 1](to, value)
    assert to[: len(expected)].tobytes() == expected and not to[len(expected) :].any()


def test_floats_are_not_cut() -> None:
    to = np.zeros(8, np.uint8)
    with pytest.raises(vop.VopError, match="beyond the range of .f32"):
        copier("f32", 4)[1, 1](to, 1e39)
    with pytest.raises(TypeError, match="numpy.float32"):
        copier("b32", 4)[1, 1](to, 1.5)


def test_structures() -> None:
    text = """.entry copy(.param .u64 to, .param .align 4 .b8 pair[8]) {
        .reg .b64 %rd1; .reg .b32 %r<3>;
        ld.param.u64 %rd1, [to]; ld.param.u32 %r1, [pair]; ld.param.u32 %r2, [pair+4];
        st.global.u32 [%rd1], %r2; st.global.u32 [%rd1+4], %r1;
    }"""
    kernel = vop.load(HEAD + text)["copy"]
    to = np.zeros(2, np.uint32)
    kernel[1, 1](to, b"\1\0\0\0\2\0\0\0")
    assert to.tolist() == [2, 1]
    kernel[1, 1](to, np.array((5, 6), np.dtype([("x", "<u4"), ("y", "<u4")])))
    assert to.tolist() == [6, 5]
    with pytest.raises(vop.VopError, match="has 4 bytes, and the parameter has 8"):
        kernel[1, 1](to, b"1234")
    with pytest.raises(TypeError, match="structure"):
        kernel[1, 1](to, 1)


def test_what_cannot_be_run_is_refused() -> None:
    module = vop.load(SCALE)
    with pytest.raises(vop.RunError, match="no_such") as raised:
        module["unknown"]
    assert [finding.line for finding in raised.value.findings] == [27, 28]
    with pytest.raises(vop.RunError, match="no entry `nothing`") as raised:
        module["nothing"]
    assert raised.value.help is not None and "forever" in raised.value.help
    with pytest.raises(vop.VopError, match="no PTX module"):
        vop.load("nothing")
    kernel = module["scale"]
    shapes: list[Any] = [(0, 1), (1, 2000), ((1, 1, 1, 1), 1), (-1, 1), ((), 1)]
    for shape in shapes:
        with pytest.raises(vop.VopError):
            kernel[shape](np.zeros(1, np.uint32), np.zeros(1, np.uint32), 1)
    with pytest.raises(TypeError):
        kernel[1]  # type: ignore[index]


def test_files_and_bytes(tmp_path: Path) -> None:
    path = tmp_path / "scale.ptx"
    path.write_text(SCALE)
    assert vop.load(path).kernels == vop.load(SCALE.encode()).kernels == vop.load(SCALE).kernels
    assert repr(vop.load(path)) == "<module of _Z5scalePjPKjj, forever, unknown>"
    with pytest.raises(FileNotFoundError):
        vop.load(tmp_path / "other.ptx")


RACE = (
    HEAD
    + """
.extern .shared .align 4 .b8 memory[];
.entry race(.param .u64 to) {
    .reg .b32 %r<4>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [to]; mov.u32 %r1, %tid.x;
    st.shared.u32 [memory], %r1;
    ld.shared.u32 %r2, [memory];
    mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2;
    st.global.u32 [%rd1], %r2;
}
"""
)


def test_options() -> None:
    kernel = vop.load(RACE)["race"]
    to = np.zeros(2, np.uint32)
    with pytest.raises(vop.RunError, match="beyond its end"):
        kernel[1, 2](to)
    kernel[1, 2](to, dynamic_shared=4)
    with pytest.raises(vop.RunError, match="race") as raised:
        kernel[1, 2](to, dynamic_shared=4, check="races")
    assert all(finding.severity == "error" for finding in raised.value.findings)
    kernel[1, 1](to, dynamic_shared=4, check=["races", "warp"], cores=1, timeout=10.0, limit=1000, memory=1 << 30)
    for wrong in [
        {"check": "nothing"},
        {"semantics": "mine"},
        {"cores": 0},
        {"limit": 0},
        {"timeout": -1.0},
        {"dynamic_shared": -1},
    ]:
        with pytest.raises(vop.VopError):
            kernel[1, 1](to, **wrong)  # type: ignore[arg-type]
    forever = vop.load(SCALE)["forever"]
    with pytest.raises(vop.RunError):
        forever[1, 1](limit=10_000)
    with pytest.raises(vop.RunError):
        forever[1, 1](limit=2**62, timeout=0.05)


def test_semantics() -> None:
    text = """.entry sum(.param .u64 to, .param .u32 a, .param .u32 b) {
        .reg .b64 %rd1; .reg .b32 %r<4>;
        ld.param.u64 %rd1, [to]; ld.param.u32 %r1, [a]; ld.param.u32 %r2, [b];
        vadd.u32.u32.u32.sat %r3, %r1, %r2;
        st.global.u32 [%rd1], %r3;
    }"""
    kernel = vop.load(HEAD + text)["sum"]
    to = np.zeros(1, np.uint32)
    # docs/ptxas.md has this example.
    kernel[1, 1](to, 1, 2**32 - 1)
    assert to[0] == 2**32 - 1
    assert kernel[1, 1](to, 1, 2**32 - 1, semantics="ptxas").video == 1
    assert to[0] == 0


PRINT = (
    HEAD
    + """
.extern .func (.param .b32 r) vprintf(.param .b64 format, .param .b64 values);
.global .align 1 .b8 text[4] = {104, 105, 10, 0};
.entry say(.param .u64 to) {
    .reg .b64 %rd<4>; .reg .b32 %r<2>;
    mov.u64 %rd1, text; cvta.global.u64 %rd2, %rd1;
    { .param .b64 a; .param .b64 b; .param .b32 r;
      st.param.b64 [a], %rd2; st.param.b64 [b], 0;
      call.uni (r), vprintf, (a, b); }
    ld.param.u64 %rd3, [to];
    st.global.u32 [%rd3], 1;
}
"""
)


def test_printf(capsys: pytest.CaptureFixture[str]) -> None:
    kernel = vop.load(PRINT)["say"]
    kernel[2, 1](np.zeros(1, np.uint32))
    assert capsys.readouterr().out == "hi\nhi\n"
    with pytest.raises(vop.RunError):
        kernel[1, 1](np.zeros(1, np.uint8))
    assert capsys.readouterr().out == "hi\n"


def test_threads_share_a_kernel() -> None:
    kernel = vop.load(SCALE)["scale"]
    shared = np.ones(64, np.uint32)
    results = [np.zeros(64, np.uint32) for _ in range(8)]
    threads = [threading.Thread(target=lambda to: kernel[1, 64](to, shared, 64), args=(to,)) for to in results]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all((to == 3).all() for to in results)


def test_interrupt() -> None:
    """Ctrl-C ends a launch."""
    # Where the tests run in the background, the signal is ignored at first.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Timer(0.2, signal.raise_signal, [signal.SIGINT]).start()
        start = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            vop.load(SCALE)["forever"][1, 1](limit=2**62, timeout=30.0)
        assert time.monotonic() - start < 20
    finally:
        signal.signal(signal.SIGINT, before)


def test_launch_files(tmp_path: Path) -> None:
    result = vop.run(ROOT / "examples/histogram/histogram.toml", output=tmp_path)
    assert result.ok and result.launches[0].kernel == "histogram"
    assert all(Path(file).is_file() and Path(file).is_relative_to(tmp_path) for file in result.files)
    first = result.launches[0]
    assert first.report.instructions > 0 and first.seconds > 0 and len(first.grid) == len(first.block) == 3
    for name, array in result.outputs.items():
        assert isinstance(array, np.ndarray), name


def test_launch_files_that_compare(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "scale.ptx").write_text(SCALE)
    np.save(tmp_path / "right.npy", np.array([3, 6, 10], np.uint32))
    (tmp_path / "job.toml").write_text("""
ptx = "scale.ptx"
[buffers]
from = { type = "u32", values = [1, 2, 3] }
to = { type = "u32", shape = [3], save = "to.npy", expect = "right.npy" }
[[launch]]
entry = "scale"
grid = 1
block = 3
args = ["to", "from", { u32 = 3 }]
""")
    result = vop.run(tmp_path / "job.toml")
    assert not result.ok
    [comparison] = result.comparisons
    assert (comparison.buffer, comparison.elements, comparison.differing) == ("to", 3, 1)
    assert comparison.first is not None and comparison.first[0] == (2,)
    np.testing.assert_array_equal(result.outputs["to"], [3, 6, 9])
    np.testing.assert_array_equal(np.load(tmp_path / "to.npy"), [3, 6, 9])
    assert sorted(result.outputs) == ["from", "to"] and result.files == (str(tmp_path / "to.npy"),)
    (tmp_path / "print.ptx").write_text(PRINT)
    (tmp_path / "wrong.toml").write_text('ptx = "print.ptx"\nlaunch = [{ grid = 1, block = 1, args = ["nothing"] }]')
    with pytest.raises(vop.RunError) as raised:
        vop.run(tmp_path / "wrong.toml")
    assert raised.value.findings[0].file == str(tmp_path / "wrong.toml")
    (tmp_path / "right.toml").write_text("""
ptx = "print.ptx"
buffers.to = { type = "u32", shape = [1] }
launch = [{ grid = 1, block = 1, args = ["to"] }]
""")
    assert vop.run(tmp_path / "right.toml", check="all").ok
    assert capsys.readouterr().out == "hi\n"


def test_arrays_that_a_kernel_would_misread_are_refused() -> None:
    kernel = vop.load(SCALE)["scale"]
    to = np.zeros(4, np.uint32)
    with pytest.raises(TypeError, match="byte order"):
        kernel[1, 4](to, np.arange(4, dtype=">u4"), 4)
    with pytest.raises(TypeError, match="masked"):
        kernel[1, 4](np.ma.masked_array(to), to, 4)
    assert (to == 0).all()


def test_a_variable_is_an_argument() -> None:
    module = vop.load(SCALE)
    to = np.zeros(1, np.uint32)
    module["scale"][1, 1](to, module.variable("factor", np.uint32), 1)
    assert to.tolist() == [9]
