"""Calls that type checkers accept, with the types of their results, and calls that they refuse.

The tests run mypy and pyright on this file; it is never executed. Both must find an error in each line that says so, and in no
other one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import assert_type

import vop

unsigned: NDArray[np.uint32] = np.zeros(3, np.uint32)
signed: NDArray[np.int32] = np.zeros(3, np.int32)
narrow: NDArray[np.int8] = np.zeros(3, np.int8)
wide: NDArray[np.int64] = np.zeros(3, np.int64)
floats: NDArray[np.float32] = np.zeros(3, np.float32)

# A mnemonic without arrays is a ufunc. With arrays of one type the result has this type.
assert_type(vop.vadd4(), np.ufunc)
assert_type(vop.vset4(cmp="<"), np.ufunc)
assert_type(vop.vadd4(unsigned, unsigned, sat=True), NDArray[np.uint32])
assert_type(vop.vadd4(signed, signed, dtype="s32"), NDArray[np.int32])
assert_type(vop.vadd4(unsigned, 7, dtype=np.uint32), NDArray[np.uint32])
assert_type(vop.vadd4(unsigned, unsigned, out=unsigned, where=unsigned > 3), NDArray[np.uint32])
assert_type(vop.vabsdiff4(unsigned, unsigned, 0, op2="add"), NDArray[np.uint32])
assert_type(vop.vmad(signed, signed, c=signed, dtype=np.dtype(np.int32), scale="shr7", negate="ab"), NDArray[np.int32])
assert_type(vop.vshl(unsigned, 5, mode="wrap", dsel="h0", asel="b3", semantics="ptxas"), NDArray[np.uint32])
assert_type(vop.vadd(1, 2), Any)
assert_type(vop.vadd(unsigned, narrow), Any)

# What is refused.
vop.vadd4(wide, unsigned)  # type: ignore[type-var]  # pyright: ignore[reportCallIssue, reportArgumentType]
vop.vadd4(floats, unsigned)  # type: ignore[type-var]  # pyright: ignore[reportCallIssue, reportArgumentType]
vop.vadd4(unsigned, 1.5)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]
vop.vadd4(unsigned)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
vop.vadd4(unsigned, unsigned, dtype="u8")  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]
vop.vadd4(unsigned, unsigned, dtype=np.uint8)  # type: ignore[arg-type]  # pyright: ignore[reportCallIssue, reportArgumentType]
vop.vadd4(unsigned, unsigned, cmp="lt")  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
vop.vadd4(unsigned, unsigned, op2="max")  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]
vop.vset4(unsigned, unsigned)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
vop.vset4(unsigned, unsigned, cmp="less")  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]
vop.vset4(unsigned, unsigned, cmp="lt", sat=True)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
vop.vshl(unsigned, unsigned)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
vop.vshl(unsigned, unsigned, mode="clamp", btype="u32")  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
vop.vmad(unsigned, unsigned)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
vop.vmad(unsigned, unsigned, unsigned, negate="bc")  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]
vop.vadd(unsigned, unsigned, 0, dsel="b4")  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]
print(vop.Mnemonic)  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]

# The other functions.
assert_type(vop.ufunc("vadd4.u32.u32.u32"), np.ufunc)
assert_type(vop.eval(vop.vadd4(), 1, np.uint8(2)), int)
assert_type(vop.parse("vadd.u32.u32.u32").form.nin, int)
assert_type(vop.check("", language="cuda"), list[vop.Use])
assert_type(vop.check_file(Path("x.cu"))[0].form, vop.Form | None)
assert_type(vop.explain("V0207").d, int | None)
assert_type(vop.lower("vadd.u32.u32.u32", "sm_90").needs, tuple[str, str] | None)
assert_type(vop.lower_module("", "sm_90").instructions, tuple[vop.Rewrite, ...])
assert_type(vop.port("vadd.u32.u32.u32", to="c").notes, tuple[str, ...])
assert_type(vop.port_targets(), dict[str, str])
assert_type(vop.load(Path("x.ptx"))["x"][1, (2, 3)](unsigned, 3, check="races"), vop.Report)
assert_type(vop.load("").variable("x", np.uint32), NDArray[Any])
assert_type(vop.run("job.toml", check=["uninit"]).outputs["x"], NDArray[Any])
vop.load("")["x"][1]  # type: ignore[index]  # pyright: ignore[reportArgumentType]
vop.load("")["x"][1, 1](check="race")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
vop.port("vadd.u32.u32.u32")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
vop.eval(7, 1, 1)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
vop.eval("vadd.u32.u32.u32", 1.5, 1)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
vop.check_file(b"x.cu")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
