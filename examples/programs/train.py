"""Trains a network of two layers to tell which points are inside of a circle, with tinygrad on CUDA.

    pip install tinygrad
    DEV=CUDA:PTX vop exec python examples/programs/train.py
"""

from tinygrad import Context, Tensor, nn

Tensor.manual_seed(1)
points = Tensor.rand(512, 2) * 2 - 1
inside = ((points * points).sum(axis=1) < 0.5).float().realize()


class Net:
    def __init__(self):
        self.first, self.second = nn.Linear(2, 32), nn.Linear(32, 1)

    def __call__(self, x):
        return self.second(self.first(x).tanh()).squeeze()


net = Net()
optimizer = nn.optim.Adam(nn.state.get_parameters(net), lr=0.02)
with Context(TRAINING=1):
    for step in range(60):
        optimizer.zero_grad()
        loss = net(points).binary_crossentropy_logits(inside).backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step}: loss {loss.item():.3f}")

right = ((net(points) > 0) == (inside > 0.5)).float().mean().item()
print(f"{right:.1%} of the points are told apart")
assert right > 0.9
