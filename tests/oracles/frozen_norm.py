"""Loss and gradients below a batch norm that is frozen, as PyTorch has them: for tests/ops/batch_norm_test.cpp.

    python3 tests/oracles/frozen_norm.py
"""

import math
import sys

try:
    import torch
except ImportError as missing:
    print(f"frozen_norm: skipped: {missing}", file=sys.stderr)
    sys.exit(77)


def made(first, *shape):
    """sin(first), sin(first + 1), ... in f64."""
    count = math.prod(shape)
    return torch.tensor([math.sin(first + i) for i in range(count)], dtype=torch.float64).reshape(shape)


def main():
    below = torch.nn.Linear(3, 2, dtype=torch.float64)
    norm = torch.nn.BatchNorm1d(2, eps=1e-5, dtype=torch.float64)
    with torch.no_grad():
        below.weight.copy_(made(1, 2, 3))
        below.bias.copy_(made(2, 2))
        norm.weight.copy_(made(3, 2))
        norm.bias.copy_(made(4, 2))
        norm.running_mean.copy_(made(5, 2))
        norm.running_var.copy_(made(6, 2) ** 2)
    norm.eval()
    norm.requires_grad_(False)
    y = norm(below(made(7, 4, 3)))
    loss = torch.nn.functional.mse_loss(y, made(8, 4, 2))
    loss.backward()
    print("loss", repr(loss.item()))
    print("below.weight", [repr(g) for g in below.weight.grad.flatten().tolist()])
    print("below.bias", [repr(g) for g in below.bias.grad.tolist()])


if __name__ == "__main__":
    main()
