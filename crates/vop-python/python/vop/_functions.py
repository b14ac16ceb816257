"""The library's answers as functions."""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Mapping
from typing import Any, SupportsIndex, TypeAlias

import numpy as np

from . import _vop
from ._errors import VopError
from ._results import Diagnostic, Explanation, Form, Instruction, LoweredModule, Lowering, Port, Rewrite, Use
from ._ufunc import named

#: What names an instruction: a text, with or without operands, or an object that was made of one.
Named: TypeAlias = str | Form | Instruction | np.ufunc


def _text(instr: Named, semantics: str | None) -> tuple[str, str]:
    """An instruction's text, and the semantics that the caller asked for."""
    if isinstance(instr, np.ufunc):
        text, own = named(instr)
        return text, semantics or own
    if not isinstance(instr, str | Form | Instruction):
        raise TypeError(f"an instruction is a str, a Form, an Instruction or a ufunc of vop, not {type(instr).__name__}")
    return str(instr), semantics or "isa"


def _form(values: Mapping[str, Any] | None) -> Form | None:
    return None if values is None else Form(**values)


def parse(instr: Named, *, declare: str | None = None) -> Instruction:
    """Read one instruction, exactly as ptxas does.

    Parameters
    ----------
    instr : str
        The text; operands may be left out.
    declare : str, optional
        Declarations of registers, such as ``".reg .b32 a, b; .reg .pred p;"``: the operands must be declared there and
        have a fitting type. Without declarations any identifier is a 32-bit register.

    Returns
    -------
    Instruction
        ``form`` is what the instruction computes; ``d``, ``a``, ``b``, ``c`` and ``guard`` are its operands.

    Raises
    ------
    ParseError
        ptxas refuses the text. The exception holds every fault, where it is, and what to write instead.

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
    """Compute one instruction for one value of each operand.

    Parameters
    ----------
    instr : str, Form, Instruction or ufunc
        The instruction, with or without operands.
    a, b, c : int
        The values of the registers, -2**31 to 2**32 - 1. c may be left out where d does not depend on it, and so may an
        operand that is an immediate in the text.
    semantics : str, optional
        Whose result: ``"isa"`` is the manual's (the default), ``"ptxas"`` that of the newest ptxas's code,
        ``"ptxas-12.4"`` that of an older one.

    Returns
    -------
    int
        d as an unsigned number, 0 to 2**32 - 1.

    Raises
    ------
    ParseError
        The text is no legal instruction.
    VopError
        A value is missing, contradicts the text, or does not fit 32 bits.

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
    """The values up to the last one that is not None."""
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
    """Show what an instruction does, stage by stage, or what a diagnostic's code means.

    Parameters
    ----------
    instr : str, Form, Instruction or ufunc
        The instruction; or a code, such as ``"V0207"``.
    a, b, c : int, optional
        The values, as for :func:`eval`. Without values, the function chooses some that show every stage.
    semantics : str, optional
        Whose result, as for :func:`eval`.

    Returns
    -------
    Explanation
        At a prompt it prints in colours, and a notebook shows it as HTML. ``str()`` is plain text, and ``stages`` has the
        stages as data.

    Raises
    ------
    ParseError
        The text is no legal instruction.
    VopError
        There is no such code, or a value is missing, contradicts the text, or does not fit 32 bits.

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
    """Find every video instruction of a source text, and judge it, as ``vop check`` does.

    Parameters
    ----------
    source : str or bytes
        The text. (:func:`check_file` reads a file; a :class:`pathlib.Path` here does that, too.)
    language : str, optional
        ``"ptx"``, ``"cuda"`` (also C and C++), ``"opencl"``, ``"python"``, ``"llvm"`` or ``"rust"``. Without it the
        extension of `name` decides, and without `name` the text is PTX.
    name : str, optional
        The name of the source in diagnostics.

    Returns
    -------
    list of Use
        In the order of the source. ``verdict`` says whether each is legal. ``diagnostics`` says why it is not, or what
        is probably a mistake in it.

    Raises
    ------
    VopError
        There is no such language; the extension of `name` is unknown; the text was read as PTX, names video
        instructions and yet has no statement that is one; or `source` is the name of a file.
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
        return _uses(_vop.check(_read(source), False, language, name or os.fspath(source)))
    if isinstance(source, str):
        if _names_a_file(source):
            raise VopError(
                f"{source!r} is the name of a file, and `check` takes a text", f"write `vop.check_file({source.strip()!r})`"
            )
        return _uses(_vop.check(source.encode("utf-8", "replace"), True, language, name))
    return _uses(_vop.check(bytes(source), False, language, name))


def _names_a_file(text: str) -> bool:
    """Whether a text is a path: one of a file that exists, or a line that ends as the name of a source does."""
    line = text.strip()
    if not line or any(mark in line for mark in "\n\r\0"):
        return False
    if os.path.exists(text):
        return True
    # A line of a source has marks that a path lacks, and its comment may end with the name of a file.
    return not any(mark in line for mark in (";", "{", "(", "//", "/*")) and _vop.language_of(line) is not None


