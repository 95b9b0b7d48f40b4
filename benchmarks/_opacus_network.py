"""Opacus on the network of networks.py, run by the Python of an environment that has it, in single precision.

    python _opacus_network.py step <hidden> <batch>     # processor seconds of one step, of one thread
    python _opacus_network.py fit <file.npz>            # processor seconds of a fit; weights are added to the file

A fit takes the same rows, start, rate, number of steps, clip and step as ours, and noise by Opacus's own accountant.
"""

import sys
import time
import warnings

import numpy as np
import torch
from opacus import GradSampleModule
from opacus.accountants.utils import get_noise_multiplier
from opacus.optimizers import DPOptimizer

warnings.simplefilter("ignore")
torch.set_num_threads(1)


class Network(torch.nn.Module):
    """Two layers of weights without biases: rows and what hidden units say have a constant column instead."""

    def __init__(self, width, hidden, outputs, share, constant):
        super().__init__()
        self.first = torch.nn.Linear(width, hidden, bias=False)
        self.last = torch.nn.Linear(hidden + 1, outputs, bias=False)
        self.share, self.constant = share, constant

    def forward(self, rows):
        said = torch.relu(self.first(rows)) * self.share
        return self.last(torch.nn.functional.pad(said, (0, 1), value=self.constant))


def private(model, expected, noise, clip, step):
    """The model with gradients of single records, and an optimiser for it."""
    model = GradSampleModule(model)
    plain = torch.optim.SGD(model.parameters(), lr=step)
    given = {"noise_multiplier": noise, "max_grad_norm": clip, "expected_batch_size": expected}
    return model, DPOptimizer(plain, **given)


def update(model, optimiser, rows, y):
    """One step."""
    optimiser.zero_grad()
    torch.nn.functional.cross_entropy(model(rows), y).backward()
    optimiser.step()


def step(hidden, batch):
    """Median seconds of a step."""
    rows, y = torch.rand(batch, 785) / 10, torch.randint(10, (batch,))
    model, optimiser = private(Network(785, hidden, 10, 0.05, 0.25), batch, 1.0, 1.0, 0.1)
    taken = []
    for _ in range(6):
        start = time.process_time()
        update(model, optimiser, rows, y)
        taken.append(time.process_time() - start)
    print(sorted(taken)[len(taken) // 2])


def fit(path):
    """The mean of the weights of the second half of all steps."""
    given = dict(np.load(path))
    rows, y = torch.from_numpy(given["rows"]), torch.from_numpy(given["y"])
    rate, steps, step_size, clip, share, constant, epsilon, delta = map(float, given["settings"])
    noise = get_noise_multiplier(
        target_epsilon=epsilon,
        target_delta=delta,
        sample_rate=rate,
        steps=int(steps),
        accountant="prv",
    )
    hidden, outputs = given["last"].shape[0] - 1, given["last"].shape[1]
    network = Network(rows.shape[1], hidden, outputs, share, constant)
    with torch.no_grad():
        network.first.weight.copy_(torch.from_numpy(given["first"].T.copy()))
        network.last.weight.copy_(torch.from_numpy(given["last"].T.copy()))
    model, optimiser = private(network, rate * len(rows), noise, clip, step_size)
    torch.manual_seed(0)
    means, tail = [torch.zeros_like(p) for p in model.parameters()], int(steps) - int(steps) // 2
    start = time.process_time()
    for k in range(int(steps)):
        chosen = torch.rand(len(rows)) < rate
        update(model, optimiser, rows[chosen], y[chosen])
        if k >= steps - tail:
            for mean, p in zip(means, model.parameters()):
                mean += p.detach() / tail
    seconds = time.process_time() - start
    given |= {"first": means[0].numpy().T, "last": means[1].numpy().T}
    np.savez(path, **given)
    print(noise, seconds)


if __name__ == "__main__":
    if sys.argv[1] == "step":
        step(*map(int, sys.argv[2:]))
    else:
        fit(sys.argv[2])
