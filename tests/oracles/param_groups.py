#!/usr/bin/env python3
"""Steps of PyTorch's optimizers and timm's Lion with a learning rate of its own for each group of parameters, in f64:

    python3 tests/oracles/param_groups.py > tests/oracles/param_groups.json

Each of three parameters is a group: one with the rate of all, one with a quarter of it, one with 0.03 where that is 0.1
at first; a schedule multiplies all of them. tests/optimizer/optimizer_test.cpp takes the same steps."""
import json
import sys

try:
    import torch
    from timm.optim import Lion
except ImportError as missing:
    print(f"param_groups: skipped: {missing}", file=sys.stderr)
    sys.exit(77)

START = [1.0, -2.0, 0.5]
GRADIENTS = [[0.5, -1.0, 2.0], [0.25, 3.0, -1.0], [-1.5, 0.125, 0.75]]
RATES = [0.1, 0.025, 0.03]
SCHEDULE = [1.0, 0.5, 0.2]
OPTIMIZERS = {
    "sgd": (torch.optim.SGD, {}),
    "momentum": (torch.optim.SGD, {"momentum": 0.9}),
    "nesterov": (torch.optim.SGD, {"momentum": 0.9, "nesterov": True}),
    "adam": (torch.optim.Adam, {}),
    "adamw": (torch.optim.AdamW, {}),
    "rmsprop": (torch.optim.RMSprop, {}),
    "rmsprop with momentum": (torch.optim.RMSprop, {"momentum": 0.9}),
    "lion": (Lion, {}),
    "adafactor": (torch.optim.Adafactor, {}),
}


def steps(make, settings):
    """The parameters after each step."""
    parameters = [torch.nn.Parameter(torch.tensor(START, dtype=torch.float64)) for _ in RATES]
    groups = [{"params": [p], "lr": rate} for p, rate in zip(parameters, RATES)]
    optimizer = make(groups, lr=RATES[0], weight_decay=0.01, **settings)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: SCHEDULE[min(step, len(SCHEDULE) - 1)])
    after = []
    for gradient in GRADIENTS:
        for p in parameters:
            p.grad = torch.tensor(gradient, dtype=torch.float64)
        optimizer.step()
        schedule.step()
        after.append([p.tolist() for p in parameters])
    return after


def main():
    made = {name: steps(make, settings) for name, (make, settings) in OPTIMIZERS.items()}
    rows = ",\n".join(f" {json.dumps(name)}: {json.dumps(after)}" for name, after in made.items())
    print("{\n" + rows + "\n}")


main()
