#!/usr/bin/env python3
"""Steps of PyTorch's Adafactor on matrices, in f64:

    python3 tests/oracles/adafactor.py > tests/oracles/adafactor.json

Of each: its sizes, its numbers at first, and after each of three steps, of which the gradients are made by a rule:
element i of step s has sin(3 i + 7 s + 1). tests/optimizer/adafactor_test.cpp takes the same steps."""
import json
import math
import sys

try:
    import torch
except ImportError as missing:
    print(f"adafactor: skipped: {missing}", file=sys.stderr)
    sys.exit(77)

SIZES = [(3, 4), (5, 2), (1, 6)]
RATES = [0.1, 0.9, 0.02]  # the second is above 1 / sqrt(t)


def steps(rows, columns, weight_decay):
    n = rows * columns
    start = [0.5 * math.cos(i) for i in range(n)]
    parameter = torch.nn.Parameter(torch.tensor(start, dtype=torch.float64).reshape(rows, columns))
    optimizer = torch.optim.Adafactor([parameter], weight_decay=weight_decay)
    after = []
    for step, rate in enumerate(RATES):
        optimizer.param_groups[0]["lr"] = rate
        gradient = [math.sin(3 * i + 7 * step + 1) for i in range(n)]
        parameter.grad = torch.tensor(gradient, dtype=torch.float64).reshape(rows, columns)
        optimizer.step()
        after.append(parameter.flatten().tolist())
    return {"rows": rows, "columns": columns, "weight_decay": weight_decay, "start": start, "after": after}


def main():
    made = [steps(*sizes, decay) for sizes in SIZES for decay in (0.0, 0.1)]
    print("[\n" + ",\n".join(" " + json.dumps(row) for row in made) + "\n]")


main()
