"""A perceptron by PyTorch, trained by noisy gradients (DP-SGD) to tell two moons apart.

Settings come as JSON on standard input, the seed and the device from the environment.
The noise follows from the seed, and so protects nobody: the sweep shows what it costs."""
import json
import math
import os
import sys

import torch
from torch import nn
from torch.func import functional_call, grad, vmap

settings = json.loads(sys.stdin.readline())
torch.manual_seed(int(os.environ["PRIVKERN_SEED"]))
torch.set_num_threads(int(os.environ["PRIVKERN_WORKERS"]))
device = os.environ["PRIVKERN_BACKEND"]  # cpu or cuda


def moons(n):
    """Two half circles with noise, and their classes."""
    classes = torch.arange(n) % 2
    angles = math.pi * torch.rand(n)
    upper = torch.stack([torch.cos(angles), torch.sin(angles)], 1)
    lower = torch.stack([1 - torch.cos(angles), 0.5 - torch.sin(angles)], 1)
    points = torch.where(classes[:, None] == 0, upper, lower) + 0.15 * torch.randn(n, 2)
    return points.to(device), classes.float().to(device)


x, y = moons(1000)
x_test, y_test = moons(1000)
model = nn.Sequential(nn.Linear(2, settings["hidden"]), nn.Tanh(), nn.Linear(settings["hidden"], 1)).to(device)
parameters = {name: p.detach() for name, p in model.named_parameters()}


def loss(parameters, x, y):
    """The loss of one example."""
    score = functional_call(model, parameters, (x[None],)).squeeze()
    return nn.functional.binary_cross_entropy_with_logits(score, y)


gradients = vmap(grad(loss), in_dims=(None, 0, 0))  # one for each example
losses = vmap(loss, in_dims=(None, 0, 0))
path = []
for step in range(settings["steps"]):
    chosen = torch.rand(len(x), device=device) < settings["batch"] / len(x)
    each = gradients(parameters, x[chosen], y[chosen])
    norms = torch.sqrt(sum(g.flatten(1).square().sum(1) for g in each.values()))
    scales = (settings["clip"] / norms.clamp(min=1e-12)).clamp(max=1)
    for name, g in each.items():
        clipped = (g * scales.view(-1, *[1] * (g.dim() - 1))).sum(0)
        noise = settings["noise"] * settings["clip"] * torch.randn(clipped.shape).to(device)
        parameters[name] = parameters[name] - settings["rate"] * (clipped + noise) / settings["batch"]
    path.append(losses(parameters, x_test, y_test).mean().item())

scores = functional_call(model, parameters, (x_test,)).squeeze()
accuracy = ((scores > 0) == (y_test > 0.5)).float().mean().item()
print(json.dumps({"metrics": {"accuracy": accuracy, "loss": path[-1]},
                  "series": {"loss": {"step": list(range(1, len(path) + 1)), "loss": path}}}))
