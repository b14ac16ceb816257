"""Instructions as NumPy ufuncs."""

from __future__ import annotations

import copyreg
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from . import _vop
from ._errors import VopError
from ._results import Form, Instruction

#: The number of ufuncs that are kept, and of texts that name them.
_KEPT = 4096

_key = lru_cache(_KEPT)(_vop.ufunc_key)
_made = lru_cache(_KEPT)(_vop.ufunc)


def _of_text(text: str, semantics: str) -> np.ufunc:
    return _made(*_key(text, semantics))


def ufunc(instr: str | Form | Instruction | np.ufunc, *, semantics: str | None = None) -> np.ufunc:
    """Make a true :class:`numpy.ufunc` of an instruction.

    Parameters
    ----------
    instr : str, Form or Instruction
        The instruction, with or without operands, ``"vadd4.s32.s32.s32.sat"`` or
        ``"vadd4.s32.s32.s32.sat d.b20, a, b.b3210, c"``. The operands must be distinct registers: their values come from
        arrays.
    semantics : str, optional
        Whose result: ``"isa"`` is the manual's (the default), ``"ptxas"`` that of the newest ptxas's code,
        ``"ptxas-12.4"`` that of an older one.

    Returns
    -------
    numpy.ufunc
        Its arguments are the arrays a and b and, where d depends on it, c; ``ufunc.nin`` is 2 or 3. (A SIMD form that
        writes all its lanes does not read c.) The arrays are broadcast against each other. Their elements are words,
        ``uint32`` or ``int32``, and the instruction says how it reads the bits. Narrower integers are widened, as
        NumPy does; all other types raise `TypeError`. Python integers take the type of the arrays. The result is
        ``int32`` if all arguments are, else ``uint32``.

        ``out=``, ``where=``, ``reduce``, ``accumulate``, ``reduceat``, ``outer`` and ``at`` work as for NumPy's ufuncs.
        All texts of one instruction give one object (among the last 4096 used). It can be pickled.

    Raises
    ------
    ParseError
        The text is no legal instruction.
    VopError
        The text fixes the value of an operand, or there is no such semantics.

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
        instr, own = named(instr)
        semantics = semantics or own
    return _of_text(str(instr), semantics or "isa")


def named(function: np.ufunc) -> tuple[str, str]:
    """The names of the form and the semantics of a ufunc of this package."""
    named = _vop.ufunc_form(function)
    if named is None:
        raise TypeError(f"{function!r} is no ufunc of vop")
    return named


# A ufunc is pickled by the name of its instruction, so that it can be sent to other processes. NumPy's own ufuncs are pickled
# as before.
_reduce_others: Callable[[Any], Any] = copyreg.dispatch_table[np.ufunc]


def _reduce(function: np.ufunc) -> Any:
    named = _vop.ufunc_form(function)
    return (_unpickled, named) if named is not None else _reduce_others(function)


def _unpickled(form: str, semantics: str) -> np.ufunc:
    return ufunc(form, semantics=semantics)


copyreg.pickle(np.ufunc, _reduce)


#: The syntax of each mnemonic, in the manual's notation.
_SYNTAX = {name: syntax for name, syntax, _, _ in _vop.mnemonics()}

_COMPARISONS = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}


def _spell(
    name: str,
    dtype: Any,
    atype: Any,
    btype: Any,
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
    semantics: str | None,
) -> tuple[str, str]:
    """The names of a form and of a semantics, of a mnemonic and its modifiers; :func:`apply` takes both."""
    syntax = _SYNTAX[name]
    all_types = _type(name, "dtype", dtype) or "u32"
    types = [
        *([all_types] if ".dtype" in syntax else []),
        _type(name, "atype", atype) or all_types,
        # Where the syntax says `.u32`, b is an amount to shift by.
        _type(name, "btype", btype) or all_types if ".btype" in syntax else "u32",
    ]
    if strange := set(negate) - set("abc"):
        raise VopError(f"{name}: negate={negate!r} names `{min(strange)}`", "write the operands to negate: a, b, c")
    if cmp is not None:
        cmp = _COMPARISONS.get(cmp, cmp)
    modifiers = [("cmp", cmp), ("mode", mode), ("scale", scale), ("op2", op2)]
    words = [*types, *(["po"] if po else []), *(["sat"] if sat else [])]
    words += [_word(name, keyword, given) for keyword, given in modifiers if given is not None]
    selectors = {operand: _selector(name, f"{operand}sel", given) for operand, given in zip("dab", (dsel, asel, bsel))}
    operands = [("-" if one in negate else "") + one + selectors[one] for one in "dab"]
    if "{, c}" not in syntax or op2 is not None or dsel is not None:
        operands.append("-c" if "c" in negate else "c")
    return _key(f"{name}.{'.'.join(words)} {', '.join(operands)}", semantics or "isa")


#: What :func:`_spell` returns, kept. All arguments can be hashed, which NumPy's annotations do not tell.
spell: Callable[..., tuple[str, str]] = lru_cache(_KEPT)(_spell)


def _type(name: str, keyword: str, given: Any) -> str | None:
    """PTX's name of a type that PTX or NumPy names."""
    if given is None:
        return None
    if isinstance(given, str) and given.removeprefix(".") in ("u32", "s32"):
        return given.removeprefix(".")
    shown = f"numpy.{given.__name__}" if isinstance(given, type) and given.__module__ == "numpy" else repr(given)
    said = f"{name}: {keyword}={shown} is refused, as "
    write = 'write "u32" (also numpy.uint32) for unsigned, or "s32" (also numpy.int32) for signed'
    try:
        dtype = np.dtype(given)
    except (TypeError, ValueError):
        raise VopError(f"{said}it is no type of a video instruction's operand", write) from None
    if dtype.kind not in "ui":
        raise VopError(f"{said}video instructions compute with integers", write)
    if dtype.itemsize != 4:
        lanes = {"2": "two half-words", "4": "four bytes"}.get(name[-1])
        why = f", and the mnemonic `{name}` divides it into {lanes}" if lanes and dtype.itemsize < 4 else ""
        raise VopError(f"{said}an operand is a register of 32 bits{why}", write)
    if not dtype.isnative:
        raise VopError(f"{said}a register has no byte order; NumPy converts the arrays", write)
    return "u32" if dtype.kind == "u" else "s32"


