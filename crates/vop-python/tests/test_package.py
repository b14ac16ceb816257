"""The package: types, documentation, and ufuncs in other processes."""

from __future__ import annotations

import copy
import dataclasses
import doctest
import inspect
import json
import os
import pickle
import pydoc
import re
import shutil
import subprocess
import sys
import typing
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT, words

import generate
import vop
from vop import _vop

EXAMPLES = doctest.NORMALIZE_WHITESPACE

PUBLIC = {name: getattr(vop, name) for name in vop.__all__ if name != "__version__"}


def members(one: type) -> dict[str, object]:
    """The public methods and properties of a class, those of its bases too."""
    return {
        name: member
        for name, member in inspect.getmembers(one)
        if name[0] != "_" and callable(member) or isinstance(member, property)
    }


def documented() -> dict[str, object]:
    """All that users reach, by name."""
    found: dict[str, object] = {"vop": vop, **PUBLIC}
    for name, one in PUBLIC.items():
        if inspect.isclass(one):
            # What exceptions have beyond VopError's own is Python's.
            own = members(one).items() - (members(ValueError).items() if issubclass(one, ValueError) else set())
            found |= {f"{name}.{method}": member for method, member in own}
    return found


def test_names() -> None:
    """`dir` shows what is documented, and nothing else; a star imports it."""
    assert [name for name in dir(vop) if not name.startswith("__")] == sorted(PUBLIC)
    assert set(vop.__all__) <= set(dir(vop)) <= set(vars(vop))
    assert [name for name in vars(vop) if name[0] != "_"] == [name for name in vars(vop) if name in PUBLIC], "imported names"
    names: dict[str, object] = {}
    exec("from vop import *", names)
    assert {name for name in names if not name.startswith("__")} == PUBLIC.keys()


def test_doctests() -> None:
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(optionflags=EXAMPLES)
    tried = {}
    for name, member in documented().items():
        tests = parser.get_doctest(inspect.getdoc(member) or "", {}, name, None, 0)
        tried[name] = len(tests.examples)
        runner.run(tests)
    assert runner.summarize(verbose=False).failed == 0
    # Every function has an example.
    assert [name for name, member in PUBLIC.items() if inspect.isfunction(member) and tried[name] < 2] == []


def test_documentation() -> None:
    """The examples of docs/python.md and of the package's README."""
    for path in (ROOT / "docs/python.md", ROOT / "crates/vop-python/README.md"):
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
    for name, member in documented().items():
        doc = inspect.getdoc(member)
        assert doc and len(doc) > 20, name
        # A sentence on the first line, which lists of functions show.
        assert doc.splitlines()[0].endswith((".", ":")) and len(doc.splitlines()[0]) < 125, name
        if inspect.isfunction(member):
            for parameter in inspect.signature(member).parameters.values():
                mentioned = re.search(rf"^(\w+, )*{parameter.name}\b.*$", doc, re.MULTILINE)
                assert parameter.name == "self" or mentioned, (name, parameter.name)
            assert "Returns\n-------" in doc, name
    for name, one in PUBLIC.items():
        assert one.__module__ == "vop", name
        if dataclasses.is_dataclass(one):
            listed = set(
                re.findall(r"\w+", " ".join(re.findall(r"^(\w+(?:, \w+)*) : ", inspect.getdoc(one) or "", re.MULTILINE)))
            )
            assert listed == {field.name for field in dataclasses.fields(one)}, name


@pytest.mark.parametrize("name", ["vop", "vop.vadd4", "vop.Form", "vop.check"])
def test_help(name: str) -> None:
    """`help` shows signatures and documentation."""
    text = pydoc.plain(pydoc.render_doc(name))
    expected = {
        "vop": ("vadd4(", "class VopError"),
        "vop.vadd4": ("sat: 'bool' = False", "op2: \"Literal['add'] | None\"", "a + b, in each of four bytes", "PTX ISA 9.7"),
        "vop.Form": ("cost(self, target: str) -> int", "The canonical text", "identity : int or None"),
        "vop.check": ("language", "-> 'list[Use]'"),
    }  # fmt: skip
    assert all(part in text for part in expected[name]), text
    assert not re.search(r" at 0x|functools|_spell", text)


def test_annotations() -> None:
    """Annotations name types that exist."""
    for name, member in documented().items():
        if inspect.isfunction(member) or inspect.isclass(member) and dataclasses.is_dataclass(member):
            assert "return" in typing.get_type_hints(member) or inspect.isclass(member), name


def test_the_generated_module_is_current() -> None:
    """`VOP_BLESS=1` writes it."""
    if os.environ.get("VOP_BLESS"):
        generate.FILE.write_text(generate.generated())
    assert generate.FILE.read_text() == generate.generated(), "python crates/vop-python/generate.py writes _mnemonics.py"
    installed = Path(vop.__file__).parent / "_mnemonics.py"
    assert installed.read_text() == generate.FILE.read_text(), "the installed package is an older one"


def run(tmp_path: Path, *command: str) -> str:
    """What a type checker says, where it finds no error."""
    pytest.importorskip(command[0].split(".")[0])
    # pyright looks for the Python on the path, and would say that a newer version of itself exists.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    environment = {**os.environ, "PATH": path, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}
    ended = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


CALLS = Path(__file__).parent / "typing/calls.py"


def test_mypy(tmp_path: Path) -> None:
    """`_vop.pyi` says what the native half has, the package agrees with its annotations, and so do calls."""
    run(tmp_path, "mypy.stubtest", "vop._vop")
    run(tmp_path, "mypy", "--strict", "-p", "vop")
    run(tmp_path, "mypy", "--strict", str(CALLS))
    assert (Path(vop.__file__).parent / "py.typed").is_file()


def test_pyright(tmp_path: Path) -> None:
    """Every public name has a known type, and calls are judged as mypy judges them."""
    complete = json.loads(run(tmp_path, "pyright", "--outputjson", "--ignoreexternal", "--verifytypes", "vop"))
    symbols = complete["typeCompleteness"]
    assert symbols["completenessScore"] == 1 and symbols["exportedSymbolCounts"]["withKnownType"] > len(PUBLIC)
    shutil.copy(CALLS, tmp_path)
    options = {"typeCheckingMode": "standard", "enableTypeIgnoreComments": False}
    settings = tmp_path / "pyrightconfig.json"
    settings.write_text(json.dumps({**options, "reportUnnecessaryTypeIgnoreComment": "error"}))
    assert run(tmp_path, "pyright").startswith("0 errors, 0 warnings")


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
    """A new process receives ufuncs and mnemonics, and sends an exception back."""
    a, b, c = (words(i, 100) for i in range(3))
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        for function in UFUNCS:
            sources = [a, b, c][: function.nin]
            np.testing.assert_array_equal(pool.submit(function, *sources).result(), function(*sources))
        np.testing.assert_array_equal(pool.submit(vop.vmax4, a, b).result(), vop.vmax4(a, b))
        with pytest.raises(vop.ParseError, match="vadd9"):
            pool.submit(vop.eval, "vadd9.u32.u32.u32", 1, 2).result()
