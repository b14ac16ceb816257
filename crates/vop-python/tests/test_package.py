"""The package: types, documentation, and ufuncs in other processes."""

from __future__ import annotations

import copy
import doctest
import inspect
import pickle
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT, words

import vop
from vop import _vop

EXAMPLES = doctest.NORMALIZE_WHITESPACE


def documented() -> list[object]:
    members = [vop, *(getattr(vop, name) for name in vop.__all__)]
    classes = [member for member in members if inspect.isclass(member)]
    return [*members, *(method for one in classes for method in vars(one).values() if callable(method)), vop.Mnemonic.__call__]


def test_doctests() -> None:
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(optionflags=EXAMPLES)
    texts = {doc: getattr(member, "__name__", "?") for member in documented() if (doc := getattr(member, "__doc__", None))}
    for doc, name in texts.items():
        runner.run(parser.get_doctest(inspect.cleandoc(doc), {}, name, None, 0))
    assert runner.summarize(verbose=False).failed == 0 and runner.tries > 30


def test_documentation() -> None:
    """The examples of docs/python.md and of the README."""
    for path in (ROOT / "docs/python.md", ROOT / "README.md", ROOT / "crates/vop-python/README.md"):
        names: dict[str, object] = {}
        blocks = path.read_text().split("```python\n")[1:]
        assert blocks, path
        for i, block in enumerate(blocks):
            code = block.split("```")[0]
            if ">>> " in code:
                test = doctest.DocTestParser().get_doctest(code, names, f"{path.name} {i}", str(path), 0)
                runner = doctest.DocTestRunner(optionflags=EXAMPLES)
                assert runner.run(test, clear_globs=False).failed == 0, code
                names = test.globs
            elif "LocalCluster" not in code and "Client(" not in code:
                exec(compile(code, f"{path.name} {i}", "exec"), names)


def test_everything_is_documented() -> None:
    for name in vop.__all__:
        member = getattr(vop, name)
        assert member.__doc__ and len(member.__doc__) > 40, name
        assert member.__module__ == "vop" or member.__module__.startswith("vop."), name


def test_stubs(tmp_path: Path) -> None:
    """What `_vop.pyi` says of the native half is so, and the package itself is typed."""
    pytest.importorskip("mypy")
    for command in (["mypy.stubtest", "vop._vop"], ["mypy", "--strict", "-p", "vop"]):
        run = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, cwd=tmp_path)
        assert run.returncode == 0, run.stdout + run.stderr
    assert (Path(vop.__file__).parent / "py.typed").is_file()


def test_version() -> None:
    assert (
        vop.__version__
        == _vop.__version__
        == next(line.split('"')[1] for line in (ROOT / "Cargo.toml").read_text().splitlines() if line.startswith("version"))
    )


UFUNCS = [
    vop.ufunc("vadd4.s32.s32.s32.sat"),
    vop.ufunc("vadd.u32.s32.s32.sat d.b0, a, b, c", semantics="ptxas"),
    vop.ufunc("vabsdiff4.u32.u32.u32.add d.b20, a.b0123, b.b7777, c"),
]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(protocol: int) -> None:
    for function in [*UFUNCS, vop.vadd4, np.add, np.sin]:
        assert pickle.loads(pickle.dumps(function, protocol)) is function
        assert copy.copy(function) is copy.deepcopy(function) is function


def test_other_processes() -> None:
    """Processes that start with nothing and get ufuncs, mnemonics and exceptions."""
    a, b, c = (words(i, 100) for i in range(3))
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        for function in UFUNCS:
            sources = [a, b, c][: function.nin]
            np.testing.assert_array_equal(pool.submit(function, *sources).result(), function(*sources))
        np.testing.assert_array_equal(pool.submit(vop.vmax4, a, b).result(), vop.vmax4(a, b))
        with pytest.raises(vop.ParseError, match="vadd9"):
            pool.submit(vop.eval, "vadd9.u32.u32.u32", 1, 2).result()
