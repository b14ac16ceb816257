"""Instructions as ufuncs: their results, on arrays of every layout."""

from __future__ import annotations

import gc
import inspect
import itertools
import re
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from conftest import words

import vop

Reference = Callable[..., np.ndarray]


def random_arrays(function: np.ufunc, *shape: int) -> list[np.ndarray]:
    return [words(seed, *shape) for seed in range(function.nin)]


def test_golden_rows(golden: dict[str, np.ndarray]) -> None:
    assert len(golden) == 6258
    for text, rows in golden.items():
        for semantics, d in (("isa", rows[:, 3]), ("ptxas", rows[:, 4])):
            function = vop.ufunc(text, semantics=semantics)
            sources = [np.ascontiguousarray(rows[:, i]) for i in range(function.nin)]
            np.testing.assert_array_equal(function(*sources), d, f"{text} {semantics}")


def test_families(families: list[str], reference: Reference) -> None:
    assert len(families) > 1000
    for text in families[::3]:
        function = vop.ufunc(text)
        # Whole vectors, and a remainder.
        sources = random_arrays(function, 45)
        np.testing.assert_array_equal(function(*sources), reference(function, *sources), text)


TEXTS = [
    "vadd4.s32.s32.s32.sat",
    "vabsdiff4.u32.u32.u32.add",
    "vmin2.s32.u32.s32.sat d.h1, a.h20, b.h31, c",
    "vmad.s32.u32.s32.sat.shr7 d, a.b2, -b.h1, c",
    "vset.s32.u32.lt.min",
    "vshl.s32.u32.u32.sat.wrap d.b3, a, b.b1, c",
]


@pytest.mark.parametrize("text", TEXTS)
def test_strides(text: str, reference: Reference) -> None:
    function = vop.ufunc(text)
    plain = random_arrays(function, 1500)
    expected = reference(function, *plain)
    layouts: list[Callable[[np.ndarray], np.ndarray]] = [
        lambda x: x.copy(),
        lambda x: np.repeat(x, 2)[::2],
        lambda x: x[::-1].copy()[::-1],
        lambda x: np.repeat(x[::-1], 3)[::-3],
        lambda x: np.stack([x, x + 1], 1)[:, 0],
        # Words that are not aligned: NumPy copies them.
        lambda x: np.frombuffer(b"." + x.tobytes(), np.uint32, offset=1),
        lambda x: x.astype(">u4"),
        lambda x: x.view(np.int32),
    ]
    for chosen in itertools.islice(itertools.product(layouts, repeat=function.nin), 0, None, 5):
        sources = [layout(x) for layout, x in zip(chosen, plain, strict=True)]
        np.testing.assert_array_equal(function(*sources).astype(np.uint32), expected)
        for out in (np.zeros(3000, np.uint32)[::2], np.zeros(1500, np.uint32)[::-1], np.zeros(1500, ">u4")):
            assert function(*sources, out=out, casting="unsafe") is out
            np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("text", TEXTS)
def test_lengths_and_offsets(text: str) -> None:
    function = vop.ufunc(text)
    sources = random_arrays(function, 700)
    whole = function(*sources)
    for length in [*range(70), 511, 512, 513, 600]:
        for start in range(0, 17, 5):
            part = [x[start : start + length] for x in sources]
            np.testing.assert_array_equal(function(*part), whole[start : start + length])


@pytest.mark.parametrize("text", TEXTS)
def test_broadcasting(text: str, reference: Reference) -> None:
    function = vop.ufunc(text)
    a, b = words(1, 7, 1, 33), words(2, 5, 1)
    c = [words(3, 33)] if function.nin == 3 else []
    d = function(a, b, *c)
    assert d.shape == (7, 5, 33) and d.dtype == np.uint32
    np.testing.assert_array_equal(d, reference(function, a, b, *c))
    # Scalars, of NumPy and of Python.
    for scalar in (b[0, 0], int(b[0, 0]), b[0]):
        np.testing.assert_array_equal(function(a, scalar, *c), reference(function, a, b[0], *c))
    assert function(b[0, 0], b[1, 0], *[x[0] for x in c]).shape == ()
    # Dimensions in any order.
    turned = words(4, 9, 8, 6)
    sources = [turned.transpose(2, 0, 1)] * function.nin
    np.testing.assert_array_equal(function(*sources), reference(function, *sources))


