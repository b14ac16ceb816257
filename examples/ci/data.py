"""Writes image.npy and brighter.npy, which the tests of CMakeLists.txt read."""

import numpy as np

image = np.random.default_rng(1).integers(0, 256, 600, np.uint8)
np.save("image.npy", image.view(np.uint32))
np.save("brighter.npy", np.minimum(image.astype(int) + 100, 255).astype(np.uint8).view(np.uint32))
