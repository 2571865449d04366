#!/usr/bin/env python3
"""scikit-learn's metrics of some predictions, and PyTorch's Huber loss of them:

    python3 tests/oracles/table_scores.py > tests/oracles/table_scores.json

tests/train/target_scores_test.cpp scores the same predictions. Some of them are equal, which the area under the curve
counts half."""
import json
import sys

try:
    import torch
    from sklearn import metrics
except ImportError as missing:
    print(f"table_scores: skipped: {missing}", file=sys.stderr)
    sys.exit(77)

PREDICTIONS = [((37 * i) % 11) / 4 - 1.25 for i in range(24)]
NUMBERS = [p + ((53 * i) % 17) / 8 - 1 for i, p in enumerate(PREDICTIONS)]
CHANCES = [float(p + ((29 * i) % 13) / 3 > 2) for i, p in enumerate(PREDICTIONS)]


def main():
    x, t = (torch.tensor(values, dtype=torch.float64, requires_grad=True) for values in (PREDICTIONS, NUMBERS))
    huber = torch.nn.functional.huber_loss(x, t, delta=0.5)
    huber.backward()
    print(json.dumps({
        "predictions": PREDICTIONS, "numbers": NUMBERS, "chances": CHANCES,
        "rmse": metrics.root_mean_squared_error(NUMBERS, PREDICTIONS),
        "r2": metrics.r2_score(NUMBERS, PREDICTIONS),
        "accuracy": metrics.accuracy_score(CHANCES, [p > 0 for p in PREDICTIONS]),
        "auc": metrics.roc_auc_score(CHANCES, PREDICTIONS),
        "huber": {"delta": 0.5, "loss": huber.item(), "gradient": x.grad.tolist()},
    }, indent=1))


if __name__ == "__main__":
    main()
