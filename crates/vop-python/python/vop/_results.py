"""What vop answers, as classes of plain values: they compare, hash and pickle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from . import _vop
from ._draw import Drawing, for_terminal


@dataclass(frozen=True, repr=False)
class Diagnostic(Drawing):
    """One thing that is wrong with a text, or strange about it; ``str()`` draws it under the text."""

    #: Stable: ``"V0207"``.
    code: str
    #: ``"error"``: the text is refused; ``"warning"``, ``"note"``: it is legal, and hardly or perhaps not meant.
    severity: Literal["error", "warning", "note"]
    #: What is wrong, in a sentence without a full stop.
    message: str
    #: Where, from and to: in characters of a ``str``, in bytes of ``bytes`` and files.
    span: tuple[int, int]
    #: The line, from 1.
    line: int
    #: The column, from 1, in characters.
    column: int
    #: A few words that stand at the span, or none.
    label: str
    #: What to write instead.
    help: str | None
    #: Why, in sentences.
    notes: tuple[str, ...]
    #: Other places that have to do with it, and how.
    related: tuple[tuple[tuple[int, int], str], ...]
    #: The drawing, with ANSI escapes.
    ansi: str = field(compare=False)

    def __repr__(self) -> str:
        return f"Diagnostic({self.code!r}, {self.message!r}, span={self.span})"


@dataclass(frozen=True)
class Form:
    """An instruction without its operands.

    >>> import vop
    >>> form = vop.parse("vadd4.s32.s32.u32.sat d.b20, a, b, c").form
    >>> form
    Form('vadd4.s32.s32.u32.sat d.b20, a, b, c')
    >>> form.dtype, form.btype, form.sat, form.dsel, form.nin
    ('s32', 'u32', True, 'b20', 3)
    """

    #: The canonical text.
    text: str
    #: The same without operands where they say nothing.
    name: str = field(repr=False, compare=False)
    #: ``"vadd4"``.
    mnemonic: str = field(repr=False, compare=False)
    #: The type of d, ``"u32"`` or ``"s32"``; None with ``vset``, ``vset2`` and ``vset4``.
    dtype: str | None = field(repr=False, compare=False)
    #: The type of a.
    atype: str = field(repr=False, compare=False)
    #: The type of b.
    btype: str = field(repr=False, compare=False)
    #: Whether results are clamped to the range of the destination.
    sat: bool = field(repr=False, compare=False)
    #: The secondary operation with c: ``"add"``, and of scalar forms ``"min"`` and ``"max"``.
    op2: str | None = field(repr=False, compare=False)
    #: The comparison of ``vset``, ``vset2`` and ``vset4``.
    cmp: str | None = field(repr=False, compare=False)
    #: ``"clamp"`` or ``"wrap"``, of ``vshl`` and ``vshr``.
    mode: str | None = field(repr=False, compare=False)
    #: ``"shr7"`` or ``"shr15"``, of ``vmad``.
    scale: str | None = field(repr=False, compare=False)
    #: The part of c that is replaced, or the lanes that are written, if not all are.
    dsel: str | None = field(repr=False, compare=False)
    #: What a is taken from, if it is not the word or its own lanes.
    asel: str | None = field(repr=False, compare=False)
    #: What b is taken from.
    bsel: str | None = field(repr=False, compare=False)
    #: How many operands d depends on: 2, or 3 with c.
    nin: int = field(repr=False, compare=False)
    #: The word that leaves others as they are, if the form is associative and commutative.
    identity: int | None = field(repr=False, compare=False)
    #: What it does, in a sentence.
    meaning: str = field(repr=False, compare=False)
    #: The section of the PTX ISA manual.
    section: str = field(repr=False, compare=False)

    def __repr__(self) -> str:
        return f"Form({self.text!r})"

    def __str__(self) -> str:
        return self.text

    def cost(self, target: str) -> int:
        """The machine instructions that ptxas 13.5 spends on it.

        Parameters
        ----------
        target : str
            The GPU, ``"sm_90"``.

        Raises
        ------
        VopError
            There is no such target.

        >>> import vop
        >>> vop.parse("vadd4.s32.s32.s32.sat").form.cost("sm_120")
        45
        """
        return _vop.cost(self.text, target)


@dataclass(frozen=True)
class Instruction:
    """A form and what it is applied to; ``str()`` is the canonical text."""

    #: The canonical text.
    text: str
    #: What it computes.
    form: Form = field(repr=False)
    #: ``"@p"`` or ``"@!p"``.
    guard: str | None = field(repr=False)
    #: The destination register.
    d: str = field(repr=False)
    #: The first operand: a register, an immediate, or a sum of both.
    a: str = field(repr=False)
    #: The second operand.
    b: str = field(repr=False)
    #: The third operand, if there is one.
    c: str | None = field(repr=False)

    def __repr__(self) -> str:
        return f"Instruction({self.text!r})"

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Use:
    """A video instruction of a source, and what is to be said of it."""

    #: The instruction as plain PTX, on one line.
    text: str
    #: Where it stands, from and to: in characters of a ``str``, in bytes of ``bytes`` and files.
    span: tuple[int, int] = field(repr=False)
    #: The line, from 1.
    line: int
    #: The column, from 1, in characters.
    column: int = field(repr=False)
    #: ``"legal"``; ``"fragment"``, legal and without its operands; ``"illegal"``; ``"unjudged"``, for which ``reason`` says why.
    verdict: Literal["legal", "fragment", "illegal", "unjudged"]
    #: What it computes, if it is legal.
    form: Form | None = field(repr=False)
    #: Why it is not judged.
    reason: str | None = field(repr=False)
    #: Why it is illegal, or what is strange about it.
    diagnostics: tuple[Diagnostic, ...] = field(repr=False)


@dataclass(frozen=True, repr=False)
class Explanation(Drawing):
    """The stages of an instruction, drawn: in colours in a terminal, as HTML in a notebook, as plain text by ``str()``."""

    #: The drawing, with ANSI escapes.
    ansi: str
    #: The stages: ``form``, ``inputs``, ``lanes``, ``saturation``, ``end``, ``d`` and more. Empty for the code of a diagnostic.
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
    """An instruction in base instructions; ``str()`` is what ``vop lower --instr`` prints."""

    #: The instruction.
    instruction: str
    #: What computes the same: a PTX block, or the instruction itself where nothing is cheaper.
    ptx: str = field(repr=False)
    #: The rule that wrote it, or ``"keep"``.
    rule: str
    #: The machine instructions that ptxas 13.5 makes of it,
    cost: int
    #: and of the instruction itself.
    before: int
    #: The GPU.
    target: str
    #: The ``.version`` and ``.target`` that a module must have for it, if any.
    needs: tuple[str, str] | None = field(repr=False)
    #: Whether it writes the carry flag.
    writes_carry: bool = field(repr=False)

    def __str__(self) -> str:
        return f"// {self.instruction};\n// {self.rule}: {self.cost} on {self.target}, {self.before} as it is\n{self.ptx}"


@dataclass(frozen=True)
class Rewrite:
    """What becomes of a video instruction of a module."""

    #: Where it stands in the module, in characters from and to.
    span: tuple[int, int]
    #: What it is.
    form: Form
    #: The block that replaces it; None if it stays.
    ptx: str | None = field(repr=False)
    #: The rule that wrote the block, or ``"keep"``.
    rule: str
    #: The machine instructions that ptxas 13.5 spends on it,
    before: int
    #: and on what stands there now.
    cost: int


@dataclass(frozen=True)
class LoweredModule:
    """A PTX module with base instructions in the place of its video instructions; ``str()`` is its text."""

    #: The module.
    ptx: str = field(repr=False)
    #: Every video instruction, in the module's order.
    instructions: tuple[Rewrite, ...]
    #: The directives that were raised: name, from, to.
    raised: tuple[tuple[str, str, str], ...]
    #: Where ptxas's code for an instruction computes something else than what replaces it.
    warnings: tuple[Diagnostic, ...]

    def __str__(self) -> str:
        return self.ptx


for _class in (Diagnostic, Form, Instruction, Use, Explanation, Lowering, Rewrite, LoweredModule):
    _class.__module__ = "vop"
