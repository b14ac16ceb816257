"""NVIDIA PTX's video instructions, exactly: `vadd` … `vset`, `vadd2` … `vset2`, `vadd4` … `vset4`.

>>> import numpy as np, vop
>>> a = np.array([250, 3, 128, 0], np.uint8).view(np.uint32)
>>> b = np.array([10, 5, 128, 0], np.uint8).view(np.uint32)
>>> vop.vadd4(a, b, sat=True).view(np.uint8)
array([255,   8, 255,   0], dtype=uint8)
>>> vop.eval("vabsdiff4.u32.u32.u32.add", int(a[0]), int(b[0]), 0)
242

- :func:`ufunc` makes a :class:`numpy.ufunc` of any instruction, and ``vop.vadd4`` and the other mnemonics do so with their
  modifiers as keywords.
- :func:`parse`, :func:`check` judge texts and sources as ptxas does, :func:`eval` and :func:`explain` compute one value,
  :func:`lower` and :func:`lower_module` write base instructions that cost less.
- What goes wrong raises :class:`VopError`, with the place and what to write instead.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, SupportsIndex

import numpy as _np

from . import _vop
from ._errors import LowerError, ParseError, VopError
from ._results import (
    Diagnostic,
    Explanation,
    Form,
    Instruction,
    LoweredModule,
    Lowering,
    Rewrite,
    Use,
)
from ._ufunc import Mnemonic, _named, ufunc

vadd = Mnemonic("vadd")
vsub = Mnemonic("vsub")
vabsdiff = Mnemonic("vabsdiff")
vmin = Mnemonic("vmin")
vmax = Mnemonic("vmax")
vshl = Mnemonic("vshl")
vshr = Mnemonic("vshr")
vmad = Mnemonic("vmad")
vset = Mnemonic("vset")
vadd2 = Mnemonic("vadd2")
vsub2 = Mnemonic("vsub2")
vavrg2 = Mnemonic("vavrg2")
vabsdiff2 = Mnemonic("vabsdiff2")
vmin2 = Mnemonic("vmin2")
vmax2 = Mnemonic("vmax2")
vset2 = Mnemonic("vset2")
vadd4 = Mnemonic("vadd4")
vsub4 = Mnemonic("vsub4")
vavrg4 = Mnemonic("vavrg4")
vabsdiff4 = Mnemonic("vabsdiff4")
vmin4 = Mnemonic("vmin4")
vmax4 = Mnemonic("vmax4")
vset4 = Mnemonic("vset4")

__all__ = [
    "Diagnostic",
    "Explanation",
    "Form",
    "Instruction",
    "LowerError",
    "LoweredModule",
    "Lowering",
    "Mnemonic",
    "ParseError",
    "Rewrite",
    "Use",
    "VopError",
    "check",
    "eval",
    "explain",
    "lower",
    "lower_module",
    "parse",
    "ufunc",
    "vabsdiff",
    "vabsdiff2",
    "vabsdiff4",
    "vadd",
    "vadd2",
    "vadd4",
    "vavrg2",
    "vavrg4",
    "vmad",
    "vmax",
    "vmax2",
    "vmax4",
    "vmin",
    "vmin2",
    "vmin4",
    "vset",
    "vset2",
    "vset4",
    "vshl",
    "vshr",
    "vsub",
    "vsub2",
    "vsub4",
]

#: The version of the package.
__version__: str = _vop.__version__

#: What names an instruction: a text, with or without operands, or what was made of one.
Named = str | Form | Instruction | _np.ufunc


def _text(instr: Named, semantics: str | None) -> tuple[str, str]:
    """An instruction's text, and the semantics that is asked for."""
    if isinstance(instr, _np.ufunc):
        text, own = _named(instr)
        return text, semantics or own
    if not isinstance(instr, str | Form | Instruction):
        raise TypeError(f"an instruction is a str, a Form, an Instruction or a ufunc of vop, not {type(instr).__name__}")
    return str(instr), semantics or "isa"


def _form(values: Mapping[str, Any] | None) -> Form | None:
    return None if values is None else Form(**values)


