#!/usr/bin/env python3
"""Renders left.png and right.png, two cameras' views of a made-up scene, and truth.png: the disparities of the left one, rounded. 255
marks pixels that the right camera does not see.

Needs NumPy and Pillow.
"""

import numpy as np
from PIL import Image

WIDTH, HEIGHT = 384, 288
random = np.random.default_rng(4)


def noise(scale):
    """Smooth noise over the plane."""
    values = random.random((64, 64))

    def at(x, y):
        u, v = x / scale, y / scale
        i, j = np.floor(u).astype(int), np.floor(v).astype(int)
        s, t = u - i, v - j
        s, t = s * s * (3 - 2 * s), t * t * (3 - 2 * t)
        corner = lambda di, dj: values[(i + di) % 64, (j + dj) % 64]
        return (corner(0, 0) * (1 - s) + corner(1, 0) * s) * (1 - t) + (corner(0, 1) * (1 - s) + corner(1, 1) * s) * t

    return at


def texture(brightness, contrast, scales):
    layers = [noise(scale) for scale in scales]
    return lambda x, y: brightness + contrast * (sum(layer(x, y) for layer in layers) / len(layers) - 0.5)


def disc(cx, cy, radius):
    return lambda x, y: (x - cx) ** 2 + (y - cy) ** 2 < radius**2


def box(x0, y0, x1, y1):
    return lambda x, y: (x >= x0) & (x < x1) & (y >= y0) & (y < y1)


def ring(cx, cy, inner, outer):
    return lambda x, y: (inner**2 <= (x - cx) ** 2 + (y - cy) ** 2) & ((x - cx) ** 2 + (y - cy) ** 2 < outer**2)


# From far to near: where it is in the left picture, its disparity a + b x + c y, and what it looks like.
LAYERS = [
    (lambda x, y: x == x, (6, 0, 0), texture(120, 150, (31, 9, 4))),  # the wall
    (lambda x, y: y > 190, (-32.5, 0, 0.205), texture(150, 130, (14, 5, 3))),  # the floor
    (box(40, 60, 150, 180), (8, 0.06, 0), texture(90, 140, (18, 6, 3))),  # a slanted picture
    (disc(290, 100, 52), (22, 0, 0), texture(170, 130, (12, 5, 3))),
    (box(196, 120, 236, 262), (27, 0, 0), texture(110, 160, (11, 4))),  # a post
    (ring(120, 205, 28, 50), (34, 0, 0), texture(190, 110, (9, 4))),
    (disc(325, 215, 34), (41, 0, 0), texture(80, 120, (10, 4))),
]

y, x = np.mgrid[0:HEIGHT, 0:WIDTH].astype(float)
left, truth = np.zeros((HEIGHT, WIDTH)), np.zeros((HEIGHT, WIDTH))
right, front = np.zeros((HEIGHT, WIDTH)), np.zeros((HEIGHT, WIDTH), int)
owner = np.zeros((HEIGHT, WIDTH), int)
for number, (inside, (a, b, c), look) in enumerate(LAYERS):
    here = inside(x, y)
    left = np.where(here, look(x, y), left)
    truth = np.where(here, a + b * x + c * y, truth)
    owner = np.where(here, number, owner)
    # Where the right picture's pixel is in the left one: x - (a + b x + c y) is its column.
    origin = (x + a + c * y) / (1 - b)
    here = inside(origin, y)
    right = np.where(here, look(origin, y), right)
    front = np.where(here, number, front)

column = np.rint(x - truth).astype(int)
visible = (column >= 0) & (np.take_along_axis(front, np.clip(column, 0, WIDTH - 1), 1) == owner)
truth = np.where(visible, np.rint(truth), 255)
grain = lambda: random.normal(0, 1.5, (HEIGHT, WIDTH))
for name, picture in ("left", left + grain()), ("right", right + grain()), ("truth", truth):
    Image.fromarray(np.clip(np.rint(picture), 0, 255).astype(np.uint8)).save(f"{name}.png", optimize=True)
print("disparities", truth[visible].min(), "to", truth[visible].max(), "visible", visible.mean())