@pytest.mark.parametrize("text", TEXTS)
def test_out_over_sources(text: str) -> None:
    function = vop.ufunc(text)
    for length in (3, 100, 1500):
        for place in range(function.nin):
            sources = random_arrays(function, length)
            expected = function(*sources)
            function(*sources, out=sources[place])
            np.testing.assert_array_equal(sources[place], expected)
        # Shifted, reversed and interleaved over one another.
        base = words(9, 2 * length + 2)
        cuts = [
            slice(0, length),
            slice(1, length + 1),
            slice(length, 0, -1),
            slice(0, 2 * length, 2),
            slice(1, 2 * length + 1, 2),
        ]
        for to, *of in itertools.product(cuts, repeat=3):
            memory = base.copy()
            sources = [memory[cut] for cut in (*of, cuts[0])][: function.nin]
            expected = function(*[x.copy() for x in sources])
            function(*sources, out=memory[to])
            np.testing.assert_array_equal(memory[to], expected, f"{to} {of}")


@pytest.mark.parametrize("text", TEXTS)
def test_where(text: str) -> None:
    function = vop.ufunc(text)
    sources = random_arrays(function, 40, 37)
    where = np.random.default_rng(5).random((40, 37)) < 0.6
    d = np.full((40, 37), 0x55555555, np.uint32)
    function(*sources, out=d, where=where)
    np.testing.assert_array_equal(d, np.where(where, function(*sources), 0x55555555))


def test_types() -> None:
    function = vop.ufunc("vabsdiff.s32.u32.s32.add")
    a, b, c = random_arrays(function, 50)
    expected = function(a, b, c)
    for signs in itertools.product((np.uint32, np.int32), repeat=3):
        sources = [x.view(ty) for x, ty in zip((a, b, c), signs, strict=True)]
        d = function(*sources)
        # The result is signed if all sources are. Its bits do not depend on that.
        assert d.dtype == (np.int32 if set(signs) == {np.int32} else np.uint32)
        np.testing.assert_array_equal(d.view(np.uint32), expected)
    # Narrower integers keep their values.
    assert vop.vadd(np.array([200], np.uint8), np.array([-1], np.int8), dtype="s32").view(np.int32) == 199
    assert vop.vadd(np.array([True]), np.array([1], np.uint16)).dtype == np.uint32


def test_python_integers() -> None:
    add = vop.ufunc("vadd.u32.u32.u32")
    a = np.array([1, 2], np.uint32)
    assert add(a, 5).dtype == np.uint32 and add(a, 2**32 - 1).tolist() == [0, 1]
    signed = add(a.view(np.int32), -1)
    assert signed.dtype == np.int32 and signed.tolist() == [0, 1]
    assert add(3, 4) == 7
    for array, number in ((a, -1), (a, 2**32), (a.view(np.int32), 2**31)):
        with pytest.raises(OverflowError):
            add(array, number)
    # The types that NumPy remembers from the calls before make no difference.
    assert add(a, 5).dtype == np.uint32


@pytest.mark.parametrize(
    ("dtype", "words_of_it"),
    [
        ("int64", "astype"), ("uint64", "astype"), ("float32", "view"), ("float64", "view"), ("complex128", "view"),
        ("object", "astype"), ("datetime64[s]", "view"), ("U4", "view"),
    ],
)  # fmt: skip
def test_other_types_are_refused(dtype: str, words_of_it: str) -> None:
    a = np.zeros(3, np.uint32)
    for place, letter in enumerate("ab"):
        sources = [a, a]
        sources[place] = a.astype(dtype)
        with pytest.raises(TypeError, match=rf"vadd4.*: {letter} is .*uint32 or int32.*{words_of_it}"):
            vop.ufunc("vadd4.u32.u32.u32")(*sources)
    with pytest.raises(TypeError):
        vop.ufunc("vadd4.u32.u32.u32")(a, a, out=np.zeros(3, np.float32), casting="no")