def check_file(path: str | os.PathLike[str], *, language: str | None = None) -> list[Use]:
    """Find every video instruction of a source file, and judge it, as ``vop check`` does.

    Parameters
    ----------
    path : str or path
        The file.
    language : str, optional
        As for :func:`check`. Without it the file's extension decides.

    Returns
    -------
    list of Use
        As :func:`check` returns it. Spans count bytes.

    Raises
    ------
    VopError
        There is no such language, or the file's extension is unknown.
    OSError
        The file cannot be read.

    Examples
    --------
    >>> import tempfile, pathlib, vop
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "kernel.ptx")
    ...     _ = path.write_text(".reg .b32 d, a, b; vmin.u32.u32 d, a, b;")
    ...     [use] = vop.check_file(path)
    >>> use.verdict, use.line, use.diagnostics[0].code
    ('illegal', 1, 'V0203')
    """
    return _uses(_vop.check(_read(path), False, language, os.fspath(path)))


# As the command `vop check`.
_MAX_BYTES = 256 << 20


def _read(path: str | os.PathLike[str]) -> bytes:
    """The content of a source file. A device, a pipe or a longer file is refused before it is opened."""
    found = os.stat(path)
    if not stat.S_ISREG(found.st_mode):
        code = errno.EISDIR if stat.S_ISDIR(found.st_mode) else errno.EINVAL
        raise OSError(code, "it is no plain file", os.fspath(path))
    if found.st_size > _MAX_BYTES:
        raise OSError(errno.EFBIG, f"it has {found.st_size} bytes: at most {_MAX_BYTES} are read", os.fspath(path))
    with open(path, "rb") as file:
        return file.read(_MAX_BYTES)


def _uses(found: list[dict[str, Any]]) -> list[Use]:
    return [
        Use(**{**use, "form": _form(use["form"]), "diagnostics": tuple(Diagnostic(**one) for one in use["diagnostics"])})
        for use in found
    ]


def lower(instr: Named, target: str, *, semantics: str | None = None) -> Lowering:
    """Rewrite an instruction as ordinary PTX, the cheapest known for a GPU.

    Parameters
    ----------
    instr : str, Form, Instruction or ufunc
        The instruction, with or without operands.
    target : str
        The GPU: ``"sm_75"`` … ``"sm_121"``, or with an ``f``, such as ``"sm_120f"``, to use what only GPUs of its family
        have.
    semantics : str, optional
        Whose result the rewritten code computes, as for :func:`eval`.

    Returns
    -------
    Lowering
        ``ptx`` is the block. ``cost`` and ``before`` count the machine instructions that ptxas 13.5 makes of the block
        and of the instruction.

    Raises
    ------
    ParseError
        The text is no legal instruction.
    LowerError
        No rule computes this semantics of the instruction.
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
    """Rewrite the video instructions of a PTX module as ordinary PTX, as ``vop lower`` does.

    Parameters
    ----------
    source : str
        The text of the module.
    target : str
        The GPU, as for :func:`lower`.
    semantics : str, optional
        Whose results the rewritten code computes, as for :func:`eval`.
    may_raise : bool, optional
        Whether the function may raise the module's ``.version`` and ``.target`` where cheaper instructions need it.

    Returns
    -------
    LoweredModule
        ``ptx`` is the module. Everything except the video instructions stays as it was, byte for byte.

    Raises
    ------
    LowerError
        The module is not for this GPU, an instruction is illegal, or an instruction cannot be replaced.
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


def port(instr: Named, to: str, *, semantics: str | None = None) -> Port:
    """Write an instruction or an intrinsic of CUDA as a function of another language, as ``vop port`` does.

    Parameters
    ----------
    instr : str, Form, Instruction or ufunc
        A video instruction, with or without operands; a base instruction of 32-bit integers, such as ``"prmt.b32.rc8"`` or
        ``"lop3.b32 d, a, b, c, 0x96"``; or an intrinsic of CUDA, such as ``"__vsubss4"`` or ``"__dp4a(char4, char4, int)"``.
    to : str
        The language: a name of :func:`port_targets`.
    semantics : str, optional
        Whose result the function computes, as for :func:`eval`.

    Returns
    -------
    Port
        ``code`` compiles alone. ``name`` is the function's name, and ``operations`` the number of its operations.

    Raises
    ------
    ParseError
        The text is no legal instruction, or an instruction or intrinsic that is not ported.
    PortError
        The function needs what the language lacks.
    VopError
        There is no such language.

    Examples
    --------
    >>> import vop
    >>> port = vop.port("vadd4.u32.u32.u32", to="c")
    >>> port.name, port.operations
    ('vadd4_u32_u32_u32', 6)
    >>> print(vop.port("__popc", to="wgsl").code.splitlines()[3])
    fn cuda_popc(a: u32, b: u32, c: u32) -> u32 {
    """
    text, semantics = _text(instr, semantics)
    return Port(**_vop.port(text, to, semantics))


def port_targets() -> dict[str, str]:
    """List the languages that :func:`port` writes.

    Returns
    -------
    dict of str to str
        The names, and what each language is.

    Examples
    --------
    >>> import vop
    >>> vop.port_targets()["rust"]
    'Rust: const functions, without the standard library'
    """
    return dict(_vop.port_targets())
