"""Tests of brighten.ptx. They need NumPy, and `vop` on the PATH."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

PTX = Path(__file__).with_name("brighten.ptx")


def brighten(image, amount, folder):
    """The image as the kernel leaves it."""
    np.save(folder / "in.npy", image.view(np.uint32))
    words = image.size // 4
    call = ["vop", "run", PTX, "--entry", "brighten", "--grid", str(-(-words // 128)), "--block", "128"]
    call += ["--arg", "image=in.npy:out.npy", "--arg", f"u32={words}", "--arg", f"u32={amount}"]
    done = subprocess.run(call, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return np.load(folder / "out.npy").view(np.uint8)


@pytest.mark.parametrize("size", [4, 512, 516, 100_000])
@pytest.mark.parametrize("amount", [0, 1, 200, 255])
def test_brighten(size, amount, tmp_path):
    image = np.random.default_rng(size).integers(0, 256, size, np.uint8)
    expected = np.minimum(image.astype(int) + amount, 255)
    assert np.array_equal(brighten(image, amount, tmp_path), expected)
