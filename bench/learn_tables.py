#!/usr/bin/env python3
"""How well networks learn scikit-learn's bundled tables, beside PyTorch's same network and scikit-learn's own models on the
same rows; the mean and the extremes of three seeds. Beside --write DIR it does nothing but write the tables there, as
docs/how-to/tables.md has them.

The network is table of the zoo with its settings: two hidden layers of 64 (of diabetes 32, with dropout of 0.3), AdamW, a
cosine from 0.002, 50 epochs in batches of 32; what is less than a batch is left out. Targets and columns of numbers are
standardised by the rows for training."""
import csv
import json
import subprocess
import tempfile
from pathlib import Path

import peers

SEEDS = 3


def write(folder):
    """diabetes/ has a number to predict, digits/ three labels, each in train.csv and test.csv."""
    from sklearn.datasets import load_diabetes, load_digits
    from sklearn.model_selection import train_test_split
    diabetes, digits = load_diabetes(scaled=False), load_digits()
    label = digits.target
    labels = [(label % 2 == 0), (label > 4), sum(label == loop for loop in (0, 6, 8, 9))]
    tables = {"diabetes": (diabetes.feature_names + ["target"], [*diabetes.data.T, diabetes.target]),
              "digits": (digits.feature_names + ["even", "large", "loop"], [*digits.data.T, *labels])}
    for name, (header, columns) in tables.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        rows = [[f"{float(cell):.10g}" for cell in row] for row in zip(*columns)]
        for part, of_part in zip(("train", "test"), train_test_split(rows, test_size=0.25, random_state=0)):
            with open(folder / name / f"{part}.csv", "w", newline="") as file:
                csv.writer(file).writerows([header, *of_part])


def ours(train, folder, name, seed, settings, spec):
    run = folder / f"{name}-{seed}"
    data = f"csv:{folder / name / 'train.csv'},{spec},test={folder / name / 'test.csv'}"
    subprocess.run([train, "--model", "table", "--set", settings, "--data", data, "--seed", str(seed), "--threads", "1",
                    "--eval-every", "50e", "--quiet", "--save", run], check=True, capture_output=True)
    scores = subprocess.run([train, "eval", "--weights", run, "--format", "json"], check=True, capture_output=True, text=True)
    return json.loads(scores.stdout)


def tables_of(folder, name, targets, categories):
    """Of both parts what the network reads, and the targets."""
    import numpy
    parts = []
    for part in ("train", "test"):
        with open(folder / name / f"{part}.csv", newline="") as file:
            header, *rows = csv.reader(file)
        parts.append(dict(zip(header, numpy.array(rows, "float64").T)))
    read = [[], []]
    for column in header:
        here = parts[0][column]
        if column in categories:
            made = [[part[column] == value for value in numpy.unique(here)] for part in parts]
        else:
            made = [[(part[column] - here.mean()) / (here.std() or 1)] for part in parts]
        for into, columns in zip(read, made if column not in targets else ([], [])):
            into += columns
    return [(numpy.stack(columns, 1).astype("float32"), numpy.stack([part[t] for t in targets], 1).astype("float32"))
            for columns, part in zip(read, parts)]


def torchs(folder, name, seed, targets, categories, width, dropout, bce):
    """What PyTorch's network gives for the rows for tests."""
    import torch
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    (x, t), (rows, _) = [[torch.from_numpy(v) for v in part] for part in tables_of(folder, name, targets, categories)]
    mean, deviation = (0, 1) if bce else (t.mean(0), t.std(0, correction=0))
    t = (t - mean) / deviation
    hidden = lambda inputs: [torch.nn.Linear(inputs, width), torch.nn.ReLU(), torch.nn.Dropout(dropout)]
    layers = [*hidden(x.shape[1]), *hidden(width), torch.nn.Linear(width, t.shape[1])]
    for layer in layers[::3]:
        torch.nn.init.kaiming_normal_(layer.weight)
        torch.nn.init.zeros_(layer.bias)
    network = torch.nn.Sequential(*layers)
    loss = torch.nn.BCEWithLogitsLoss() if bce else torch.nn.MSELoss()
    optimizer = torch.optim.AdamW(network.parameters(), lr=0.002, weight_decay=0.01)
    steps = 50 * (len(x) // 32)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for _ in range(50):
        for batch in torch.randperm(len(x))[:len(x) // 32 * 32].view(-1, 32):
            optimizer.zero_grad()
            loss(network(x[batch]), t[batch]).backward()
            optimizer.step()
            schedule.step()
    network.eval()
    with torch.no_grad():
        return (network(rows) * deviation + mean).numpy()


def row(what, figures):
    mean = [sum(values) / len(values) for values in zip(*figures)]
    span = [f"{min(values):.4f} to {max(values):.4f}" for values in zip(*figures)]
    print(f"| {what} | " + " | ".join(f"{m:.4f} ({s})" for m, s in zip(mean, span)) + " |", flush=True)


def main():
    arguments = peers.parser(__doc__)
    arguments.add_argument("--write", help="a directory for the tables, which is all that is done")
    args = arguments.parse_args()
    if args.write:
        return write(Path(args.write))
    from sklearn import linear_model, metrics, multioutput
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home)
        write(folder)
        (x, t), (rows, wanted) = tables_of(folder, "diabetes", ["target"], ["sex"])
        print("| diabetes | rmse | r2 |\n|---|---|---|")
        scores = [ours(args.train, folder, "diabetes", seed, "inputs=11,hidden=32,dropout=0.3", "target=target,categories=sex")
                  for seed in range(SEEDS)]
        row("ours", [(score["rmse"], score["r2"]) for score in scores])
        of_numbers = lambda given: (metrics.root_mean_squared_error(wanted, given), metrics.r2_score(wanted, given))
        row("PyTorch", [of_numbers(torchs(folder, "diabetes", seed, ["target"], ["sex"], 32, 0.3, False)) for seed in range(SEEDS)])
        row("scikit-learn's Ridge", [of_numbers(linear_model.Ridge().fit(x, t).predict(rows))])
        labels = ["even", "large", "loop"]
        (x, t), (rows, wanted) = tables_of(folder, "digits", labels, [])
        print("\n| digits | accuracy | auc |\n|---|---|---|")
        scores = [ours(args.train, folder, "digits", seed, "inputs=64,outputs=3,bce=1", "target=even|large|loop")
                  for seed in range(SEEDS)]
        row("ours", [(score["accuracy"], score["auc"]) for score in scores])
        of_chances = lambda given: (((given > 0) == wanted).mean(), metrics.roc_auc_score(wanted, given))
        row("PyTorch", [of_chances(torchs(folder, "digits", seed, labels, [], 64, 0, True)) for seed in range(SEEDS)])
        logistic = multioutput.MultiOutputClassifier(linear_model.LogisticRegression(max_iter=2000)).fit(x, t)
        import numpy
        row("scikit-learn's LogisticRegression",
            [of_chances(numpy.stack([one.decision_function(rows) for one in logistic.estimators_], 1))])


if __name__ == "__main__":
    peers.start(main)
