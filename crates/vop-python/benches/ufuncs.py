"""Ufuncs of vop beside the same computation in NumPy, on views of bytes and half-words, and in numba.

    python crates/vop-python/benches/ufuncs.py

prints the nanoseconds a word that vop takes, and how many times as long each rival takes, for arrays that fit the caches and
for larger ones. It needs numba. The destination is allocated before. Each figure is the best of many rounds, in which all take
turns.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numba import njit

import vop

Words = np.ndarray
Function = Callable[[Words, Words, Words, Words], object]


# NumPy: each operation is a pass over arrays, some of wider elements.


def numpy_add(a: Words, b: Words, c: Words, d: Words) -> None:
    sums = a.view(np.int8).astype(np.int16) + b.view(np.int8)
    d.view(np.int8)[...] = np.clip(sums, -128, 127)


def numpy_sad(a: Words, b: Words, c: Words, d: Words) -> None:
    differences = np.abs(a.view(np.uint8).astype(np.int16) - b.view(np.uint8))
    d[...] = differences.reshape(-1, 4).sum(axis=1, dtype=np.uint32) + c


def numpy_average(a: Words, b: Words, c: Words, d: Words) -> None:
    d.view(np.uint8)[...] = (a.view(np.uint8).astype(np.uint16) + b.view(np.uint8) + 1) >> 1


def numpy_max(a: Words, b: Words, c: Words, d: Words) -> None:
    np.maximum(a.view(np.int16), b.view(np.int16), out=d.view(np.int16))


# Numba, loops over the lanes of views: LLVM vectorises them if it can.


@njit
def lanes_add(a: Words, b: Words, d: Words) -> None:
    for i in range(d.size):
        d[i] = min(max(np.int16(a[i]) + np.int16(b[i]), -128), 127)


@njit
def lanes_sad(a: Words, b: Words, c: Words, d: Words) -> None:
    for i in range(d.size):
        total = c[i]
        for j in range(4 * i, 4 * i + 4):
            total += np.uint32(abs(np.int32(a[j]) - np.int32(b[j])))
        d[i] = total


@njit
def lanes_average(a: Words, b: Words, d: Words) -> None:
    for i in range(d.size):
        d[i] = (np.uint16(a[i]) + np.uint16(b[i]) + np.uint16(1)) >> np.uint16(1)


@njit
def lanes_max(a: Words, b: Words, d: Words) -> None:
    for i in range(d.size):
        d[i] = max(a[i], b[i])


# Numba, loops over words, as the instruction has them: the code extracts each lane and inserts its result.


@njit
def words_add(a: Words, b: Words, d: Words) -> None:
    for i in range(d.size):
        word = np.uint32(0)
        for shift in range(0, 32, 8):
            x, y = np.int8(a[i] >> np.uint32(shift)), np.int8(b[i] >> np.uint32(shift))
            word |= np.uint32(min(max(np.int16(x) + np.int16(y), -128), 127) & 255) << np.uint32(shift)
        d[i] = word


@njit
def words_sad(a: Words, b: Words, c: Words, d: Words) -> None:
    for i in range(d.size):
        total = c[i]
        for shift in range(0, 32, 8):
            x, y = (a[i] >> np.uint32(shift)) & np.uint32(255), (b[i] >> np.uint32(shift)) & np.uint32(255)
            total += np.uint32(abs(np.int32(x) - np.int32(y)))
        d[i] = total


@njit
def words_average(a: Words, b: Words, d: Words) -> None:
    for i in range(d.size):
        word = np.uint32(0)
        for shift in range(0, 32, 8):
            x, y = (a[i] >> np.uint32(shift)) & np.uint32(255), (b[i] >> np.uint32(shift)) & np.uint32(255)
            word |= ((x + y + np.uint32(1)) >> np.uint32(1)) << np.uint32(shift)
        d[i] = word


@njit
def words_max(a: Words, b: Words, d: Words) -> None:
    for i in range(d.size):
        word = np.uint32(0)
        for shift in range(0, 32, 16):
            x, y = np.int16(a[i] >> np.uint32(shift)), np.int16(b[i] >> np.uint32(shift))
            word |= np.uint32(max(x, y) & 0xFFFF) << np.uint32(shift)
        d[i] = word


#: The words of each array, and the number of rounds. Four arrays of 4 Ki words have 64 KiB, of 128 Ki words 2 MiB, of 32 Mi
#: words 512 MiB.
SIZES = (
    ("4 Ki words", 1 << 12, 5000),
    ("32 Ki words", 1 << 15, 1000),
    ("128 Ki words", 1 << 17, 300),
    ("32 Mi words", 1 << 25, 7),
)


def viewed(function: Callable[..., object], dtype: type) -> Function:
    """A function of two sources' lanes as one of words."""
    return lambda a, b, c, d: function(a.view(dtype), b.view(dtype), d.view(dtype))


def called(function: np.ufunc) -> Function:
    return function if function.nin == 3 else lambda a, b, c, d: function(a, b, d)


CASES: list[tuple[str, dict[str, Function]]] = [
    (
        "vadd4.s32.s32.s32.sat",
        {
            "NumPy": numpy_add,
            "numba, lanes": viewed(lanes_add, np.int8),
            "numba, words": lambda a, b, c, d: words_add(a, b, d),
        },
    ),
    (
        "vabsdiff4.u32.u32.u32.add",
        {
            "NumPy": numpy_sad,
            "numba, lanes": lambda a, b, c, d: lanes_sad(a.view(np.uint8), b.view(np.uint8), c, d),
            "numba, words": words_sad,
        },
    ),
    (
        "vavrg4.u32.u32.u32",
        {
            "NumPy": numpy_average,
            "numba, lanes": viewed(lanes_average, np.uint8),
            "numba, words": lambda a, b, c, d: words_average(a, b, d),
        },
    ),
    (
        "vmax2.s32.s32.s32",
        {
            "NumPy": numpy_max,
            "numba, lanes": viewed(lanes_max, np.int16),
            "numba, words": lambda a, b, c, d: words_max(a, b, d),
        },
    ),
]


def best(functions: dict[str, Function], arrays: list[Words], rounds: int) -> dict[str, float]:
    """The nanoseconds of the fastest round of each function."""
    times = dict.fromkeys(functions, float("inf"))
    for _ in range(rounds):
        for name, function in functions.items():
            start = time.perf_counter_ns()
            function(*arrays)
            times[name] = min(times[name], time.perf_counter_ns() - start)
    return times


def main() -> None:
    random = np.random.default_rng(1)
    for title, size, rounds in SIZES:
        arrays = [random.integers(0, 2**32, size, np.uint32) for _ in range(3)] + [np.zeros(size, np.uint32)]
        print(f"\n{title}\n{'':26}{'vop':>9}" + "".join(f"{name:>15}" for name in CASES[0][1]))
        for text, rivals in CASES:
            ours = called(vop.ufunc(text))
            functions = {"vop": ours, **rivals}
            ours(*arrays)
            expected = arrays[3].copy()
            for name, rival in rivals.items():
                rival(*arrays)
                assert np.array_equal(arrays[3], expected), f"{name} computes something else than {text}"
            times = best(functions, arrays, rounds)
            row = "".join(f"{times[name] / times['vop']:14.1f}x" for name in rivals)
            print(f"{text:26}{times['vop'] / size:6.3f} ns{row}")


if __name__ == "__main__":
    main()