@pytest.mark.parametrize("modifiers", [{}, {"dtype": "s32"}, {"dtype": np.uint32}])
def test_advice_on_int64_works_at_once(modifiers: dict[str, object]) -> None:
    """What the error says to write is accepted."""
    a = np.arange(-3, 3)
    assert a.dtype == np.int64
    for function in (vop.vadd4, vop.vadd4(**modifiers)):
        given = modifiers if function is vop.vadd4 else {}
        with pytest.raises(TypeError, match="a is int64, and words are uint32 or int32: write `a.astype") as raised:
            function(a, a, **given)
        [advice, other] = re.findall("`(.*?)`", str(raised.value).split("write", 1)[1])
        converted = eval(advice, {"a": a, "numpy": np})
        np.testing.assert_array_equal(function(converted, converted, **given), vop.vadd4(converted, converted))
        with pytest.raises(TypeError) as raised:
            function([1, 2], converted[:2], **given)
        of_list = eval(other, {"a": [1, 2], "numpy": np})
        assert function(of_list, of_list, **given).tolist() == [2, 4]


FOLDS = [
    ("vadd4.u32.u32.u32", 0),
    ("vadd4.u32.u32.u32.sat", 0),
    ("vadd2.s32.u32.s32", 0),
    ("vmin4.s32.s32.s32", 0x7F7F7F7F),
    ("vmax2.s32.s32.s32", 0x80008000),
    ("vmin.u32.u32.u32", 0xFFFFFFFF),
    ("vmax.s32.s32.s32.sat", 0x80000000),
    ("vadd4.s32.s32.s32.sat", None),
    ("vsub4.u32.u32.u32", None),
    ("vavrg4.u32.u32.u32", None),
    ("vabsdiff2.s32.u32.s32.sat", None),
    ("vshl.u32.u32.u32.wrap", None),
]


def folded(function: np.ufunc, array: np.ndarray, start: int | None = None) -> list[int]:
    """Every intermediate value of a fold, by `vop.eval`."""
    values = [int(x) for x in array]
    total = values.pop(0) if start is None else start
    totals = [total]
    for value in values:
        text = vop.parse(function).form
        total = vop.eval(text, total, value, 0)
        totals.append(total)
    return totals


@pytest.mark.parametrize(("text", "identity"), FOLDS)
def test_reduce_and_accumulate(text: str, identity: int | None) -> None:
    function = vop.ufunc(text)
    assert function.identity == identity
    for length in (1, 2, 15, 16, 17, 33, 64, 700, 1024, 1100, 5000):
        array = words(length, length)
        totals = folded(function, array)
        assert function.reduce(array) == totals[-1]
        assert function.reduce(np.repeat(array, 2)[::2]) == totals[-1]
        np.testing.assert_array_equal(function.accumulate(array), totals)
        signed = function.reduce(array.view(np.int32))
        assert signed.dtype == np.int32 and int(signed) & 0xFFFFFFFF == totals[-1]
    array = words(7, 6, 50, 40)
    for axis in (0, 1, 2):
        d, accumulated = function.reduce(array, axis=axis), function.accumulate(array, axis=axis)
        for index in np.ndindex(d.shape):
            line = np.moveaxis(array, axis, -1)[index]
            totals = folded(function, line)
            assert d[index] == totals[-1]
            np.testing.assert_array_equal(np.moveaxis(accumulated, axis, -1)[index], totals)
    np.testing.assert_array_equal(function.reduceat(array[0, 0], [0, 5, 30]), [
        folded(function, array[0, 0, cut])[-1] for cut in (slice(0, 5), slice(5, 30), slice(30, None))
    ])  # fmt: skip
    assert function.reduce(array[0, 0], initial=7) == folded(function, array[0, 0], 7)[-1] or identity is None


@pytest.mark.parametrize(("text", "identity"), FOLDS)
def test_identities(text: str, identity: int | None) -> None:
    function = vop.ufunc(text)
    array = words(3, 20, 30)
    where = array > 1 << 31
    if identity is None:
        for reduce in (lambda: function.reduce(array[:0, 0]), lambda: function.reduce(array, axis=(0, 1))):
            with pytest.raises(ValueError, match="identity|not reorderable"):
                reduce()
        return
    for ty in (np.uint32, np.int32):
        empty = function.reduce(np.zeros(0, ty))
        assert empty.dtype == ty and int(empty) & 0xFFFFFFFF == identity
    every = function.reduce(array, axis=None)
    assert every == function.reduce(array, axis=(0, 1)) == function.reduce(array.ravel())
    assert function.reduce(array, axis=None, where=where) == function.reduce(array[where])


