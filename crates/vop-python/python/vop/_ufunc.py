"""Instructions as NumPy ufuncs."""

from __future__ import annotations

import copyreg
from collections.abc import Callable
from functools import lru_cache
from typing import Any, overload

import numpy as np

from . import _vop
from ._results import Form, Instruction

#: How many ufuncs, and texts that name them, are kept.
_KEPT = 4096

_key = lru_cache(_KEPT)(_vop.ufunc_key)
_made = lru_cache(_KEPT)(_vop.ufunc)


def _of_text(text: str, semantics: str) -> np.ufunc:
    return _made(*_key(text, semantics))


def ufunc(instr: str | Form | Instruction | np.ufunc, *, semantics: str | None = None) -> np.ufunc:
    """An instruction as a true :class:`numpy.ufunc`.

    Parameters
    ----------
    instr : str, Form or Instruction
        The instruction, with or without operands, ``"vadd4.s32.s32.s32.sat"`` or
        ``"vadd4.s32.s32.s32.sat d.b20, a, b.b3210, c"``. Operands are named registers: values come from arrays.
    semantics : str, optional
        Whose answer: ``"isa"`` (the default), the manual's; ``"ptxas"``, what the code of the newest ptxas computes;
        ``"ptxas-12.4"``, an older one's.

    Returns
    -------
    numpy.ufunc
        Its arguments are the arrays a and b and, where d depends on it, c; ``ufunc.nin`` tells. (A SIMD form that
        writes all its lanes takes nothing of c.) Their elements are words of 32 bits, ``uint32`` or ``int32``: what
        counts is the bits, and how they are read the instruction says. They are broadcast against each other. The
        result is ``int32`` if all of them are, else ``uint32``. Narrower integers are widened, as NumPy does; all
        other types are refused. Python integers take the type of the arrays beside them.

        All that ufuncs have works: ``out=``, ``where=``, ``reduce``, ``accumulate``, ``reduceat``, ``outer``, ``at``.
        Of one instruction, however it is written, it is one object (of the 4096 used last), and it can be pickled.

    Raises
    ------
    ParseError
        The text is no legal instruction.
    VopError
        It fixes the value of an operand, or there is no such semantics.

    Examples
    --------
    >>> import numpy as np, vop
    >>> add = vop.ufunc("vadd4.s32.s32.s32.sat")
    >>> add
    <ufunc 'vadd4.s32.s32.s32.sat'>
    >>> a = np.array([100, -100, 1, 2], np.int8).view(np.uint32)
    >>> add(a, a).view(np.int8)
    array([ 127, -128,    2,    4], dtype=int8)
    >>> vop.ufunc("vmax4.u32.u32.u32").reduce(np.arange(1000, dtype=np.uint32)).item().to_bytes(4, "little").hex()
    'ff030000'
    """
    if isinstance(instr, np.ufunc):
        instr, own = _named(instr)
        semantics = semantics or own
    return _of_text(str(instr), semantics or "isa")


def _named(function: np.ufunc) -> tuple[str, str]:
    """The form and the semantics of one of our ufuncs."""
    named = _vop.ufunc_form(function)
    if named is None:
        raise TypeError(f"{function!r} is no video instruction")
    return named


# A ufunc is pickled by the name of its instruction, so that it can be sent to other processes. NumPy's own stay as they are.
_reduce_others: Callable[[Any], Any] = copyreg.dispatch_table[np.ufunc]


def _reduce(function: np.ufunc) -> Any:
    named = _vop.ufunc_form(function)
    return (_unpickled, named) if named is not None else _reduce_others(function)


def _unpickled(form: str, semantics: str) -> np.ufunc:
    return ufunc(form, semantics=semantics)


copyreg.pickle(np.ufunc, _reduce)


