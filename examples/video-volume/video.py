"""Motion search over a video volume in chunks, on as many processes or machines as there are.

    python examples/video-volume/video.py                       two processes of this machine
    python examples/video-volume/video.py tcp://scheduler:8786  the workers of a Dask cluster

Needs dask, distributed and pillow beside vop.
"""

from __future__ import annotations

import sys
from pathlib import Path

import dask.array as da
import numpy as np
from dask.distributed import Client, LocalCluster
from PIL import Image

import vop

#: A block is SIZE x SIZE pixels and may have moved by up to REACH pixels along each axis.
SIZE, REACH = 16, 6
#: Each pixel of a displacement's length costs this much difference of brightness, so that flat regions do not move at random.
PRICE = 32

# c plus the absolute differences of four pixels; a * b + c; (a << b) + c; the lesser.
sad = vop.vabsdiff4(op2="add")
mad = vop.vmad()
shift_add = vop.vshl(mode="clamp", op2="add")
add = vop.vadd()
least = vop.vmin()


def film() -> np.ndarray:
    """A camera's pan over the two frames of examples/motion: uint8 [16, 192, 320] (frame, row, column)."""
    frames = [np.asarray(Image.open(Path(__file__).parent / f"../motion/frame{i}.png")) for i in (0, 1)]
    pan = [(80, 100), (82, 97), (85, 97), (88, 101), (88, 106), (84, 108), (80, 108), (77, 104)]
    return np.stack([frame[y : y + 192, x : x + 320] for frame in frames for y, x in pan])


def search(frames: np.ndarray) -> np.ndarray:
    """For each frame except the first, where each of its blocks was in the frame before.

    Parameters
    ----------
    frames : uint8 [t, rows, columns]
        Rows and columns are multiples of SIZE.

    Returns
    -------
    uint32 [t - 1, rows / SIZE, columns / SIZE]
        The best displacement and what it costs in one word, the most important first: cost (17 bits), |dx| + |dy| (5) and
        index (10). :func:`vectors` reads them.
    """
    t, rows, columns = frames.shape
    current = np.ascontiguousarray(frames[1:]).view(np.uint32)
    previous = np.pad(frames[:-1], ((0, 0), (REACH, REACH), (REACH, REACH)))
    top, left = np.arange(0, rows, SIZE)[:, None], np.arange(0, columns, SIZE)
    best = np.full((t - 1, rows // SIZE, columns // SIZE), 2**32 - 1, np.uint32)
    candidates = ((dy, dx) for dy in range(-REACH, REACH + 1) for dx in range(-REACH, REACH + 1))
    for index, (dy, dx) in enumerate(candidates):
        before = previous[:, REACH - dy : REACH - dy + rows, REACH - dx : REACH - dx + columns]
        # Four pixels a word, then the words of a block: all sums are of packed bytes or of words.
        differences = sad(current, np.ascontiguousarray(before).view(np.uint32), 0)
        blocks = differences.reshape(t - 1, rows // SIZE, SIZE, columns // SIZE, SIZE // 4)
        length = abs(dy) + abs(dx)
        cost = mad(add.reduce(blocks, axis=(2, 4)), 1, length * PRICE)
        # Only where the block lies within the frame before.
        inside = (top >= dy) & (top - dy + SIZE <= rows) & (left >= dx) & (left - dx + SIZE <= columns)
        least(best, shift_add(cost, 15, (length << 10) + index), out=best, where=inside)
    return best


def vectors(best: np.ndarray) -> np.ndarray:
    """int [..., 2]: dx and dy of each block, the way its content moved."""
    dy, dx = np.divmod((best & 1023).astype(int), 2 * REACH + 1)
    return np.stack([dx, dy], axis=-1) - REACH


def search_chunks(video: da.Array) -> da.Array:
    """What :func:`search` returns, for a volume in chunks of frames: each chunk gets the last frame of the one before it."""
    _, rows, columns = video.shape
    first, *rest = video.chunks[0]
    chunks = ((first - 1, *rest), (rows // SIZE,), (columns // SIZE,))
    # At the beginning of the film there is no frame before.
    return da.map_overlap(
        search, video, depth={0: (1, 0), 1: 0, 2: 0}, boundary="none", trim=False, chunks=chunks, dtype=np.uint32
    )


def changes(video: da.Array) -> da.Array:
    """How much each frame differs from the one before: a ufunc takes Dask's arrays as it takes NumPy's."""
    *others, columns = video.chunks
    words = video.map_blocks(lambda block: block.view(np.uint32), chunks=(*others, (columns[0] // 4,)), dtype=np.uint32)
    return sad(words[1:], words[:-1], 0).sum(axis=(1, 2))


def main(address: str | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Motion and changes of the film, computed by a cluster's workers, or by two processes of this machine."""
    video = da.from_array(film(), chunks=(4, -1, -1))
    cluster = None if address else LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with Client(address or cluster) as client:
        best, changed = client.gather(client.compute([search_chunks(video), changes(video)]))
    if cluster is not None:
        cluster.close()
    return best, changed


if __name__ == "__main__":
    best, changed = main(*sys.argv[1:2])
    print("frame  changed by  most blocks moved by")
    for frame, (motion, change) in enumerate(zip(vectors(best), changed, strict=True), 1):
        moves, counts = np.unique(motion.reshape(-1, 2), axis=0, return_counts=True)
        dx, dy = moves[counts.argmax()]
        print(f"{frame:5} {change:11,}  {dx:+d} {dy:+d} ({counts.max()} of {counts.sum()})")
