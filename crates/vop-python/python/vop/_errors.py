"""The exceptions of the package."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ._results import Diagnostic, Finding


class VopError(ValueError):
    """A text, a value or a name is wrong. ``str()`` says where, why, and what to write instead.

    Attributes
    ----------
    message : str
        What is wrong, in a sentence.
    help : str or None
        What to write instead.
    code : str or None
        The diagnostic's stable code, ``"V0207"``; ``vop.explain(code)`` tells what it means.
    span : tuple of int or None
        Where the fault starts and ends in the text: it is ``text[span[0]:span[1]]``.
    diagnostics : tuple of Diagnostic
        Every fault of a text; the attributes above are those of the first.
    """

    message: str
    help: str | None
    code: str | None
    span: tuple[int, int] | None
    diagnostics: tuple[Diagnostic, ...]

    def __init__(
        self,
        what: str | Iterable[Mapping[str, Any] | Diagnostic],
        help: str | None = None,
        span: tuple[int, int] | None = None,
    ) -> None:
        if isinstance(what, str):
            self.diagnostics = ()
            self.message, self.help, self.code, self.span = what, help, None, span
            drawn = what if help is None else f"{what}\n  = help: {help}"
        else:
            self.diagnostics = tuple(one if isinstance(one, Diagnostic) else Diagnostic(**one) for one in what)
            first = self.diagnostics[0]
            self.message, self.help, self.code, self.span = first.message, first.help, first.code, first.span
            drawn = "\n\n".join(str(one) for one in self.diagnostics)
        super().__init__(drawn)

    def __reduce__(self) -> tuple[Any, ...]:
        # The worker processes of a cluster pickle exceptions.
        return type(self), (self.diagnostics or self.message, self.help, self.span)


class ParseError(VopError):
    """A text is no legal instruction. ``diagnostics`` holds every fault.

    Examples
    --------
    >>> import vop
    >>> vop.parse("vmin4.u32.u32.u32 d, a, b.b0, c")
    Traceback (most recent call last):
        ...
    vop.ParseError: error[V0304]: `.b0` is not a selector for b of `vmin4`
      |
    1 | vmin4.u32.u32.u32 d, a, b.b0, c
      |                          ^^^
      |
      = help: write `.b4444`; legal selectors on b of `vmin4`: `.bxyzw` with digits
              from 0 to 7 (0 to 3 are a's bytes, 4 to 7 b's)
    """


class LowerError(VopError):
    """An instruction or a module cannot be rewritten as ordinary PTX with the results that were asked for."""


class PortError(VopError):
    """An instruction cannot be written in a language, because it needs what the language lacks."""


class RunError(VopError):
    """A module or a launch file is wrong, or a launch failed. The attributes are those of the first finding.

    Attributes
    ----------
    findings : tuple of Finding
        All errors: of a module every statement that cannot be run, of a launch the failure and what checks found.
    line : int or None
        The line of the PTX, or of the launch file.
    statement : str or None
        What stands there.
    source : tuple of (str, int) or None
        The file and line of the source code, if the PTX says so.
    block, thread : tuple of int or None
        Which thread failed: ``%ctaid`` and ``%tid``.
    address : int or None
        The address that an access failed at.
    """

    message: str
    help: str | None
    code: str | None
    span: tuple[int, int] | None
    findings: tuple[Finding, ...]
    line: int | None
    statement: str | None
    source: tuple[str, int] | None
    block: tuple[int, int, int] | None
    thread: tuple[int, int, int] | None
    address: int | None

    def __init__(self, what: Iterable[Mapping[str, Any] | Finding]) -> None:
        self.findings = tuple(one if isinstance(one, Finding) else Finding(**one) for one in what)
        first = self.findings[0]
        super().__init__("\n\n".join(str(one) for one in self.findings))
        self.message, self.help, self.code, self.span = first.message, first.help, first.code, first.span
        self.line, self.statement, self.source = first.line, first.statement, first.source
        self.block, self.thread, self.address = first.block, first.thread, first.address

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.findings,)