def parse(instr: Named, *, declare: str | None = None) -> Instruction:
    """Reads one instruction exactly as ptxas does.

    Parameters
    ----------
    instr : str
        The text; operands may be left out.
    declare : str, optional
        Register declarations to judge operands by, ``".reg .b32 a, b; .reg .pred p;"``. Without, any identifier is a
        32-bit register.

    Returns
    -------
    Instruction
        Its ``form`` holds the meaning, ``d``, ``a``, ``b``, ``c`` and ``guard`` what it is applied to.

    Raises
    ------
    ParseError
        The text is refused: every fault with its place, and what to write instead.

    Examples
    --------
    >>> import vop
    >>> vop.parse("vadd4.sat.u32.u32.u32 %r1, %r2, %r3, %r1")
    Instruction('vadd4.u32.u32.u32.sat %r1, %r2, %r3, %r1')
    >>> try:
    ...     vop.parse("vadd4.u32.u32 d, a, b, c")
    ... except vop.VopError as error:
    ...     print(error.code, error.span, error.help)
    V0203 (5, 13) write `vadd4.u32.u32.u32`, with `.s32` for what is signed
    """
    read = _vop.parse(_text(instr, None)[0], declare)
    read["form"] = Form(**read["form"])
    return Instruction(**read)


def eval(
    instr: Named,
    a: SupportsIndex | None = None,
    b: SupportsIndex | None = None,
    c: SupportsIndex | None = None,
    *,
    semantics: str | None = None,
) -> int:
    """The result of one instruction for one set of values.

    Parameters
    ----------
    instr : str, Form, Instruction or ufunc
        The instruction, with or without operands.
    a, b, c : int
        The values of the registers, -2**31 to 2**32 - 1; c where the form uses it. Immediates of the text may be left
        out.
    semantics : str, optional
        Whose answer, as of :func:`ufunc`.

    Returns
    -------
    int
        d as an unsigned number, 0 to 2**32 - 1.

    Raises
    ------
    ParseError
        The text is no legal instruction.
    VopError
        A value is missing, contradicts the text or does not fit.

    Examples
    --------
    >>> import vop
    >>> hex(vop.eval("vadd4.s32.s32.u32.sat d.b20, a, b, c", 0x12f48056, 0xff7f8001, 0x64))
    '0x730057'
    >>> vop.eval("vadd.u32.s32.s32.sat d.b0, a, b, c", -16, 5, 0, semantics="ptxas")
    255
    """
    text, semantics = _text(instr, semantics)
    return _vop.eval(text, _given(a, b, c), semantics)


def _given(*values: Any) -> list[Any]:
    """The values without those behind the last one that is given."""
    given = list(values)
    while given and given[-1] is None:
        given.pop()
    return given


def explain(
    instr: Named,
    a: SupportsIndex | None = None,
    b: SupportsIndex | None = None,
    c: SupportsIndex | None = None,
    *,
    semantics: str | None = None,
) -> Explanation:
    """What an instruction does, stage by stage, or what a diagnostic's code means.

    Parameters
    ----------
    instr : str, Form, Instruction or ufunc
        The instruction, or a code, ``"V0207"``.
    a, b, c : int, optional
        Values, as of :func:`eval`; without, some that show every stage.
    semantics : str, optional
        Whose answer, as of :func:`ufunc`.

    Returns
    -------
    Explanation
        At a prompt it prints in colours, in a notebook it shows as HTML, ``str()`` is plain text, and ``stages`` is
        the same as data.

    Raises
    ------
    ParseError, VopError
        As :func:`eval`; there is no such code.

    Examples
    --------
    >>> import vop
    >>> vop.explain("vmax.s32.u32.s32.sat", 1 << 31, -5)
    vmax.s32.u32.s32.sat d, a, b
    Takes the greater of a (unsigned) and b (signed), and clamps the result to
    -2147483648…2147483647.
    <BLANKLINE>
    a  u32            80000000            2147483648
    b  s32            fffffffb                    -5
    max                                   2147483648
    sat s32                              ↓2147483647   clamped from 2147483648
    d                 7fffffff            2147483647
    <BLANKLINE>
    PTX ISA 9.7.18.1.1, .version 2.0, .target sm_20 and up
    """
    text, semantics = _text(instr, semantics)
    given = _given(a, b, c)
    if len(text) == 5 and text[0] in "Vv" and text[1:].isdigit():
        meaning = _vop.explain_code(text)
        if meaning is None:
            raise VopError(f"there is no code `{text}`")
        if given:
            raise VopError("a code takes no values")
        return Explanation(meaning.rstrip("\n"), {})
    ansi, stages = _vop.explain(text, given, semantics)
    return Explanation(ansi.rstrip("\n"), json.loads(stages))


