"""Functions of texts and single values: parse, eval, explain, check, lower, and their errors."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT, words

import vop


def test_parse() -> None:
    instruction = vop.parse("@!p vmad.s32.u32.s32.sat.shr7 %r1, %r2.b1, -%r3, %r4")
    assert (instruction.guard, instruction.d, instruction.a, instruction.b, instruction.c) == (
        "@!p",
        "%r1",
        "%r2",
        "%r3",
        "%r4",
    )
    form = instruction.form
    assert str(form) == "vmad.s32.u32.s32.sat.shr7 d, a.b1, -b, c"
    assert (form.mnemonic, form.dtype, form.atype, form.btype, form.sat, form.scale, form.asel, form.nin) == (
        "vmad", "s32", "u32", "s32", True, "shr7", "b1", 3,
    )  # fmt: skip
    assert vop.parse("vadd.u32.u32.u32 d, a, 7").b == "7"
    assert vop.parse("vset4.s32.u32.ge.add d.b31, a, b.b0246, c").form.dsel == "b31"
    assert hash(form) == hash(vop.parse(form).form) and form == vop.parse(str(form)).form


def test_parse_with_declarations() -> None:
    registers = ".reg .b32 a, b; .reg .f32 f;"
    assert vop.parse("vadd.u32.u32.u32 a, a, b", declare=registers).c is None
    with pytest.raises(vop.ParseError) as raised:
        vop.parse("vadd.u32.u32.u32 a, x, b", declare=registers)
    assert raised.value.code is not None and raised.value.code.startswith("V04")
    with pytest.raises(vop.ParseError, match="declare"):
        vop.parse("vadd.u32.u32.u32 a, x, b", declare=".reg .c32 a")


def test_accepted_texts() -> None:
    """Golden verdicts of ptxas that do not depend on the registers that the rows were judged with."""
    with open(ROOT / "tests/golden/accept.tsv") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    legal = [text for verdict, text, *_ in rows if verdict == "OK"]
    assert len(legal) > 3000
    for text in legal:
        instruction = vop.parse(text)
        assert str(vop.parse(instruction)) == str(instruction) and vop.parse(instruction).form == instruction.form


def test_eval(golden: dict[str, np.ndarray]) -> None:
    for text, rows in list(golden.items())[::7]:
        for a, b, c, isa, ptxas in rows.tolist():
            assert vop.eval(text, a, b, c) == isa
            assert vop.eval(vop.parse(text), a, b, c, semantics="ptxas") == ptxas
    assert vop.eval("vadd.u32.u32.u32 d, a, 7", 1) == vop.eval("vadd.u32.u32.u32 d, a, 7", 1, None) == 8
    assert vop.eval("vadd.s32.s32.s32", -(2**31), -1) == 2**31 - 1
    assert vop.eval("vadd.u32.u32.u32", np.uint32(3), np.int8(-1)) == 2
    assert vop.eval(vop.ufunc("vadd.u32.s32.s32.sat d.b0, a, b, c", semantics="ptxas"), -16, 5, 0) == 255


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((), "the value of a is missing"),
        ((1,), "the value of b is missing"),
        ((1, None), "the value of b is missing"),
        ((1, 2), "the value of c is missing"),
        ((1, 2**32, 0), "b is 4294967296, which does not fit 32 bits"),
        ((-(2**31) - 1, 2, 0), "a is -2147483649, which does not fit"),
        ((2**200, 2, 0), "does not fit 32 bits"),
    ],
)
def test_values_that_do_not_fit(args: tuple[int, ...], message: str) -> None:
    with pytest.raises(vop.VopError, match=message):
        vop.eval("vabsdiff4.u32.u32.u32.add", *args)


def test_values_that_are_none() -> None:
    with pytest.raises(TypeError, match="a is an array: `vop.ufunc` applies"):
        vop.eval("vadd.u32.u32.u32", np.zeros(3, np.uint32), 1)
    with pytest.raises(TypeError):
        vop.eval("vadd.u32.u32.u32", 1.5, 1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="an instruction is a str"):
        vop.eval(7, 1, 1)  # type: ignore[arg-type]
    with pytest.raises(vop.VopError, match="`b` is|operand b is the immediate 0x7"):
        vop.eval("vadd.u32.u32.u32 d, a, 7", 1, 8)
    with pytest.raises(vop.VopError, match="stands for two operands"):
        vop.eval("vadd.u32.u32.u32 d, a, a", 1, 8)


def test_explain() -> None:
    explanation = vop.explain("vadd4.s32.s32.u32.sat d.b20, a, b, c", 0x12F48056, 0xFF7F8001, 0x64)
    assert explanation.d == explanation.stages["d"] == 0x00730057
    assert [lane["raw"] for lane in explanation.stages["lanes"]] == [87, 0, 115, 273]
    text = str(explanation)
    # As the README shows it.
    assert text.splitlines()[0] == "vadd4.s32.s32.u32.sat d.b20, a, b, c"
    assert text in (ROOT / "README.md").read_text()
    assert repr(explanation) == text and "\x1b" not in text and "\x1b[1m" in explanation.ansi
    page = explanation._repr_html_()
    assert page.startswith("<pre") and page.endswith("</pre>") and "font-weight: bold" in page and "\x1b" not in page
    assert "a &lt;&lt; b" in vop.explain("vshl.u32.u32.u32.wrap", 1, 2)._repr_html_()
    # It names the deviation of ptxas's code.
    assert "d = 0x000000ff" in str(vop.explain("vadd.u32.s32.s32.sat d.b0, a, b, c", -16, 5, 0))
    assert vop.explain("vadd.u32.s32.s32.sat d.b0, a, b, c", -16, 5, 0, semantics="ptxas").d == 255


def test_explain_at_a_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    explanation = vop.explain("vadd.u32.u32.u32", 1, 2)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert repr(explanation) == explanation.ansi and "\x1b" not in str(explanation)
    monkeypatch.setenv("NO_COLOR", "1")
    assert repr(explanation) == str(explanation)


def test_explain_codes() -> None:
    assert str(vop.explain("V0203")).startswith("V0203: wrong number of types\n")
    assert "V0606" in str(vop.explain("v0606"))
    assert vop.explain("V0203").d is None
    with pytest.raises(vop.VopError, match="no code `V9999`"):
        vop.explain("V9999")
    with pytest.raises(vop.VopError, match="takes no values"):
        vop.explain("V0203", 1)


def test_check_files() -> None:
    uses = vop.check(ROOT / "examples/check/stereo.cu")
    assert [use.verdict for use in uses] == ["legal", "legal", "illegal"]
    [fault, other] = uses[2].diagnostics
    assert (fault.code, fault.severity, fault.line, fault.help) == ("V0207", "error", 13, "drop one")
    assert other.code == "V0304" and uses[0].form == vop.parse("vabsdiff4.u32.u32.u32.add").form
    # As the README shows it.
    readme = (ROOT / "README.md").read_text()
    assert all(line.rstrip() in readme for line in str(fault).splitlines() if "stereo.cu" not in line)
    source = (ROOT / "examples/check/stereo.cu").read_bytes()
    assert [use.span for use in vop.check(source, language="cuda")] == [use.span for use in uses]
    assert vop.check_file(ROOT / "examples/check/stereo.cu") == vop.check_file(str(ROOT / "examples/check/stereo.cu")) == uses
    for read in (vop.check, vop.check_file):
        with pytest.raises(FileNotFoundError):
            read(Path("nowhere.cu"))


def test_check_files_that_are_none(tmp_path: Path) -> None:
    pipe, long = tmp_path / "pipe.ptx", tmp_path / "long.ptx"
    os.mkfifo(pipe)
    with long.open("wb") as file:
        file.truncate(1 << 40)
    for read in (vop.check, vop.check_file):
        with pytest.raises(OSError, match="it is no plain file"):
            read(pipe)
        with pytest.raises(OSError, match="at most 268435456 are read"):
            read(long)
        with pytest.raises(IsADirectoryError):
            read(tmp_path)


def test_check_files_of_other_names(tmp_path: Path) -> None:
    kernel = tmp_path / "kernel.txt"
    kernel.write_bytes(b"/* gr\xf6\xdfer */ vadd.u32.u32.u32 d, a, b;")
    with pytest.raises(vop.VopError, match="extension of .*kernel.txt is unknown"):
        vop.check_file(kernel)
    [use] = vop.check_file(kernel, language="ptx")
    assert kernel.read_bytes()[slice(*use.span)] == b"vadd.u32.u32.u32 d, a, b;"


def test_check_of_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name of a file is no text: that there is nothing to find in it would be no answer."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "Makefile").touch()
    for text in ("x.cu", "src/my kernel.PTX", "x.cu\n", "Makefile", str(tmp_path), "../a.py"):
        for language in (None, "cuda"):
            with pytest.raises(vop.VopError, match="is the name of a file") as raised:
                vop.check(text, language=language)
            assert raised.value.help == f"write `vop.check_file({text.strip()!r})`"
    for text in ("", "makefile", "x.txt", "vadd.u32.u32.u32 d, a, b; // x.cu", "// x.cu", "a.cu\nb.cu", "x\0.c"):
        assert len(vop.check(text, language="ptx")) == text.count("vadd")


def test_check_texts() -> None:
    source = '// größer …\nasm("vmin4.u32.u32.u32.sat.add %0, %1, %2, %0;"); f("…", "vadd." T);'
    use = vop.check(source, language="cuda")[0]
    start, end = use.span
    assert source[start:end].startswith("vmin4.u32") and use.line == 2
    start, end = use.diagnostics[0].span
    assert source[start:end] == ".add" or source[start:end].startswith(".")
    assert vop.check(source, name="k.cu")[0].span == use.span
    lints = vop.check(".reg .b32 d, a, b, c; vmax.u32.u32.u32.sat d, a, b;", language="ptx")
    assert [(use.verdict, use.diagnostics[0].code, use.diagnostics[0].severity) for use in lints] == [
        ("legal", "V0702", "warning")
    ]
    assert vop.check("", language="rust") == []
    assert vop.check("vadd.u32.u32.u32 d, a, b;")[0].text == "vadd.u32.u32.u32 d, a, b"
    assert vop.check("") == vop.check("mov.u32 a, b;") == []
    with pytest.raises(vop.VopError, match="read as PTX it has no statement") as raised:
        vop.check(source)
    assert "cuda" in (raised.value.help or "")
    with pytest.raises(vop.VopError, match="no language `c`"):
        vop.check(source, language="c")
    with pytest.raises(vop.VopError, match="the extension of notes.txt is unknown"):
        vop.check(source, name="notes.txt")


def test_lower() -> None:
    lowering = vop.lower("vadd4.s32.s32.s32.sat d.b20, a, b, c", "sm_120f")
    assert (lowering.cost, lowering.before, lowering.needs) == (2, 45, ("9.2", "sm_120f"))
    assert "add.sat.s8x4" in lowering.ptx and not lowering.writes_carry
    kept = vop.lower("vabsdiff4.u32.u32.u32.add", "sm_90")
    assert (kept.rule, kept.cost, kept.before) == ("keep", 1, 1)
    for target in ("sm_1", "pascal"):
        with pytest.raises(vop.VopError, match=f"no target `{target}`"):
            vop.lower("vabsdiff4.u32.u32.u32.add", target)
    with pytest.raises(vop.VopError, match="no semantics `gpu`"):
        vop.lower("vabsdiff4.u32.u32.u32.add", "sm_90", semantics="gpu")


def test_lower_module() -> None:
    source = (ROOT / "examples/motion/motion.ptx").read_text()
    lowered = vop.lower_module(source, "sm_90")
    assert len(lowered.instructions) == 121 and lowered.raised == ()
    assert sum(one.before for one in lowered.instructions) == 1726
    assert sum(one.cost for one in lowered.instructions) == 238
    one = lowered.instructions[0]
    assert source[slice(*one.span)].startswith(one.form.mnemonic)
    assert "// vavrg4.u32.u32.u32" in lowered.ptx and str(lowered) == lowered.ptx
    raised = vop.lower_module(source, "sm_120f", may_raise=True)
    assert any(directive == ".target" for directive, _, _ in raised.raised)
    for text, message in (
        ("int main() {}", "is no PTX module"),
        (source.replace("sm_75", "sm_120"), "does not run on sm_90"),
        (source.replace("vavrg4.u32.u32.u32", "vavrg4.u32.u32"), "V0203"),
    ):
        with pytest.raises(vop.LowerError, match=message):
            vop.lower_module(text, "sm_90")
    with pytest.raises(vop.LowerError) as fault:
        vop.lower_module(source.replace("sm_75", "sm_120"), "sm_90")
    assert fault.value.span is not None and source.replace("sm_75", "sm_120")[slice(*fault.value.span)] == "sm_120"


def test_port() -> None:
    targets = vop.port_targets()
    assert list(targets)[:2] == ["c", "cpp"] and targets["wgsl"].startswith("WGSL")
    for target in targets:
        port = vop.port("vadd4.s32.s32.s32.sat", to=target)
        assert (port.form, port.target) == ("vadd4.s32.s32.s32.sat d, a, b, c", target)
        assert port.name == "vadd4_s32_s32_s32_sat" and port.name in port.code and str(port) == port.code
    form = vop.parse("vmin2.u32.s32.s32.sat d.h0, a, b, c").form
    assert vop.port(form, "c") == vop.port(str(form), "c")
    assert vop.port(vop.ufunc("vadd.u32.s32.s32.sat d.b0, a, b, c", semantics="ptxas"), "c").name.endswith("_ptxas")
    assert vop.port("__vsubss4", "c").form == "__vsubss4" and vop.port("__vsubss4", "c").notes == ()
    assert "is overloaded" in vop.port("__dp4a", "c").notes[0]
    assert vop.port("__dp4a(char4, char4, int)", "c").notes == ()
    assert vop.port("lop3.b32 d, a, b, c, 0x96", "c").operations == 2
    assert "call it with b = 7" in vop.port("@p vadd.u32.u32.u32 d, a, 7", "c").notes[0]


def test_ported_code_computes() -> None:
    """The code for NumPy runs here, and gives what `eval` gives."""
    names: dict[str, Any] = {}
    text = "vabsdiff4.s32.u32.s32.sat d.b20, a, b.b0123, c"
    port = vop.port(text, to="numpy")
    exec(port.code, names)
    a, b, c = (words(i, 200) for i in range(3))
    np.testing.assert_array_equal(names[port.name](a, b, c), vop.ufunc(text)(a, b, c))


def test_port_errors() -> None:
    with pytest.raises(vop.VopError, match="there is no language `fortran`") as raised:
        vop.port("vadd4.u32.u32.u32", to="fortran")
    assert not isinstance(raised.value, vop.ParseError) and "rust" in (raised.value.help or "")
    # A long word is two words where a language has no other.
    assert vop.port("vmad.s32.s32.s32.sat", to="wgsl").operations > 20
    with pytest.raises(vop.ParseError) as fault:
        vop.port("vadd4.u32.u32", to="c")
    assert fault.value.code == "V0203"
    # Spans count characters.
    text = "prmt.b32 é, a, b, c"
    with pytest.raises(vop.ParseError, match="`é` is no register") as other:
        vop.port(text, to="c")
    assert other.value.span is not None and text[slice(*other.value.span)] == "é"
    with pytest.raises(vop.ParseError, match="must be a constant"):
        vop.port("lop3.b32", to="c")
    with pytest.raises(vop.ParseError, match="results by reference") as reference:
        vop.port("__vibmax_s32", to="c")
    assert "setp.ge.s32" in (reference.value.help or "")
    with pytest.raises(TypeError, match="an instruction is a str"):
        vop.port(7, to="c")  # type: ignore[arg-type]


def test_spans_count_code_points() -> None:
    """Whatever stands before: marks, characters of two code units, combining ones, line ends of any kind."""
    for before in ("é", "\ufeff", "😀😀", "e\u0301", "日本\r\n", "\u2028", "\x0b\x0c", "\0é", "a\rb"):
        source = f".reg .b32 d, a, b, c; /* {before} */ vadd.u32.u32.u32 d, a, b.b9; // {before}\n/* {before} */ vmin4.u32.u32 d, a, b, c;"
        first, second = vop.check(source, language="ptx")
        assert source[slice(*first.span)].startswith("vadd.u32") and source[slice(*first.diagnostics[0].span)] == ".b9"
        assert source[slice(*second.span)].startswith("vmin4.u32")
        start = source.rindex("\n", 0, first.span[0]) + 1 if "\n" in source[: first.span[0]] else 0
        assert first.column == first.span[0] - start + 1
    quoted = 'x = "😀"; asm("vmin4.u32.u32 %0, %1, %2, %0;" : "+r"(d) : "r"(é), "r"(b));'
    [use] = vop.check(quoted, language="cuda")
    assert quoted[slice(*use.diagnostics[0].span)] == ".u32.u32" and use.diagnostics[0].column == quoted.index(".u32") + 1


def test_errors() -> None:
    text = "vmin4.u32.u32 d.b00, a, 7, c"
    with pytest.raises(ValueError) as raised:
        vop.parse(text)
    error = raised.value
    assert isinstance(error, vop.ParseError) and isinstance(error, vop.VopError)
    assert [one.code for one in error.diagnostics] == ["V0203", "V0304", "V0302"]
    assert repr(error.diagnostics[0]).startswith("Diagnostic('V0203', '`vmin4` has three types")
    assert (error.code, error.span, error.message) == ("V0203", (5, 13), error.diagnostics[0].message)
    assert error.help is not None and "vmin4.u32.u32.u32" in error.help
    # Drawn with the caret under the place.
    lines = str(error).splitlines()
    assert lines[2].index(text) + 5 == lines[3].index("^")
    # Characters, not bytes.
    with pytest.raises(vop.ParseError) as raised_late:
        vop.parse("/* größer */ vmin4.u32.u32.u32 d, a, 7, c")
    assert raised_late.value.span == (37, 38)
    for one in (error, vop.VopError("no", "yes")):
        copy = pickle.loads(pickle.dumps(one))
        assert (type(copy), str(copy), copy.code, copy.span, copy.help, copy.diagnostics) == (
            type(one), str(one), one.code, one.span, one.help, one.diagnostics,
        )  # fmt: skip
    with pytest.raises(vop.ParseError):
        vop.ufunc("vadd4")
    for hostile in ("", "\0", "v\0add", "vadd.u32.u32.u32 d, a, \ud800", "🎈" * 50, "(" * 5000):
        with pytest.raises((vop.ParseError, UnicodeEncodeError)):
            vop.parse(hostile)


def test_results_pickle() -> None:
    for result in (
        vop.parse("vadd4.u32.u32.u32 d, a, b, c"), vop.explain("vadd4.u32.u32.u32"), vop.lower("vadd4.u32.u32.u32", "sm_90"),
        vop.port("vadd4.u32.u32.u32", "c"), vop.check("vadd4.u32.u32 d, a, b, c;", language="ptx"),
    ):  # fmt: skip
        assert pickle.loads(pickle.dumps(result)) == result
