"""Shared by the tests: golden rows, and the reference for arrays, which computes one value at a time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import vop

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def golden() -> dict[str, np.ndarray]:
    """The golden rows of each form: a, b, c, d by the manual, d by ptxas's code."""
    rows: dict[str, list[list[int]]] = defaultdict(list)
    with open(ROOT / "tests/golden/values.tsv") as file:
        for line in file:
            form, *values = line.rstrip("\n").split("\t")
            rows[form].append([0 if value == "-" else int(value, 0) for value in values])
    return {form: np.array(values, np.uint32) for form, values in rows.items()}


@pytest.fixture(scope="session")
def families(golden: dict[str, np.ndarray]) -> list[str]:
    """One form for each combination of mnemonic, types, modifiers, and operands that have selectors."""
    kinds: dict[tuple[object, ...], str] = {}
    for text in golden:
        form = vop.parse(text).form
        kind = (
            form.mnemonic, form.dtype, form.atype, form.btype, form.sat, form.op2, form.cmp, form.mode, form.scale,
            form.dsel is None, form.asel is None, form.bsel is None,
        )  # fmt: skip
        kinds.setdefault(kind, text)
    return list(kinds.values())


def one_by_one(function: np.ufunc, *arrays: np.ndarray) -> np.ndarray:
    """What `vop.eval` returns for each element."""
    text = vop.parse(function).text
    broadcast = np.broadcast_arrays(*arrays)
    d = np.empty(broadcast[0].shape, np.uint32)
    for index in np.ndindex(d.shape):
        a, b, *c = (int(array[index]) for array in broadcast)
        d[index] = vop.eval(function, a, b, *(c or ([0] if "c" in text.split()[-1] else [])))
    return d


@pytest.fixture
def reference() -> Callable[..., np.ndarray]:
    return one_by_one


def words(seed: int, *shape: int) -> np.ndarray:
    """Random words; about half of them consist of extreme bytes."""
    random = np.random.default_rng(seed)
    lanes = random.choice(np.array([0, 1, 0x7F, 0x80, 0xFF], np.uint8), (*shape, 4))
    edges = np.ascontiguousarray(lanes).view(np.uint32)[..., 0]
    return np.where(random.random(shape) < 0.5, edges, random.integers(0, 2**32, shape, np.uint32))
