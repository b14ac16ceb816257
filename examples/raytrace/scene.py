#!/usr/bin/env python3
"""Makes the scene, a knot and some balls above a chessboard, and its tree of boxes: triangles.npy, colours.npy and nodes.npy.

Needs NumPy.
"""

import numpy as np

LEAF = 4  # triangles at most


def grid(points, closed):
    """Triangles between the points of a grid, which may close in each direction."""
    n, m = points.shape[:2]
    triangles = []
    for i in range(n if closed[0] else n - 1):
        for j in range(m if closed[1] else m - 1):
            a, b, c, d = (points[(i + di) % n, (j + dj) % m] for di, dj in ((0, 0), (1, 0), (1, 1), (0, 1)))
            triangles += [[a, b, c], [a, c, d]]
    triangles = np.array(triangles)
    area = np.linalg.norm(np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]), axis=1)
    return triangles[area > 1e-7]


def knot(centre, size, thickness, around, along):
    t = np.linspace(0, 2 * np.pi, along, endpoint=False)
    curve = lambda t: np.stack([(2 + np.cos(3 * t)) * np.cos(2 * t), (2 + np.cos(3 * t)) * np.sin(2 * t), np.sin(3 * t)], -1)
    tangent = curve(t + 1e-4) - curve(t - 1e-4)
    side = np.cross(tangent, curve(t))
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    other = np.cross(side, tangent)
    other /= np.linalg.norm(other, axis=1, keepdims=True)
    u = np.linspace(0, 2 * np.pi, around, endpoint=False)[None, :, None]
    points = curve(t)[:, None] + thickness * (np.cos(u) * side[:, None] + np.sin(u) * other[:, None])
    return grid(points * size + centre, (True, True))


def ball(centre, radius, n):
    u = np.linspace(0, np.pi, n + 1)[:, None]
    v = np.linspace(0, 2 * np.pi, 2 * n, endpoint=False)[None]
    points = np.stack([np.sin(u) * np.cos(v), np.cos(u) * np.ones_like(v), np.sin(u) * np.sin(v)], -1)
    return grid(points * radius + centre, (False, True))


def build(triangles, order, nodes):
    """Appends the tree of the triangles `order` to nodes, median by median; returns its child word and its box."""
    points = triangles[order]
    # A little larger than the triangles, because the test of a ray against the box rounds.
    box = np.stack([points.min((0, 1)), points.max((0, 1))])
    box += np.array([[-1], [1]]) * (1e-4 + 1e-5 * np.abs(box))
    if len(order) <= LEAF:
        first = len(build.sorted)
        build.sorted.extend(order)
        return ~(8 * first + len(order)), box
    centres = points.mean(1)
    axis = np.argmax(np.ptp(centres, 0))
    order = order[np.argsort(centres[:, axis], kind="stable")]
    index = len(nodes)
    nodes.append(None)
    half = len(order) // 2
    (left, a), (right, b) = build(triangles, order[:half], nodes), build(triangles, order[half:], nodes)
    words = [*a[:, 0], *a[:, 1], *b[:, 0], *b[:, 1], *a[:, 2], *b[:, 2]]
    words = np.array(words, np.float32).view(np.int32)
    nodes[index] = np.concatenate([words, np.array([left, right, 0, 0], np.int32)])
    return index, box


parts = [
    (np.array([[[-9, 0, -9], [-9, 0, 9], [9, 0, 9]], [[-9, 0, -9], [9, 0, 9], [9, 0, -9]]]), (0.9, 0.88, 0.84, 0.15)),
    (knot(np.array([0.0, 2.1, 0]), 0.62, 0.42, 10, 150), (0.93, 0.47, 0.16, 0.1)),
    (ball(np.array([-2.6, 0.8, 1.4]), 0.8, 12), (0.25, 0.55, 0.85, 0.0)),
    (ball(np.array([2.5, 0.9, 1.2]), 0.9, 14), (0.9, 0.9, 0.92, 0.75)),
    (ball(np.array([0.9, 0.4, 2.6]), 0.4, 8), (0.3, 0.75, 0.4, 0.0)),
]
triangles = np.concatenate([part for part, _ in parts])
colours = np.concatenate([np.tile(np.float32(colour), (len(part), 1)) for part, colour in parts])

# The floor stays first: the kernel knows it by its number.
nodes, build.sorted = [None], [0, 1]
(objects, box) = build(triangles, np.arange(2, len(triangles)), nodes)
floor = triangles[:2]
floor_box = np.stack([floor.min((0, 1)), floor.max((0, 1))]) + [[-1e-4], [1e-4]]
words = [*box[:, 0], *box[:, 1], *floor_box[:, 0], *floor_box[:, 1], *box[:, 2], *floor_box[:, 2]]
nodes[0] = np.concatenate([np.array(words, np.float32).view(np.int32), np.array([objects, ~(8 * 0 + 2), 0, 0], np.int32)])

triangles = triangles[build.sorted]
edges = np.stack([triangles[:, 0], triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]], 1)
np.save("triangles.npy", edges.astype(np.float32))
np.save("colours.npy", colours[build.sorted])
np.save("nodes.npy", np.stack(nodes).astype(np.int32))
print(len(triangles), "triangles,", len(nodes), "nodes")
