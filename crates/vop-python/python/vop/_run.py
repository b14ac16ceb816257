"""Kernels on the CPU: modules, launches on arrays, and launch files."""

import io
import math
import operator
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from . import _vop
from ._errors import RunError, VopError
from ._results import Finding

#: What `check=` takes.
Check: TypeAlias = Literal["races", "uninit", "warp", "heap", "all"]
#: The shape of a grid or of a block: x, or x and y, or x, y and z.
Shape: TypeAlias = int | Sequence[int]

_FLOATS: dict[str, type[np.floating[Any]]] = {"f16": np.float16, "f32": np.float32, "f64": np.float64}


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel.

    Attributes
    ----------
    name : str
        Its name in the PTX.
    type : str
        The PTX type of it, or of its elements if it is an array of bytes, which is how structures are passed.
    bytes : int
        Its size.
    """

    name: str
    type: str
    bytes: int


@dataclass(frozen=True)
class Report:
    """What a launch did.

    Attributes
    ----------
    instructions : int
        The statements that were executed, one for each thread that executed it.
    video : int
        The video instructions among them.
    blocks : int
        The blocks that ran.
    order_dependent : tuple of int
        The lines of the PTX whose atomics may make results depend on the order of blocks.
    findings : tuple of Finding
        What checks found. Errors among them are raised as :class:`RunError` by a launch, so these are notes.
    findings_left_out : int
        The number of findings that are not listed, as they are at too many places.
    """

    instructions: int
    video: int
    blocks: int
    order_dependent: tuple[int, ...] = field(repr=False)
    findings: tuple[Finding, ...]
    findings_left_out: int = field(repr=False)


@dataclass(frozen=True)
class LaunchResult:
    """A launch of a launch file.

    Attributes
    ----------
    kernel : str
        The kernel's name in the PTX.
    grid : tuple of int
        The number of blocks: x, y, z.
    block : tuple of int
        The number of threads of a block: x, y, z.
    seconds : float
        How long it took.
    report : Report
        What it did, and what checks found.
    """

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    seconds: float
    report: Report


@dataclass(frozen=True)
class Comparison:
    """A buffer of a launch file, compared with what it should be.

    Attributes
    ----------
    buffer : str
        The name of the buffer.
    file : str
        The file that it was compared with.
    elements : int
        The number of elements.
    differing : int
        The number of those that differ by more than the tolerance.
    first : tuple of (tuple of int, str, str) or None
        The first of those: its index, what was found, and what was expected.
    """

    buffer: str
    file: str
    elements: int
    differing: int
    first: tuple[tuple[int, ...], str, str] | None


@dataclass(frozen=True)
class RunResult:
    """What a launch file did.

    Attributes
    ----------
    outputs : dict of str to ndarray
        What each buffer, and each variable that the file names, holds in the end.
    launches : tuple of LaunchResult
        The launches in order.
    files : tuple of str
        The files that were written.
    comparisons : tuple of Comparison
        The comparisons with expected results, in the order of the buffers.
    """

    outputs: dict[str, npt.NDArray[Any]] = field(repr=False)
    launches: tuple[LaunchResult, ...]
    files: tuple[str, ...]
    comparisons: tuple[Comparison, ...]

    @property
    def ok(self) -> bool:
        """Whether no check found an error, and no comparison a difference.

        Returns
        -------
        bool
        """
        found = any(one.severity == "error" for launch in self.launches for one in launch.report.findings)
        return not found and all(comparison.differing == 0 for comparison in self.comparisons)


def _report(values: dict[str, Any]) -> Report:
    findings = tuple(Finding(**one) for one in values.pop("findings"))
    return Report(order_dependent=tuple(values.pop("order_dependent")), findings=findings, **values)


def _options(
    check: Check | Sequence[Check] | None,
    semantics: str,
    cores: int | None,
    limit: int | None,
    timeout: float | None,
    memory: int | None,
    dynamic_shared: int = 0,
) -> dict[str, Any]:
    def count(value: int | None, name: str, least: int) -> int | None:
        if value is None:
            return None
        number = operator.index(value)
        if not least <= number < 2**63:
            raise VopError(f"{name}={number} is out of range", f"write a number from {least} on")
        return number

    return {
        "check": [] if check is None else [check] if isinstance(check, str) else list(check),
        "semantics": semantics,
        "cores": count(cores, "cores", 1),
        "limit": count(limit, "limit", 1),
        "timeout": None if timeout is None else float(timeout),
        "memory": count(memory, "memory", 1),
        "dynamic_shared": count(dynamic_shared, "dynamic_shared", 0),
    }


def _shape(shape: Shape, of: str) -> list[int]:
    sizes = [operator.index(shape)] if not isinstance(shape, Sequence) else [operator.index(size) for size in shape]
    if not 1 <= len(sizes) <= 3:
        raise VopError(f"a {of} has one to three dimensions, not {len(sizes)}")
    for size in sizes:
        if not 0 <= size < 2**32:
            raise VopError(f"{size} is no size of a {of}")
    return sizes + [1] * (3 - len(sizes))


def _packed(value: Any, parameter: Parameter, number: int) -> Any:
    """An argument as the native half takes it: an array, or the bytes of the parameter."""
    kind, size = parameter.type, parameter.bytes
    width = int(kind[1:]) // 8 if kind[1:].isdigit() else 0
    what = f"argument {number}, for parameter `{parameter.name}` (.{kind})"
    if isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind == "V":
        value = value[()]
    if isinstance(value, np.ndarray):
        if size != 8 or kind not in ("u64", "s64", "b64"):
            raise TypeError(f"{what} is an array: the parameter is no pointer")
        if isinstance(value, np.ma.MaskedArray):
            raise TypeError(f"{what} is a masked array, whose mask a kernel does not know: give its `.data`")
        if not value.dtype.isnative:
            raise TypeError(
                f"{what} is an array of the other byte order: give value.astype(value.dtype.newbyteorder('='))"
            )
        return value
    if isinstance(value, bytes | bytearray | memoryview | np.void):
        given = value.tobytes() if isinstance(value, np.void | memoryview) else bytes(value)
        if len(given) != size:
            raise VopError(f"{what} has {len(given)} bytes, and the parameter has {size}")
        return given
    if size != width:
        raise TypeError(f"{what} is a structure or an array of {size} bytes: give `bytes`, or a scalar of a NumPy structure")
    # A NumPy number of exactly the parameter's width keeps its bits where the parameter has no type of its own.
    if isinstance(value, np.generic) and value.dtype.kind in "fiu" and kind[0] == "b" and value.dtype.itemsize == width:
        return value.astype(value.dtype.newbyteorder("<")).tobytes()
    if kind in _FLOATS:
        if isinstance(value, complex | np.complexfloating) or not isinstance(
            value, float | int | np.floating | np.integer | np.bool_
        ):
            raise TypeError(f"{what} is a {type(value).__name__}, not a number")
        try:
            with np.errstate(over="ignore"):
                packed = _FLOATS[kind](value)
        except OverflowError:
            raise VopError(f"{what} is an integer beyond the range of .{kind}") from None
        if math.isinf(packed) and not math.isinf(value):
            raise VopError(f"{what} is {value}, which is beyond the range of .{kind}")
        return packed.astype(np.dtype(_FLOATS[kind]).newbyteorder("<")).tobytes()
    if kind[0] not in "usb":
        raise TypeError(f"{what} has a type that numbers of Python do not fit: give its {size} bytes")
    if isinstance(value, float | np.floating):
        help = f" (numpy.float{8 * width}({value}) for its bits)" if kind[0] == "b" and width in (2, 4, 8) else ""
        raise TypeError(f"{what} is a float, and the parameter is an integer{help}")
    try:
        integer = int(value) if isinstance(value, bool | np.bool_) else operator.index(value)
    except TypeError:
        raise TypeError(f"{what} is a {type(value).__name__}, not a number, an array or bytes") from None
    # Compilers declare every integer `.u32` or `.b32`, whether it is signed or not.
    if not -(1 << 8 * size - 1) <= integer < 1 << 8 * size:
        raise VopError(f"{what} is {integer}, which does not fit {8 * size} bits")
    return (integer % (1 << 8 * size)).to_bytes(size, "little")


class Launch:
    """A kernel with the shape of a launch: ``kernel[grid, block]``. Calling it runs the kernel."""

    __slots__ = ("_block", "_grid", "_kernel")

    def __init__(self, kernel: "Kernel", grid: Shape, block: Shape) -> None:
        self._kernel, self._grid, self._block = kernel, _shape(grid, "grid"), _shape(block, "block")

    def __repr__(self) -> str:
        return f"{self._kernel!r}[{tuple(self._grid)}, {tuple(self._block)}]"

    def __call__(
        self,
        *args: Any,
        check: Check | Sequence[Check] | None = None,
        semantics: str = "isa",
        cores: int | None = None,
        dynamic_shared: int = 0,
        limit: int | None = None,
        timeout: float | None = None,
        memory: int | None = None,
    ) -> Report:
        """Run the kernel, and return when all blocks have ended.

        Parameters
        ----------
        args : arrays, numbers or bytes
            An argument for each parameter. A pointer takes a NumPy array, which the kernel reads and writes in place; its
            elements must be contiguous. A number takes a number that fits its type. A structure takes its bytes.
        check : str or list of str, optional
            ``"races"``, ``"uninit"``, ``"warp"``, ``"heap"`` or ``"all"``: what to look for beside what is always checked.
        semantics : str, optional
            Whose results: ``"isa"`` is the manual's (the default), ``"ptxas"`` those of the newest ptxas's code.
        cores : int, optional
            The number of cores that run blocks. The default is all.
        dynamic_shared : int, optional
            The bytes of dynamic shared memory of a block.
        limit : int, optional
            The thread-instructions after which the launch is taken for a runaway loop. The default is 10**11.
        timeout : float, optional
            The seconds after which the launch fails.
        memory : int, optional
            The bytes that the launch may take.

        Returns
        -------
        Report
            What was executed.

        Raises
        ------
        RunError
            A thread failed, or a check found an error. The exception has the line, the thread and the address. What was
            written to arrays before stays.
        VopError, TypeError
            An argument does not fit its parameter.
        """
        kernel = self._kernel
        if len(args) != len(kernel.parameters):
            names = ", ".join(f"`{parameter.name}` (.{parameter.type})" for parameter in kernel.parameters)
            raise VopError(f"{len(args)} arguments are given for {len(kernel.parameters)} parameters: {names or 'none'}")
        packed = [
            _packed(value, parameter, i + 1) for i, (value, parameter) in enumerate(zip(args, kernel.parameters, strict=True))
        ]
        options = _options(check, semantics, cores, limit, timeout, memory, dynamic_shared)
        printed, done, failed = kernel._native.launch(self._grid, self._block, packed, options)
        if printed:
            sys.stdout.write(printed)
        if done is None:
            raise RunError(failed or ())
        report = _report(done)
        errors = [finding for finding in report.findings if finding.severity == "error"]
        if errors:
            raise RunError(errors)
        return report


class Kernel:
    """A kernel of a :class:`Module`. ``kernel[grid, block](…)`` runs it.

    Attributes
    ----------
    name : str
        Its name in the PTX.
    signature : str
        Its name in C++, with its types; the name in the PTX if it has none.
    parameters : tuple of Parameter
        What it takes.
    """

    name: str
    signature: str
    parameters: tuple[Parameter, ...]
    _native: _vop.LoadedKernel

    __slots__ = ("_native", "name", "parameters", "signature")

    def __init__(self, native: _vop.LoadedKernel) -> None:
        self._native = native
        self.name, self.signature = native.names()
        self.parameters = tuple(Parameter(*parameter) for parameter in native.parameters())

    def __repr__(self) -> str:
        return f"<kernel {self.signature}>"

    def __getitem__(self, shape: tuple[Shape, Shape]) -> Launch:
        """The kernel with the shape of a launch.

        Parameters
        ----------
        shape : tuple
            The grid, and the block: each a number, or up to three.

        Returns
        -------
        Launch
            Calling it runs the kernel.
        """
        if not isinstance(shape, tuple) or len(shape) != 2:
            raise TypeError("write kernel[grid, block]")
        return Launch(self, *shape)


class _Bytes:
    """The memory of a variable, as NumPy finds it. It keeps the module alive."""

    def __init__(self, module: _vop.LoadedModule, address: int, size: int) -> None:
        self._module = module
        self.__array_interface__ = {"data": (address, False), "shape": (size,), "typestr": "|u1", "version": 3}


class Module:
    """A PTX module that was loaded: ``module["kernel"]`` is a kernel, and ``module.variable("name")`` a variable."""

    __slots__ = ("_kernels", "_native")

    def __init__(self, native: _vop.LoadedModule) -> None:
        self._native = native
        self._kernels: dict[str, Kernel] = {}

    @property
    def kernels(self) -> tuple[str, ...]:
        """The names of the kernels in the PTX.

        Returns
        -------
        tuple of str
        """
        return tuple(self._native.entries())

    def __repr__(self) -> str:
        return f"<module of {', '.join(self.kernels) or 'no kernels'}>"

    def __iter__(self) -> Iterator[str]:
        return iter(self.kernels)

    def __len__(self) -> int:
        return len(self.kernels)

    def __getitem__(self, name: str) -> Kernel:
        """A kernel by its name.

        Parameters
        ----------
        name : str
            The name in the PTX, or that of C++: ``"ns::scale<float>(float*, int)"``, or an end of that which no other kernel
            has, such as ``"scale"``.

        Returns
        -------
        Kernel
            The kernel, decoded.

        Raises
        ------
        RunError
            There is no such kernel, or something in it cannot be run: each such statement is an error.
        """
        if name not in self._kernels:
            self._kernels[name] = Kernel(self._native.kernel(name))
        return self._kernels[name]

    def variable(self, name: str, dtype: npt.DTypeLike = np.uint8) -> npt.NDArray[Any]:
        """A ``.global`` or ``.const`` variable of the module, to read and to write.

        Parameters
        ----------
        name : str
            Its name in PTX or in C++.
        dtype : dtype, optional
            The type of its elements. Compilers often declare bytes, whatever the source says.

        Returns
        -------
        numpy.ndarray
            The variable itself, not a copy.

        Raises
        ------
        VopError
            There is no such variable, or several have the name.
        """
        found = self._native.variable(name)
        if found is None:
            raise VopError(f"the module has no variable `{name}`, or several have the name", "write the name as the PTX has it")
        address, size = found
        if size == 0:
            return np.empty(0, dtype)
        return np.asarray(_Bytes(self._native, address, size)).view(dtype)


def load(ptx: str | bytes | os.PathLike[str]) -> Module:
    """Load a PTX module, to run its kernels on the CPU.

    Parameters
    ----------
    ptx : str, bytes or path
        The PTX text; or a :class:`pathlib.Path` of its file.

    Returns
    -------
    Module
        ``module["kernel"][grid, block](array, 3, …)`` runs a kernel.

    Raises
    ------
    VopError
        The text is no PTX module.

    Examples
    --------
    >>> import numpy as np, vop
    >>> module = vop.load(\"\"\"
    ... .version 8.0 .target sm_75 .address_size 64
    ... .entry add(.param .u64 to, .param .u32 n) {
    ...     .reg .b32 %r<4>; .reg .b64 %rd<4>;
    ...     ld.param.u64 %rd1, [to];
    ...     ld.param.u32 %r1, [n];
    ...     mov.u32 %r2, %tid.x;
    ...     mul.wide.u32 %rd2, %r2, 4;
    ...     add.u64 %rd3, %rd1, %rd2;
    ...     ld.global.u32 %r3, [%rd3];
    ...     add.u32 %r3, %r3, %r1;
    ...     st.global.u32 [%rd3], %r3;
    ... }
    ... \"\"\")
    >>> numbers = np.arange(4, dtype=np.uint32)
    >>> module["add"][1, 4](numbers, 10).instructions
    32
    >>> numbers
    array([10, 11, 12, 13], dtype=uint32)
    >>> try:
    ...     module["add"][1, 5](numbers, 10)
    ... except vop.RunError as error:
    ...     print(error.code, error.line, error.thread)
    V0606 10 (4, 0, 0)
    """
    if isinstance(ptx, os.PathLike):
        with open(ptx, "rb") as file:
            ptx = file.read()
    if not isinstance(ptx, str):
        ptx = bytes(ptx).decode("utf-8", errors="replace")
    return Module(_vop.load(ptx))


def run(
    path: str | os.PathLike[str],
    *,
    output: str | os.PathLike[str] | None = None,
    check: Check | Sequence[Check] | None = None,
    semantics: str = "isa",
    cores: int | None = None,
    limit: int | None = None,
    timeout: float | None = None,
    memory: int | None = None,
) -> RunResult:
    """Run a launch file, as ``vop run`` does.

    Parameters
    ----------
    path : str or path
        The launch file.
    output : str or path, optional
        The folder that outputs are relative to. The default is that of the launch file.
    check, semantics, cores, limit, timeout, memory
        As for a :class:`Launch`, for every launch of the file.

    Returns
    -------
    RunResult
        ``outputs`` has an array for each buffer. What checks find is in the reports of the launches, and differences from what
        was expected in ``comparisons``: ``ok`` says whether there is neither.

    Raises
    ------
    RunError
        The launch file is wrong, or a launch failed.

    Examples
    --------
    >>> import pathlib, tempfile, vop
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "one.ptx").write_text(\"\"\"
    ... .version 8.0 .target sm_75 .address_size 64
    ... .entry one(.param .u64 to) { .reg .b64 %rd1; ld.param.u64 %rd1, [to]; st.global.u32 [%rd1], 1; }
    ... \"\"\")
    >>> _ = (folder / "job.toml").write_text(\"\"\"
    ... ptx = "one.ptx"
    ... buffers.to = { type = "u32", shape = [2], fill = 0 }
    ... launch = [{ grid = 1, block = 1, args = ["to"] }]
    ... \"\"\")
    >>> vop.run(folder / "job.toml").outputs["to"]
    array([1, 0], dtype=uint32)
    """
    options = _options(check, semantics, cores, limit, timeout, memory)
    found = _vop.run(os.fspath(path), None if output is None else os.fspath(output), options)
    launches = []
    for launch in found["launches"]:
        launches.append(LaunchResult(report=_report(launch.pop("report")), **launch))
    comparisons = []
    for comparison in found["comparisons"]:
        first = comparison.pop("first")
        index = None if first is None else (tuple(first[0]), first[1], first[2])
        comparisons.append(Comparison(file=os.fspath(comparison.pop("file")), first=index, **comparison))
    outputs = {name: np.load(io.BytesIO(file), allow_pickle=False) for name, file in found["outputs"].items()}
    return RunResult(outputs, tuple(launches), tuple(os.fspath(file) for file in found["files"]), tuple(comparisons))