def test_other_methods() -> None:
    function = vop.ufunc("vadd4.u32.u32.u32.sat")
    a, b = words(1, 5), words(2, 6)
    np.testing.assert_array_equal(function.outer(a, b), function(a[:, None], b))
    sums = np.zeros(3, np.uint32)
    function.at(sums, [0, 2, 0], np.array([1, 2, 0xFF], np.uint32))
    assert sums.tolist() == [0xFF, 0, 2]
    with pytest.raises(ValueError, match="only supported for binary"):
        vop.ufunc("vabsdiff4.u32.u32.u32.add").reduce(a)


def test_mnemonics(golden: dict[str, np.ndarray]) -> None:
    """Every golden form by the function and keywords of its mnemonic."""
    parameters = {name: set(inspect.signature(getattr(vop, name)).parameters) for name in vop.__all__ if name[0] == "v"}
    for text in golden:
        form = vop.parse(text).form
        # `vmad`'s minuses and `.po` stand in the text.
        negate = "".join(name for name in "abc" if f"-{name}" in text)
        modifiers = {
            "dtype": form.dtype, "atype": form.atype, "btype": form.btype, "sat": form.sat, "op2": form.op2,
            "cmp": form.cmp, "mode": form.mode, "scale": form.scale, "po": ".po" in text,
            "dsel": form.dsel, "asel": form.asel, "bsel": form.bsel, "negate": negate,
        }  # fmt: skip
        taken = {name: value for name, value in modifiers.items() if name in parameters[form.mnemonic]}
        # The form has no modifier that the function lacks, except that b of a shift is unsigned.
        assert not any(value for name, value in modifiers.items() if name not in taken and value != "u32"), text
        assert getattr(vop, form.mnemonic)(**taken) is vop.ufunc(text), text
    assert {vop.parse(text).form.mnemonic for text in golden} == parameters.keys()


def test_keywords() -> None:
    a, b = words(1, 100), words(2, 100)
    c = np.zeros(100, np.uint32)
    np.testing.assert_array_equal(vop.vadd4(a, b), vop.ufunc("vadd4.u32.u32.u32")(a, b))
    np.testing.assert_array_equal(
        vop.vadd4(a, b, sat=True, dtype="s32", asel=".b3210"), vop.ufunc("vadd4.s32.s32.s32.sat d, a.b3210, b, c")(a, b)
    )
    out = np.zeros_like(a)
    assert vop.vabsdiff4(a, b, c=c, op2="add", out=out, where=a > b) is out
    np.testing.assert_array_equal(out, np.where(a > b, vop.vabsdiff4(op2="add")(a, b, c), 0))
    np.testing.assert_array_equal(
        vop.vadd(a, b, c, dtype="u32", atype="s32", btype="s32", sat=True, dsel="b0", semantics="ptxas"),
        vop.ufunc("vadd.u32.s32.s32.sat d.b0, a, b, c", semantics="ptxas-13.5")(a, b, c),
    )
    assert vop.vset4(a, b, cmp="lt").max() <= 0x01010101
    assert vop.vshl(mode="clamp", dtype="s32").__name__ == "vshl.s32.s32.u32.clamp"
    big = np.zeros(100, ">u4")
    assert vop.vadd4(a, b, out=big, casting="equiv", order="C", subok=False) is big
    with pytest.raises(TypeError, match="Cannot cast"):
        vop.vadd4(a, b, out=np.zeros(100, np.int32), casting="no")
    with pytest.raises(TypeError, match="takes a, b and c: c missing"):
        vop.vabsdiff4(a, b, op2="add")
    for given, missing in (((a,), "b"), ((None, b), "a"), ((None, None, c), "a and b")):
        with pytest.raises(TypeError, match=f"takes a and b: {missing} missing"):
            vop.vadd4(*given)
    with pytest.raises(TypeError, match='b is int32, and no type says whether its words are signed: write dtype="s32"'):
        vop.vmin(a, b.view(np.int32))
    for call in (lambda: vop.vadd4(out=out), lambda: vop.vadd4(where=a > b)):
        with pytest.raises(TypeError, match="given without arrays"):
            call()
    with pytest.raises(TypeError, match="'cmp'"):
        vop.vset4(a, b)
    with pytest.raises(TypeError, match="'mode'"):
        vop.vshl(a, b)
    with pytest.raises(TypeError, match="unexpected keyword argument 'cmp'"):
        vop.vadd4(a, b, cmp="lt")
    with pytest.raises(vop.ParseError, match=r"vadd4\.u32\.u32\.u32\.min") as raised:
        vop.vadd4(a, b, c, op2="min")
    assert raised.value.code == "V0208"
    for modifiers in ({"op2": "add d, a, b, c //"}, {"dsel": "b0, a, b, c; "}, {"asel": ""}, {"bsel": "b0.b1"}, {"op2": "."}):
        with pytest.raises(vop.VopError, match="is no modifier"):
            vop.vadd4(a, b, c, **modifiers)
    with pytest.raises(vop.VopError, match="negate='d' names `d`"):
        vop.vmad(negate="d")