def check(source: str | bytes | os.PathLike[str], *, language: str | None = None, name: str | None = None) -> list[Use]:
    """Finds every video instruction of a source and judges it, as ``vop check`` does.

    Parameters
    ----------
    source : str, bytes or path
        A text, or a :class:`pathlib.Path` to read.
    language : str, optional
        ``"ptx"``, ``"cuda"`` (also C and C++), ``"opencl"``, ``"python"``, ``"llvm"`` or ``"rust"``. Without, a file's, or
        ``name``'s, extension tells, and a text is PTX.
    name : str, optional
        What diagnostics call the source.

    Returns
    -------
    list of Use
        In the order of the source. ``verdict`` says whether each is legal, ``diagnostics`` why not, or what is strange
        about it.

    Raises
    ------
    VopError
        There is no such language, an extension does not tell it, or a text that is no PTX names instructions.
    OSError
        The file cannot be read.

    Examples
    --------
    >>> import vop
    >>> [use] = vop.check('asm("vmin4.u32.u32.u32.sat.add %0, %1, %2, %0;" : "+r"(d) : "r"(a), "r"(b));', language="cuda")
    >>> use.verdict, use.diagnostics[0].code, use.diagnostics[0].help
    ('illegal', 'V0207', 'drop one')
    """
    if isinstance(source, os.PathLike):
        name = name or os.fspath(source)
        with open(source, "rb") as file:
            found = _vop.check(file.read(), False, language, name)
    elif isinstance(source, str):
        found = _vop.check(source.encode("utf-8", "replace"), True, language, name)
    else:
        found = _vop.check(bytes(source), False, language, name)
    return [
        Use(**{**use, "form": _form(use["form"]), "diagnostics": tuple(Diagnostic(**one) for one in use["diagnostics"])})
        for use in found
    ]


def lower(instr: Named, target: str, *, semantics: str | None = None) -> Lowering:
    """The cheapest base instructions known that compute the same as an instruction, for a GPU.

    Parameters
    ----------
    instr : str, Form, Instruction or ufunc
        The instruction, with or without operands.
    target : str
        The GPU: ``"sm_75"`` … ``"sm_121"``, or ``"sm_120f"`` and the like for what only GPUs of a family have.
    semantics : str, optional
        Whose answer is to be computed, as of :func:`ufunc`.

    Returns
    -------
    Lowering
        ``ptx`` is the block, ``cost`` and ``before`` the machine instructions that ptxas 13.5 makes of it and of the
        instruction.

    Raises
    ------
    ParseError
        The text is no legal instruction.
    LowerError
        No rule computes what is asked for.
    VopError
        There is no such target.

    Examples
    --------
    >>> import vop
    >>> print(vop.lower("vadd4.s32.s32.s32.sat d.b20, a, b, c", "sm_120f"))
    // vadd4.s32.s32.s32.sat d.b20, a, b, c;
    // packed saturating add: 2 on sm_120f, 45 as it is
    {
        .reg .b32 t<2>;
        add.sat.s8x4 t1, a, b;
        prmt.b32 d, t1, c, 0x7250;
    }
    """
    text, semantics = _text(instr, semantics)
    return Lowering(**_vop.lower(text, target, semantics))


def lower_module(source: str, target: str, *, semantics: str | None = None, may_raise: bool = False) -> LoweredModule:
    """A PTX module with base instructions in the place of its video instructions, as ``vop lower`` writes it.

    Parameters
    ----------
    source : str
        The text of the module.
    target : str
        The GPU, as of :func:`lower`.
    semantics : str, optional
        Whose answer is to be computed, as of :func:`ufunc`.
    may_raise : bool, optional
        Whether ``.version`` and ``.target`` may be raised where cheaper instructions need it.

    Returns
    -------
    LoweredModule
        ``ptx`` is the module; all that is no video instruction stays, byte for byte.

    Raises
    ------
    LowerError
        The module is not for this GPU, an instruction is illegal, or one cannot be replaced.
    VopError
        There is no such target.

    Examples
    --------
    >>> import vop
    >>> module = '''.version 9.2
    ... .target sm_90
    ... .entry k()
    ... {
    ...     .reg .b32 a, b, c;
    ...     vavrg4.u32.u32.u32 c, a, b, c;
    ... }
    ... '''
    >>> [(one.before, one.cost) for one in vop.lower_module(module, "sm_90").instructions]
    [(31, 3)]
    """
    lowered = _vop.lower_module(source, target, semantics or "isa", may_raise)
    return LoweredModule(
        ptx=lowered["ptx"],
        instructions=tuple(Rewrite(**{**one, "form": Form(**one["form"])}) for one in lowered["instructions"]),
        raised=tuple(lowered["raised"]),
        warnings=tuple(Diagnostic(**one) for one in lowered["warnings"]),
    )