def _word(name: str, keyword: str, given: str) -> str:
    """A modifier, without a dot before it."""
    word = given.removeprefix(".")
    if not (word.isascii() and word.isalnum()):
        raise VopError(f"{name}: {keyword}={given!r} is no modifier", f"`help(vop.{name})` lists the values of {keyword}")
    return word


def _selector(name: str, keyword: str, given: str | None) -> str:
    """A selector or a mask, with a dot before it; nothing for None."""
    return "" if given is None else f".{_word(name, keyword, given)}"


def apply(
    key: tuple[str, str],
    typed: bool,
    a: Any,
    b: Any,
    c: Any,
    out: Any,
    where: Any,
    casting: str,
    order: str,
    subok: bool,
) -> Any:
    """The result of a form for arrays; the form's ufunc where there are no arrays.

    ``key`` is what :func:`spell` returns, and ``typed`` says whether the caller named a type.
    """
    function = _made(*key)
    if a is None and b is None and c is None:
        if out is not None or where is not True:
            raise TypeError(f"`{function.__name__}`: `out` and `where` are given without arrays")
        return function
    arrays = (a, b) if c is None else (a, b, c)
    if a is None or b is None or len(arrays) != function.nin:
        arrays = _arrays(function, a, b, c)
    if not typed:
        for i, array in enumerate(arrays):
            dtype: Any = getattr(array, "dtype", None)
            # The ufunc refuses the types of other sizes.
            if getattr(dtype, "kind", None) == "i" and dtype.itemsize <= 4:
                raise TypeError(
                    f"`{function.__name__}`: {'abc'[i]} is {dtype}, and no type says whether its words are signed: "
                    f'write dtype="s32" or dtype="u32"'
                )
    if out is None and where is True and casting == "same_kind" and order == "K" and subok is True:
        return function(*arrays)
    return function(*arrays, out=out, where=where, casting=casting, order=order, subok=subok)


def _arrays(function: np.ufunc, a: Any, b: Any, c: Any) -> tuple[Any, ...]:
    """What the ufunc takes of the arrays, of which there is one too many or one too few."""
    name = function.__name__
    wanted = "a, b and c" if function.nin == 3 else "a and b"
    missing = [letter for letter, array in zip("abc"[: function.nin], (a, b, c)) if array is None]
    if missing:
        raise TypeError(f"`{name}` takes {wanted}: {' and '.join(missing)} missing")
    # PTX has instructions with a c that they do not read. It may be given, and must fit the others as if it were read.
    shape = np.broadcast_shapes(np.shape(a), np.shape(b))
    if np.broadcast_shapes(shape, np.shape(c)) != shape:
        raise ValueError(
            f"`{name}` does not read c, and the shape of c {np.shape(c)} does not fit the result's, {shape}: leave c out"
        )
    return a, b
