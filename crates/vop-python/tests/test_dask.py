"""Several processes: Dask's arrays, and the example that searches a video volume."""

from __future__ import annotations

import importlib.util
from types import ModuleType

import numpy as np
import pytest
from conftest import ROOT, words

import vop

da = pytest.importorskip("dask.array")


@pytest.fixture(scope="module")
def video() -> ModuleType:
    pytest.importorskip("distributed")
    spec = importlib.util.spec_from_file_location("video", ROOT / "examples/video-volume/video.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("scheduler", ["synchronous", "threads", "processes"])
def test_arrays_of_dask(scheduler: str) -> None:
    a, b, c = (words(i, 300, 70) for i in range(3))
    lazy = [da.from_array(x, chunks=chunks) for x, chunks in ((a, (100, 70)), (b, (300, 35)), (c, (64, 64)))]
    for function in (
        vop.ufunc("vadd4.s32.s32.s32.sat"),
        vop.ufunc("vabsdiff4.u32.u32.u32.add"),
        vop.ufunc("vadd.u32.s32.s32.sat d.b0, a, b, c", semantics="ptxas"),
    ):
        result = function(*lazy[: function.nin])
        assert isinstance(result, da.Array) and result.dtype == np.uint32
        np.testing.assert_array_equal(result.compute(scheduler=scheduler), function(*[a, b, c][: function.nin]))
    np.testing.assert_array_equal(vop.vmax4(lazy[0], b).compute(scheduler=scheduler), vop.vmax4(a, b))
    # Reduced in chunks, and the chunks' results again.
    largest = vop.ufunc("vmax4.s32.s32.s32")

    def fold(x: np.ndarray, axis: tuple[int, ...], keepdims: bool) -> np.ndarray:
        return largest.reduce(x, axis=axis, keepdims=keepdims)

    result = da.reduction(lazy[2], chunk=fold, aggregate=fold, dtype=np.uint32, axis=(0, 1), concatenate=True)
    assert result.compute(scheduler=scheduler) == largest.reduce(c, axis=None)


def test_the_search_is_right(video: ModuleType) -> None:
    """Some blocks against a search in plain NumPy."""
    film = video.film()
    found = video.vectors(video.search(film))
    assert found.shape == (15, 12, 20, 2)
    random = np.random.default_rng(1)
    size, reach = video.SIZE, video.REACH
    blocks = {(7, 0, 0), (7, 11, 19)} | {tuple(random.integers((15, 12, 20)).tolist()) for _ in range(60)}
    for frame, row, column in blocks:
        best = None
        before, current = film[frame].astype(int), film[frame + 1].astype(int)
        top, left = row * size, column * size
        for dy in range(-reach, reach + 1):
            for dx in range(-reach, reach + 1):
                y, x = top - dy, left - dx
                if min(y, x) < 0 or y + size > film.shape[1] or x + size > film.shape[2]:
                    continue
                sad = np.abs(before[y : y + size, x : x + size] - current[top : top + size, left : left + size]).sum()
                length = abs(dx) + abs(dy)
                candidate = (sad + video.PRICE * length, length, dy, dx)
                best = candidate if best is None else min(best, candidate)
        assert best is not None
        assert tuple(found[frame, row, column]) == (best[3], best[2]), (frame, row, column)


def test_two_processes_compute_the_same(video: ModuleType) -> None:
    """The example on a LocalCluster of two processes."""
    film = video.film()
    best, changed = video.main()
    np.testing.assert_array_equal(best, video.search(film))
    np.testing.assert_array_equal(changed, np.abs(np.diff(film.astype(int), axis=0)).sum(axis=(1, 2)))
    # Most of the picture moves as the camera does, but in the cut between the frames.
    moves = [np.median(motion.reshape(-1, 2), axis=0).tolist() for motion in video.vectors(best)]
    assert moves[:7] == [[3, -2], [0, -3], [-4, -3], [-5, 0], [-2, 4], [0, 4], [4, 3]] == moves[8:]
