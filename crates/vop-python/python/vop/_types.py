"""The types of arguments. They are for type checkers: the package reads the values itself."""

from __future__ import annotations

from typing import Any, Literal, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

#: How an operand is read: unsigned (``"u32"``) or signed (``"s32"``), also as NumPy spells these two types.
DType: TypeAlias = (
    Literal["u32", "s32", "uint32", "int32", "u4", "i4"]
    | type[np.uint32]
    | type[np.int32]
    | np.dtype[np.uint32]
    | np.dtype[np.int32]
)

#: A byte or a half-word of a register; 0 is the least significant one.
Part: TypeAlias = Literal["b0", "b1", "b2", "b3", "h0", "h1"]

#: The secondary operation of scalar instructions.
Secondary: TypeAlias = Literal["add", "min", "max"]

#: A comparison, as PTX or as Python spells it.
Comparison: TypeAlias = Literal["eq", "ne", "lt", "le", "gt", "ge", "==", "!=", "<", "<=", ">", ">="]

#: What a shift does with an amount above 31.
ShiftMode: TypeAlias = Literal["clamp", "wrap"]

#: The bits that `vmad` shifts its sum right by.
Scale: TypeAlias = Literal["shr7", "shr15"]

#: The operands that `vmad` may negate.
Negated: TypeAlias = Literal["", "a", "b", "c", "ab", "abc"]

#: The element of an array of words.
Word = TypeVar("Word", np.uint32, np.int32)


class DaskArray(Protocol):
    """An array of Dask, which hands ufuncs on to its chunks."""

    def __dask_graph__(self) -> Any:
        """The graph of tasks that compute the array."""


#: What an instruction takes: words, and what NumPy widens to words without a loss.
Operand: TypeAlias = (
    NDArray[np.uint32 | np.int32 | np.uint16 | np.int16 | np.uint8 | np.int8 | np.bool]
    | np.uint32
    | np.int32
    | np.uint16
    | np.int16
    | np.uint8
    | np.int8
    | np.bool
    | int
    | DaskArray
)

#: Where a ufunc writes its result.
Out: TypeAlias = NDArray[Any] | DaskArray | tuple[NDArray[Any]]

#: Which elements a ufunc computes.
Where: TypeAlias = bool | np.bool | NDArray[np.bool] | DaskArray

#: Which conversions of the result a ufunc makes.
Casting: TypeAlias = Literal["no", "equiv", "safe", "same_kind", "unsafe"]

#: The memory order of a ufunc's result.
Order: TypeAlias = Literal["K", "A", "C", "F"]