class Mnemonic:
    """A mnemonic with its modifiers as keywords; ``vop.vadd4`` and its like."""

    def __init__(self, name: str) -> None:
        _, syntax, summary, section = next(row for row in _vop.mnemonics() if row[0] == name)
        self.__name__ = self.__qualname__ = name
        self.__module__ = "vop"
        self._syntax = syntax
        self._summary = summary
        sources = "a, b, c" if name == "vmad" else "a, b[, c]"
        self.__doc__ = f"""{summary[0].upper()}{summary[1:]}: {name}({sources}, *, modifiers)

        ``{name}{syntax}`` (PTX ISA {section})

        {Mnemonic.__call__.__doc__}"""

    @overload
    def __call__(
        self,
        *,
        dtype: str | None = ...,
        atype: str | None = ...,
        btype: str | None = ...,
        sat: bool = ...,
        op2: str | None = ...,
        cmp: str | None = ...,
        mode: str | None = ...,
        scale: str | None = ...,
        po: bool = ...,
        dsel: str | None = ...,
        asel: str | None = ...,
        bsel: str | None = ...,
        negate: str = ...,
        semantics: str | None = ...,
    ) -> np.ufunc: ...

    @overload
    def __call__(
        self,
        *arrays: Any,
        dtype: str | None = ...,
        atype: str | None = ...,
        btype: str | None = ...,
        sat: bool = ...,
        op2: str | None = ...,
        cmp: str | None = ...,
        mode: str | None = ...,
        scale: str | None = ...,
        po: bool = ...,
        dsel: str | None = ...,
        asel: str | None = ...,
        bsel: str | None = ...,
        negate: str = ...,
        semantics: str | None = ...,
        **kwargs: Any,
    ) -> Any: ...

    def __call__(
        self,
        *arrays: Any,
        dtype: str | None = None,
        atype: str | None = None,
        btype: str | None = None,
        sat: bool = False,
        op2: str | None = None,
        cmp: str | None = None,
        mode: str | None = None,
        scale: str | None = None,
        po: bool = False,
        dsel: str | None = None,
        asel: str | None = None,
        bsel: str | None = None,
        negate: str = "",
        semantics: str | None = None,
        **kwargs: Any,
    ) -> Any:
        """Applied to arrays it gives the result, without arrays the :class:`numpy.ufunc`.

        Parameters
        ----------
        a, b, c : array_like of uint32 or int32
            Words, broadcast against each other; c where d depends on it (``op2``, ``dsel``, and with ``vmad``).
        dtype : str
            ``"u32"`` or ``"s32"``: how the result is read, and the sources unless ``atype`` or ``btype`` say otherwise. It is
            PTX's type and not an array's. ``"u32"`` where no type is given; but then an array of ``int32`` is refused, as
            it is not said whether its words are signed.
        atype, btype : str
            The types of a and b, if they are others. (``vshl`` and ``vshr`` shift by a ``"u32"`` always.)
        sat : bool
            Clamp to the range of the destination instead of wrapping around.
        op2 : str
            The secondary operation with c: ``"add"``; with scalar mnemonics also ``"min"`` and ``"max"``.
        cmp : str
            ``vset``, ``vset2``, ``vset4``: ``"eq"``, ``"ne"``, ``"lt"``, ``"le"``, ``"gt"`` or ``"ge"``.
        mode : str
            ``vshl``, ``vshr``: ``"clamp"`` or ``"wrap"``.
        scale, po, negate : str, bool, str
            ``vmad``: shift the sum right (``"shr7"``, ``"shr15"``), add one, negate operands (``"a"``, ``"c"``, …).
        dsel : str
            Where the result goes, the rest being c's: a part (``"b0"``, ``"h1"``), or the lanes of a SIMD form (``"b20"``).
        asel, bsel : str
            What is taken from a and b: a part, or for each lane one of the lanes of both (``"b3210"``).
        semantics : str
            As of :func:`vop.ufunc`.
        **kwargs
            What ufuncs take, with arrays: ``out``, ``where``, ``casting``, ``order``, ``subok``.

        Returns
        -------
        ndarray, or numpy.ufunc without arrays

        Raises
        ------
        ParseError
            The modifiers make no legal instruction; it shows what they make.
        TypeError
            There are too few or too many arrays, or one is of another type.

        Examples
        --------
        >>> import numpy as np, vop
        >>> a, b = np.array([0x01ff7f80], np.uint32), np.array([0x01010101], np.uint32)
        >>> [hex(word) for word in vop.vadd4(a, b)]
        ['0x2008081']
        >>> [hex(word) for word in vop.vadd4(a, b, dtype="s32", sat=True)]
        ['0x2007f81']
        >>> vop.vabsdiff4(op2="add")
        <ufunc 'vabsdiff4.u32.u32.u32.add'>
        """
        if dtype is atype is btype is None:
            self._refuse_signed(arrays)
        modifiers = (dtype, atype, btype, sat, op2, cmp, mode, scale, po, dsel, asel, bsel, negate)
        function = _made(*_spelt(self.__name__, self._syntax, *modifiers, semantics or "isa"))
        if not arrays:
            if kwargs:
                raise TypeError(f"{self.__name__}: {', '.join(kwargs)} without arrays")
            return function
        if len(arrays) != function.nin:
            # NumPy would write the result to one too many.
            names = "a, b and c" if function.nin == 3 else "a and b"
            simd = "{.mask}" in self._syntax
            unread = "; d does not depend on c, as all lanes are written" if simd and function.nin == 2 else ""
            raise TypeError(f"{self.__name__}: `{function.__name__}` takes {names}, and {len(arrays)} arrays are given{unread}")
        return function(*arrays, **kwargs)

    def _refuse_signed(self, arrays: tuple[Any, ...]) -> None:
        for name, array in zip("abc", arrays):
            if getattr(getattr(array, "dtype", None), "kind", None) == "i":
                raise TypeError(
                    f"{self.__name__}: {name} is {array.dtype}, and whether its words are signed is not said: "
                    f'give dtype="s32" or dtype="u32"'
                )

    def __repr__(self) -> str:
        return f"<vop.{self.__name__}: {self._summary}>"

    def __reduce__(self) -> str:
        return self.__name__


@lru_cache(_KEPT)
def _spelt(
    name: str,
    syntax: str,
    dtype: str | None,
    atype: str | None,
    btype: str | None,
    sat: bool,
    op2: str | None,
    cmp: str | None,
    mode: str | None,
    scale: str | None,
    po: bool,
    dsel: str | None,
    asel: str | None,
    bsel: str | None,
    negate: str,
    semantics: str,
) -> tuple[str, str]:
    """What :func:`_made` takes, of a mnemonic and its modifiers."""
    types = [dtype or "u32", atype or dtype or "u32", btype or ("u32" if ".mode" in syntax else dtype or "u32")]
    if ".dtype" not in syntax:
        del types[0]
    modifiers = [*types, *(["po"] if po else []), *(["sat"] if sat else [])]
    modifiers += [one for one in (cmp, mode, scale, op2) if one is not None]
    operands = [_selected("d", dsel)]
    operands += [("-" if one in negate else "") + _selected(one, sel) for one, sel in (("a", asel), ("b", bsel))]
    if "{, c}" not in syntax or op2 is not None or dsel is not None:
        operands.append("-c" if "c" in negate else "c")
    return _key(f"{name}.{'.'.join(modifiers)} {', '.join(operands)}", semantics)


def _selected(operand: str, selector: str | None) -> str:
    return operand if selector is None else f"{operand}.{selector.removeprefix('.')}"


Mnemonic.__module__ = "vop"
ufunc.__module__ = "vop"
