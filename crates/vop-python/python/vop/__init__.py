"""NVIDIA PTX's video instructions, `vadd` … `vset`, `vadd2` … `vset2`, `vadd4` … `vset4`, exactly as the manual has them.

>>> import numpy as np, vop
>>> a = np.array([250, 3, 128, 0], np.uint8).view(np.uint32)
>>> b = np.array([10, 5, 128, 0], np.uint8).view(np.uint32)
>>> vop.vadd4(a, b, sat=True).view(np.uint8)
array([255,   8, 255,   0], dtype=uint8)
>>> vop.eval("vabsdiff4.u32.u32.u32.add", int(a[0]), int(b[0]), 0)
242

- ``vop.vadd4`` and a function for each of the other mnemonics compute with arrays; their keywords are PTX's modifiers.
  :func:`ufunc` makes a :class:`numpy.ufunc` of any instruction.
- :func:`parse` reads an instruction as ptxas does; :func:`check` and :func:`check_file` judge all video instructions of a
  source.
- :func:`eval` computes one value, and :func:`explain` shows how.
- :func:`lower` and :func:`lower_module` rewrite video instructions as ordinary PTX that costs less.
- :func:`port` writes an instruction as a function of C, Rust, OpenCL and other languages.
- :func:`load` loads a PTX module and runs its kernels on arrays, and :func:`run` runs a launch file.

Errors are :class:`VopError`: they say where, why, and what to write instead.
"""

from ._errors import LowerError, ParseError, PortError, RunError, VopError
from ._functions import check, check_file, eval, explain, lower, lower_module, parse, port, port_targets
from ._mnemonics import (
    vabsdiff,
    vabsdiff2,
    vabsdiff4,
    vadd,
    vadd2,
    vadd4,
    vavrg2,
    vavrg4,
    vmad,
    vmax,
    vmax2,
    vmax4,
    vmin,
    vmin2,
    vmin4,
    vset,
    vset2,
    vset4,
    vshl,
    vshr,
    vsub,
    vsub2,
    vsub4,
)
from ._results import Diagnostic, Explanation, Finding, Form, Instruction, LoweredModule, Lowering, Port, Rewrite, Use
from ._run import Comparison, Kernel, Launch, LaunchResult, Module, Parameter, Report, RunResult, load, run
from ._ufunc import ufunc
from ._vop import __version__

__all__ = [
    "Comparison",
    "Diagnostic",
    "Explanation",
    "Finding",
    "Form",
    "Instruction",
    "Kernel",
    "Launch",
    "LaunchResult",
    "LowerError",
    "LoweredModule",
    "Lowering",
    "Module",
    "Parameter",
    "ParseError",
    "Port",
    "PortError",
    "Report",
    "Rewrite",
    "RunError",
    "RunResult",
    "Use",
    "VopError",
    "__version__",
    "check",
    "check_file",
    "eval",
    "explain",
    "load",
    "lower",
    "lower_module",
    "parse",
    "port",
    "port_targets",
    "run",
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


# Pickles and tracebacks name what users import.
for _name in __all__:
    if hasattr(globals()[_name], "__module__"):
        globals()[_name].__module__ = "vop"
del _name


def __dir__() -> list[str]:
    """The public names, and those that every module has."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
