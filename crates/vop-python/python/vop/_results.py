"""What vop answers, as classes of plain values: they can be compared, hashed and pickled."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from . import _vop
from ._draw import Drawing, for_terminal


@dataclass(frozen=True, repr=False)
class Diagnostic(Drawing):
    """One thing that is wrong with a text, or probably a mistake in it. ``str()`` draws it under the text.

    Attributes
    ----------
    code : str
        The stable code, such as ``"V0207"``; ``vop.explain(code)`` tells what it means.
    severity : {"error", "warning", "note"}
        ``"error"``: ptxas refuses the text. ``"warning"`` and ``"note"``: the text is legal, and probably or perhaps a
        mistake.
    message : str
        What is wrong, in a sentence without a full stop.
    span : tuple of int
        Where the fault starts and where it ends, in characters of a ``str``, in bytes of ``bytes`` and files.
    line : int
        The line, from 1.
    column : int
        The column, from 1, in characters.
    label : str
        A few words for the place in the drawing; may be empty.
    help : str or None
        What to write instead.
    notes : tuple of str
        The reasons, in sentences.
    related : tuple of (tuple of int, str)
        Spans of other places, and how they are related.
    ansi : str
        The drawing, with ANSI escapes.
    """

    code: str
    severity: Literal["error", "warning", "note"]
    message: str
    span: tuple[int, int]
    line: int
    column: int
    label: str
    help: str | None
    notes: tuple[str, ...]
    related: tuple[tuple[tuple[int, int], str], ...]
    ansi: str = field(compare=False)

    def __repr__(self) -> str:
        return f"Diagnostic({self.code!r}, {self.message!r}, span={self.span})"


@dataclass(frozen=True, repr=False)
class Finding(Drawing):
    """An error of a module or a launch, or what a check found. ``str()`` draws it under the PTX.

    Attributes
    ----------
    code : str
        The stable code, such as ``"V0606"``; ``vop.explain(code)`` tells what it means.
    severity : {"error", "warning", "note"}
        Whether something is wrong, or worth to know.
    message : str
        What is wrong, in a sentence without a full stop.
    help : str or None
        What to do.
    file : str or None
        The file that the place is in, if it is not the text that was loaded.
    line, column : int or None
        The place, from 1; None if there is none.
    span : tuple of int or None
        The place as offsets into the text that was loaded.
    statement : str or None
        The PTX statement, or the piece of a launch file.
    source : tuple of (str, int) or None
        The file and line that the statement was compiled from, if the PTX says so.
    block, thread : tuple of int or None
        Which thread failed: ``%ctaid`` and ``%tid``.
    address : int or None
        The address that an access failed at.
    count : int
        How often it was found at this place.
    ansi : str
        The drawing, with ANSI escapes.
    """

    code: str
    severity: Literal["error", "warning", "note"]
    message: str
    help: str | None
    file: str | None
    line: int | None
    column: int | None
    span: tuple[int, int] | None
    statement: str | None
    source: tuple[str, int] | None
    block: tuple[int, int, int] | None
    thread: tuple[int, int, int] | None
    address: int | None
    count: int
    ansi: str = field(compare=False)

    def __repr__(self) -> str:
        return f"Finding({self.code!r}, {self.message!r}, line={self.line})"


@dataclass(frozen=True)
class Form:
    """What an instruction computes: the instruction without its operands.

    Attributes
    ----------
    text : str
        The canonical text, with operands named d, a, b and c.
    name : str
        The canonical text without operands, where they add nothing to it.
    mnemonic : str
        The mnemonic, such as ``"vadd4"``.
    dtype : str or None
        The type of d, ``"u32"`` or ``"s32"``; None for ``vset``, ``vset2`` and ``vset4``.
    atype, btype : str
        The types of a and b.
    sat : bool
        Whether results are clamped to the range of the destination.
    op2 : str or None
        The secondary operation with c: ``"add"``, in scalar forms also ``"min"`` and ``"max"``.
    cmp : str or None
        The comparison of ``vset``, ``vset2`` and ``vset4``.
    mode : str or None
        The mode of ``vshl`` and ``vshr``, ``"clamp"`` or ``"wrap"``.
    scale : str or None
        The scale of ``vmad``, ``"shr7"`` or ``"shr15"``.
    dsel : str or None
        The part of c that the result replaces, or the lanes that it writes; None for the whole word.
    asel, bsel : str or None
        The selectors of a and b; None for the default.
    nin : int
        The number of operands that d depends on: 2, or 3 with c.
    identity : int or None
        The word that leaves all others as they are, where the form is associative and commutative.
    meaning : str
        What it does, in a sentence.
    section : str
        The section of the PTX ISA manual.

    Examples
    --------
    >>> import vop
    >>> form = vop.parse("vadd4.s32.s32.u32.sat d.b20, a, b, c").form
    >>> form
    Form('vadd4.s32.s32.u32.sat d.b20, a, b, c')
    >>> form.dtype, form.btype, form.sat, form.dsel, form.nin
    ('s32', 'u32', True, 'b20', 3)
    """

    text: str
    name: str = field(repr=False, compare=False)
    mnemonic: str = field(repr=False, compare=False)
    dtype: str | None = field(repr=False, compare=False)
    atype: str = field(repr=False, compare=False)
    btype: str = field(repr=False, compare=False)
    sat: bool = field(repr=False, compare=False)
    op2: str | None = field(repr=False, compare=False)
    cmp: str | None = field(repr=False, compare=False)
    mode: str | None = field(repr=False, compare=False)
    scale: str | None = field(repr=False, compare=False)
    dsel: str | None = field(repr=False, compare=False)
    asel: str | None = field(repr=False, compare=False)
    bsel: str | None = field(repr=False, compare=False)
    nin: int = field(repr=False, compare=False)
    identity: int | None = field(repr=False, compare=False)
    meaning: str = field(repr=False, compare=False)
    section: str = field(repr=False, compare=False)

    def __repr__(self) -> str:
        return f"Form({self.text!r})"

    def __str__(self) -> str:
        return self.text

    def cost(self, target: str) -> int:
        """Count the machine instructions that ptxas 13.5 makes of the form.

        Parameters
        ----------
        target : str
            The GPU, such as ``"sm_90"``.

        Returns
        -------
        int
            The number of instructions.

        Raises
        ------
        VopError
            There is no such target.

        Examples
        --------
        >>> import vop
        >>> vop.parse("vadd4.s32.s32.s32.sat").form.cost("sm_120")
        45
        """
        return _vop.cost(self.text, target)


@dataclass(frozen=True)
class Instruction:
    """A form and its operands. ``str()`` is the canonical text.

    Attributes
    ----------
    text : str
        The canonical text.
    form : Form
        What it computes.
    guard : str or None
        The guard, such as ``"@p"`` or ``"@!p"``.
    d : str
        The destination register.
    a, b : str
        The first and second operand: a register, an immediate, or the sum of both.
    c : str or None
        The third operand, if the text has one.
    """

    text: str
    form: Form = field(repr=False)
    guard: str | None = field(repr=False)
    d: str = field(repr=False)
    a: str = field(repr=False)
    b: str = field(repr=False)
    c: str | None = field(repr=False)

    def __repr__(self) -> str:
        return f"Instruction({self.text!r})"

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Use:
    """A video instruction of a source, with the verdict on it.

    Attributes
    ----------
    text : str
        The instruction as plain PTX, on one line.
    span : tuple of int
        Where it starts and where it ends, in characters of a ``str``, in bytes of ``bytes`` and files.
    line : int
        The line, from 1.
    column : int
        The column, from 1, in characters.
    verdict : {"legal", "fragment", "illegal", "unjudged", "label"}
        ``"fragment"``: it is legal and its operands are elsewhere. ``"unjudged"``: `reason` says why.
        ``"label"``: a name in a string of its own, which nothing in the source assembles.
    form : Form or None
        What it computes, if it is legal.
    reason : str or None
        Why it is not judged.
    diagnostics : tuple of Diagnostic
        Why it is illegal, or what is probably a mistake in it.
    """

    text: str
    span: tuple[int, int] = field(repr=False)
    line: int
    column: int = field(repr=False)
    verdict: Literal["legal", "fragment", "illegal", "unjudged", "label"]
    form: Form | None = field(repr=False)
    reason: str | None = field(repr=False)
    diagnostics: tuple[Diagnostic, ...] = field(repr=False)


@dataclass(frozen=True, repr=False)
class Explanation(Drawing):
    """The stages of an instruction, drawn: in colours in a terminal, as HTML in a notebook, as plain text by ``str()``.

    Attributes
    ----------
    ansi : str
        The drawing, with ANSI escapes.
    stages : mapping
        The stages as data: ``form``, ``inputs``, ``lanes``, ``saturation``, ``end``, ``d`` and more. It is empty for the
        code of a diagnostic.
    """

    ansi: str
    stages: Mapping[str, Any] = field(hash=False)

    def __repr__(self) -> str:
        # Python prints this at its prompt.
        return for_terminal(self.ansi)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """For IPython, whose printer counts columns: line by line."""
        for i, line in enumerate(repr(self).split("\n")):
            if i > 0:
                printer.break_()
            printer.text(line)

    @property
    def d(self) -> int | None:
        """The result; None for the code of a diagnostic."""
        return self.stages.get("d")


@dataclass(frozen=True)
class Lowering:
    """An instruction rewritten as ordinary PTX. ``str()`` is what ``vop lower --instr`` prints.

    Attributes
    ----------
    instruction : str
        The instruction.
    ptx : str
        The PTX block that computes its result; the instruction itself where nothing is cheaper.
    rule : str
        The rule that wrote the block, or ``"keep"``.
    cost, before : int
        The machine instructions that ptxas 13.5 makes of the block, and of the instruction.
    target : str
        The GPU.
    needs : tuple of (str, str), or None
        The ``.version`` and ``.target`` that the module must have at least, if the block needs newer ones.
    writes_carry : bool
        Whether the block writes the carry flag.
    """

    instruction: str
    ptx: str = field(repr=False)
    rule: str
    cost: int
    before: int
    target: str
    needs: tuple[str, str] | None = field(repr=False)
    writes_carry: bool = field(repr=False)

    def __str__(self) -> str:
        return f"// {self.instruction};\n// {self.rule}: {self.cost} on {self.target}, {self.before} as it is\n{self.ptx}"


@dataclass(frozen=True)
class Rewrite:
    """What :func:`lower_module` did with one video instruction.

    Attributes
    ----------
    span : tuple of int
        Where it starts and where it ends in the module, in characters.
    form : Form
        What it computes.
    ptx : str or None
        The block that replaces it; None if it stays.
    rule : str
        The rule that wrote the block, or ``"keep"``.
    before, cost : int
        The machine instructions that ptxas 13.5 makes of the instruction, and of what stands there now.
    """

    span: tuple[int, int]
    form: Form
    ptx: str | None = field(repr=False)
    rule: str
    before: int
    cost: int


@dataclass(frozen=True)
class LoweredModule:
    """A PTX module whose video instructions are rewritten as ordinary PTX. ``str()`` is its text.

    Attributes
    ----------
    ptx : str
        The module.
    instructions : tuple of Rewrite
        Every video instruction, in the module's order.
    raised : tuple of (str, str, str)
        The directives that were raised: name, old value, new value.
    warnings : tuple of Diagnostic
        The instructions for which ptxas's code and the rewritten code disagree on some inputs.
    """

    ptx: str = field(repr=False)
    instructions: tuple[Rewrite, ...]
    raised: tuple[tuple[str, str, str], ...]
    warnings: tuple[Diagnostic, ...]

    def __str__(self) -> str:
        return self.ptx


@dataclass(frozen=True)
class Port:
    """An instruction as a function of another language. ``str()`` is its text.

    Attributes
    ----------
    form : str
        The instruction in its canonical spelling, or the intrinsic's name.
    name : str
        The function's name.
    code : str
        Text that compiles alone: the function, after what the language needs before it. It takes three words of 32 bits, a, b and c, and
        returns d.
    operations : int
        The number of operations, without conversions between types.
    notes : tuple of str
        What the text says and the function does not: the values of operands, a guard, which of several overloads it is.
    target : str
        The language.
    """

    form: str
    name: str
    code: str = field(repr=False)
    operations: int
    notes: tuple[str, ...] = field(repr=False)
    target: str

    def __str__(self) -> str:
        return self.code