def test_an_operand_that_is_not_read() -> None:
    """PTX writes a c in all SIMD forms and takes one in all others. It may be left out where it is not read, as for `eval`."""
    a, b = words(1, 3, 100), words(2, 100)
    for function, text in ((vop.vadd4, "vadd4.u32.u32.u32"), (vop.vadd, "vadd.u32.u32.u32")):
        for c in (b, a, 7, b.astype(np.float64), np.zeros((3, 1))):
            np.testing.assert_array_equal(function(a, b, c), function(a, b))
        with pytest.raises(
            ValueError, match=r"does not read c, and the shape of c \(3, 100\) does not fit the result's, \(100,\)"
        ):
            function(b, b, a)
        assert vop.eval(text, 1, 2, 3) == vop.eval(text, 1, 2) == 3
        assert vop.explain(text, 1, 2, 3).d == vop.explain(text, 1, 2).d == 3
    assert vop.eval("vadd4.u32.u32.u32 d, a, b, a", 1, 2) == 3
    with pytest.raises(vop.VopError, match="the value of c is missing"):
        vop.eval("vadd4.u32.u32.u32 d.b0, a, b, c", 1, 2)
    with pytest.raises(vop.VopError, match="the value of b is missing"):
        vop.eval("vadd4.u32.u32.u32", 1)


def test_comparisons() -> None:
    a, b = words(1, 100), words(2, 100)
    for sign, name, compare in (
        ("<", "lt", np.less), ("<=", "le", np.less_equal), ("==", "eq", np.equal), ("!=", "ne", np.not_equal),
        (">", "gt", np.greater), (">=", "ge", np.greater_equal),
    ):  # fmt: skip
        for mnemonic in (vop.vset, vop.vset2, vop.vset4):
            assert mnemonic(cmp=sign) is mnemonic(cmp=name)
        np.testing.assert_array_equal(vop.vset(a, b, cmp=sign), compare(a, b))
    for wrong in ("=", "<>", "", "=<"):
        with pytest.raises(vop.VopError, match=f"vset4: cmp='{wrong}' is no modifier"):
            vop.vset4(cmp=wrong)
    with pytest.raises(vop.ParseError, match="less"):
        vop.vset4(cmp="less")


@pytest.mark.parametrize("keyword", ["dtype", "atype", "btype"])
def test_spellings_of_types(keyword: str) -> None:
    unsigned = ("u32", ".u32", "uint32", "u4", "=u4", "I", np.uint32, np.dtype(np.uint32), np.uintc)
    signed = ("s32", ".s32", "int32", "i4", np.int32, np.dtype(np.int32), np.intc)
    for spellings in (unsigned, signed):
        for spelling in spellings:
            assert vop.vadd4(**{keyword: spelling}) is vop.vadd4(**{keyword: spellings[0]}), spelling
    assert vop.vadd4(dtype=np.int32, btype="uint32") is vop.ufunc("vadd4.s32.s32.u32")
    assert vop.vset2(dtype=np.int32, cmp="<") is vop.ufunc("vset2.s32.s32.lt")
    for wrong, why in (
        (
            np.uint8,
            r"numpy\.uint8 is refused, as an operand is a register of 32 bits, and the mnemonic `vadd4` divides it into four",
        ),
        ("int64", "'int64' is refused, as an operand is a register of 32 bits\n"),
        (np.uint64, "an operand is a register of 32 bits\n"),
        (float, "video instructions compute with integers"),
        (np.float32, r"numpy\.float32 .* compute with integers"),
        (bool, "compute with integers"),
        (">u4", "a register has no byte order"),
        ("s64", "'s64' is refused, as it is no type"),
        ("", "it is no type"),
        (7, "7 is refused, as it is no type"),
    ):
        with pytest.raises(vop.VopError, match=f"vadd4: {keyword}=.*{why}") as raised:
            vop.vadd4(**{keyword: wrong})
        assert 'write "u32" (also numpy.uint32)' in (raised.value.help or "")
    with pytest.raises(vop.VopError, match="mnemonic `vmin2` divides it into two half-words"):
        vop.vmin2(**{keyword: "i2"})


