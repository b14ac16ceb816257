#!/usr/bin/env python3
"""Draws still.png and moved.png: a scene, and the same scene 2.75 pixels further right and 1.5 further up."""

import math
import struct
import zlib
from pathlib import Path

WIDTH, HEIGHT = 128, 96
SHIFT = (2.75, -1.5)


def brightness(x, y):
    """The scene at a place: hills, and three discs with soft edges. It changes slowly from pixel to pixel, as what a lens shows does."""
    value = 110 + 45 * math.sin(x / 7.3 + math.sin(y / 11.0)) + 30 * math.cos(y / 5.9 - x / 17.0)
    for cx, cy, radius, light in [(34, 30, 15, 90), (92, 40, 21, -80), (64, 74, 12, 60)]:
        distance = math.hypot(x - cx, y - cy) - radius
        value += light / (1 + math.exp(distance / 1.5))
    return min(max(round(value), 0), 255)


def picture(dx, dy):
    """Pixels show the scene at their centres; a camera that moves the picture by dx, dy sees what was there before."""
    return [[brightness(x + 0.5 - dx, y + 0.5 - dy) for x in range(WIDTH)] for y in range(HEIGHT)]


def write(name, rows):
    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 0, 0, 0, 0)
    lines = b"".join(b"\0" + bytes(row) for row in rows)
    png = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines, 9)) + chunk(b"IEND", b"")
    (Path(__file__).resolve().parent / name).write_bytes(png)


write("still.png", picture(0, 0))
write("moved.png", picture(*SHIFT))
