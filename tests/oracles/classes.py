"""What unbalanced classes come to: losses of PyTorch with weights of classes over some steps of gradient descent, and
scikit-learn's balanced weights and scores by class. For tests/train/class_weights_test.cpp and class_counts_test.cpp.

    python3 tests/oracles/classes.py > tests/oracles/classes.json
"""

import json
import sys

try:
    import numpy
    import sklearn.metrics
    import torch
    from sklearn.utils.class_weight import compute_class_weight
except ImportError as missing:
    print(f"classes: skipped: {missing}", file=sys.stderr)
    sys.exit(77)

SAMPLES, WIDTH, CLASSES, STEPS, RATE, IGNORED = 24, 3, 4, 4, 0.5, 2
LABELS = [0] * 12 + [1] * 6 + [2] * 4 + [3] * 2
WEIGHTS = [0.25, 3.0, 1.0, 7.5]


def inputs():
    return torch.tensor([[((7 * i + 5 * j) % 13) / 4 - 1 for j in range(WIDTH)] for i in range(SAMPLES)], dtype=torch.float64)


def losses(weights, ignored):
    """Of each step of gradient descent on all samples at once, for a fully connected layer that begins at nothing."""
    layer = torch.nn.Linear(WIDTH, CLASSES, dtype=torch.float64)
    torch.nn.init.zeros_(layer.weight)
    torch.nn.init.zeros_(layer.bias)
    loss_of = torch.nn.CrossEntropyLoss(weight=weights, ignore_index=-100 if ignored is None else ignored)
    descent, found = torch.optim.SGD(layer.parameters(), lr=RATE), []
    for _ in range(STEPS):
        descent.zero_grad()
        loss = loss_of(layer(inputs()), torch.tensor(LABELS))
        loss.backward()
        descent.step()
        found.append(loss.item())
    return found


def scores(labels, predicted):
    measured = sklearn.metrics.precision_recall_fscore_support(labels, predicted, labels=range(CLASSES), zero_division=0)
    macro = sklearn.metrics.precision_recall_fscore_support(labels, predicted, average="macro", zero_division=0)
    iou = sklearn.metrics.jaccard_score(labels, predicted, labels=range(CLASSES), average=None, zero_division=0)
    return {
        "labels": list(labels),
        "predicted": list(predicted),
        "precision": measured[0].tolist(),
        "recall": measured[1].tolist(),
        "f1": measured[2].tolist(),
        "iou": iou.tolist(),
        "macro": [float(m) for m in macro[:3]]
        + [float(sklearn.metrics.jaccard_score(labels, predicted, average="macro", zero_division=0))],
    }


def main():
    balanced = compute_class_weight("balanced", classes=numpy.arange(CLASSES), y=numpy.array(LABELS))
    named = torch.tensor(WEIGHTS, dtype=torch.float64)
    print(
        json.dumps(
            {
                "labels": LABELS,
                "weights": WEIGHTS,
                "balanced": balanced.tolist(),
                "losses": [
                    {"weights": "named", "ignored": None, "losses": losses(named, None)},
                    {"weights": "named", "ignored": IGNORED, "losses": losses(named, IGNORED)},
                    {"weights": "balanced", "ignored": None, "losses": losses(torch.tensor(balanced), None)},
                ],
                "scores": [
                    scores(LABELS, [(label + (i % 3 == 0)) % CLASSES for i, label in enumerate(LABELS)]),
                    scores([0, 0, 1, 1, 1, 0], [0, 1, 1, 0, 1, 0]),
                    scores([0, 0, 1, 3], [0, 1, 1, 1]),
                ],
            },
            indent=1,
        )
    )


if __name__ == "__main__":
    main()