def test_one_instruction_is_one_object() -> None:
    for text in (
        "vadd4.u32.s32.u32.sat",
        "vadd4.sat.u32.s32.u32 %r1, %r2, %r3, %r4;",
        "vadd4.u32.s32.u32.sat d.b3210, a, b, c",
    ):
        assert vop.ufunc(text) is vop.ufunc("vadd4.u32.s32.u32.sat d, a, b, c")
    function = vop.ufunc("vadd4.u32.s32.u32.sat")
    assert vop.ufunc(function) is vop.ufunc(vop.parse(function)) is vop.ufunc(vop.parse(function).form) is function
    assert vop.ufunc(function, semantics="ptxas") is not function
    assert isinstance(function, np.ufunc) and (function.nin, function.nout) == (2, 1)
    assert "clamps each sum" in function.__doc__
    for text in (
        "vadd.u32.u32.u32 d, a, 7",
        "vadd.u32.u32.u32 d, a, a",
        "@p vadd.u32.u32.u32 d, a, b",
        "vadd.u32.u32.u32.add d, a, b, c+1",
    ):
        with pytest.raises(vop.VopError, match="fixes operands"):
            vop.ufunc(text)
    with pytest.raises(TypeError, match="no ufunc of vop"):
        vop.ufunc(np.add)


def test_ufuncs_are_freed() -> None:
    """More forms than are kept: the memory of the others is freed."""
    form = "vadd4.u32.u32.u32 d, a.b{}, b.b{}, c"
    selectors = ["".join(digits) for digits in itertools.product("0567", repeat=4)]
    texts = [form.format(a, b) for a in selectors[::2] for b in selectors[::8]]
    a = words(1, 40)

    def run() -> int:
        for text in texts:
            vop.ufunc(text)(a, a)
            vop.ufunc(text, semantics="ptxas")
        gc.collect()
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1])

    if not sys.platform.startswith("linux"):
        pytest.skip("asks Linux for the memory in use")
    before = run()
    assert run() - before < 1000, "pages"


def test_the_lock_is_released() -> None:
    """Another thread runs while a loop does."""
    function = vop.ufunc("vmad.s32.u32.s32.sat.shr7 d, a.b2, -b.h1, c")
    sources = random_arrays(function, 1 << 20)
    steps, stop = 0, threading.Event()

    def step() -> None:
        nonlocal steps
        while not stop.is_set():
            steps += 1
            time.sleep(0)

    interval = sys.getswitchinterval()
    # From here on Python interrupts no thread: it runs until it releases the lock.
    sys.setswitchinterval(1000)
    try:
        thread = threading.Thread(target=step)
        thread.start()
        before = steps
        for _ in range(1000):
            function(*sources)
            if steps > before:
                break
        assert steps > before
    finally:
        stop.set()
        sys.setswitchinterval(interval)
        thread.join()


def test_threads() -> None:
    function = vop.ufunc("vmad.s32.u32.s32.sat.shr7 d, a.b2, -b.h1, c")
    sources = random_arrays(function, 1 << 20)
    expected, d = function(*sources), np.zeros(1 << 20, np.uint32)

    def part(i: int) -> None:
        here = slice(i << 16, (i + 1) << 16)
        function(*(x[here] for x in sources), out=d[here])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(part, range(16)))
    np.testing.assert_array_equal(d, expected)
