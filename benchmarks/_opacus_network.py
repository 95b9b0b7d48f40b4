"""Processor seconds of one step of Opacus on the network of networks.py: units and records of a batch are given."""

import sys
import time
import warnings

import torch
from opacus import GradSampleModule
from opacus.optimizers import DPOptimizer

warnings.simplefilter("ignore")
torch.set_num_threads(1)
hidden, batch = map(int, sys.argv[1:])
X, y = torch.rand(batch, 784) / 10, torch.randint(10, (batch,))
layers = torch.nn.Linear(784, hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, 10)
model = GradSampleModule(torch.nn.Sequential(*layers))
optimiser = DPOptimizer(
    torch.optim.SGD(model.parameters(), lr=0.1),
    noise_multiplier=1.0,
    max_grad_norm=1.0,
    expected_batch_size=batch,
)
taken = []
for _ in range(6):
    start = time.process_time()
    optimiser.zero_grad()
    torch.nn.functional.cross_entropy(model(X), y).backward()
    optimiser.step()
    taken.append(time.process_time() - start)
print(sorted(taken)[len(taken) // 2])
