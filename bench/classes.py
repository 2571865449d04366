#!/usr/bin/env python3
"""Classes of unequal size, and masks: what we and PyTorch learn from the same weights by the same recipe, on the same
split, in other orders.

    bench/classes.py [--python PYTHON] [--seeds 3] [--epochs 8] unbalanced CIFAR10
    bench/classes.py [--python PYTHON] [--seeds 3] [--epochs 8] masks FOLDER

CIFAR10 is a folder with its binary files; of the first class 500 images are taken, of the last 10, of the others as many as
lie evenly between, by ratio. Learned is the mean F1 over classes, without weights, with weights of classes, and drawn by
class. FOLDER is what examples/draw_masks.py has drawn; learned is the mean IoU, by a small U-Net. PyTorch's predictions
are scored by scikit-learn."""
import glob
import json
import os
import tempfile
from pathlib import Path

import peers
from tables import Table

MOST, LEAST, CLASSES, BATCH, RATE, MOMENTUM = 500, 10, 10, 32, 0.01, 0.9
MEAN, DEVIATION = [0.4914, 0.4822, 0.4465], [0.2470, 0.2435, 0.2616]
OF_PHOTOGRAPHS = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
NETWORK = {
    "version": 1, "name": "small",
    "inputs": {"image": {"shape": [3, 32, 32]}, "label": {"shape": [], "dtype": "i32"}},
    "layers": [{"op": "conv", "out": 16, "k": 3, "pad": 1}, {"op": "relu"}, {"op": "max_pool", "k": 2},
               {"op": "conv", "out": 32, "k": 3, "pad": 1}, {"op": "relu"}, {"op": "max_pool", "k": 2},
               {"op": "fc", "out": 64}, {"op": "relu"}, {"op": "fc", "out": CLASSES, "name": "logits"}],
    "loss": [{"op": "cross_entropy", "in": "logits", "target": "label"}],
}


def write_unbalanced(source, folder):
    """The training images that are kept, and the test images, as CIFAR-10's files."""
    rows = b"".join(Path(name).read_bytes() for name in sorted(glob.glob(source + "/data_batch_*.bin")))
    kept, seen = [], [0] * CLASSES
    for at in range(0, len(rows), 3073):
        label = rows[at]
        seen[label] += 1
        if seen[label] <= round(MOST * (LEAST / MOST)**(label / (CLASSES - 1))):
            kept.append(rows[at:at + 3073])
    (folder / "data_batch_1.bin").write_bytes(b"".join(kept))
    (folder / "test_batch.bin").write_bytes(b"".join(Path(n).read_bytes() for n in sorted(glob.glob(source + "/test_batch*.bin"))))
    (folder / "batches.meta.txt").write_bytes((Path(source) / "batches.meta.txt").read_bytes())


def trained_by_torch(step, count, epochs, seed, rate, optimizer, draw):
    """Runs epochs in an order of its own, or what `draw` gives, and a rate that falls as a cosine does."""
    import math

    import torch
    random, steps = torch.Generator().manual_seed(seed), epochs * (count // BATCH)
    for at in range(steps):
        if at % (count // BATCH) == 0:
            order = draw(random) if draw else torch.randperm(count, generator=random)
        rows = order[at % (count // BATCH) * BATCH:][:BATCH]
        for group in optimizer.param_groups:
            group["lr"] = rate * 0.5 * (1 + math.cos(math.pi * at / steps))
        optimizer.zero_grad(set_to_none=True)
        step(rows).backward()
        optimizer.step()


def torch_unbalanced(weights, folder, seed, epochs, way):
    import numpy as np
    import torch
    import torch.nn.functional as F
    from sklearn.metrics import f1_score
    from sklearn.utils.class_weight import compute_class_weight

    import networks_torch
    import torch_peer
    torch.set_num_threads(peers.THREADS)
    p, trained = torch_peer.parameters_of(weights)

    def images(name):
        rows = np.fromfile(os.path.join(folder, name), np.uint8).reshape(-1, 3073)
        mean, deviation = (torch.tensor(v).view(1, 3, 1, 1) for v in (MEAN, DEVIATION))
        return (torch.tensor(rows[:, 1:]).view(-1, 3, 32, 32) / 255 - mean) / deviation, torch.tensor(rows[:, 0]).long()

    def logits(x):
        layers = networks_torch.Layers(p)
        x = F.max_pool2d(F.relu(layers.conv(x, pad=1)), 2)
        x = F.max_pool2d(F.relu(layers.conv(x, pad=1)), 2).flatten(1)
        return layers.fc(F.relu(layers.fc(x)))
    (x, t), (test, truth) = images("data_batch_1.bin"), images("test_batch.bin")
    balanced = torch.tensor(compute_class_weight("balanced", classes=np.arange(CLASSES), y=t.numpy()), dtype=torch.float32)
    of_class = balanced if way == "weights" else None
    alike = balanced[t].double()
    draw = (lambda random: torch.multinomial(alike, len(t), True, generator=random)) if way == "sampler" else None
    optimizer = torch.optim.SGD(trained, lr=RATE, momentum=MOMENTUM)
    trained_by_torch(lambda rows: F.cross_entropy(logits(x[rows]), t[rows], weight=of_class), len(t), epochs, seed, RATE,
                     optimizer, draw)
    with torch.no_grad():
        found = logits(test).argmax(1)
    return {"f1": float(f1_score(truth, found, average="macro", zero_division=0)), "version": torch.__version__}


def torch_masks(weights, folder, held, seed, epochs):
    import numpy as np
    import torch
    import torch.nn.functional as F
    from PIL import Image
    from sklearn.metrics import jaccard_score

    import networks_torch
    import torch_peer
    torch.set_num_threads(peers.THREADS)
    p, trained = torch_peer.parameters_of(weights)

    def pairs(names):
        mean, deviation = (torch.tensor(v).view(1, 3, 1, 1) for v in OF_PHOTOGRAPHS)
        read = lambda kind: torch.tensor(np.stack([np.array(Image.open(f"{folder}/{kind}/{n}")) for n in names]))
        return (read("images").permute(0, 3, 1, 2) / 255 - mean) / deviation, read("masks").long()
    names = sorted(os.listdir(folder + "/images"))
    x, t = pairs([n for n in names if n not in held])
    test, truth = pairs(held)
    optimizer = torch.optim.Adam(trained, lr=0.01)
    trained_by_torch(lambda rows: F.cross_entropy(networks_torch.unet(p, x[rows]), t[rows].flatten(), ignore_index=255),
                     len(x), epochs, seed, 0.01, optimizer, None)
    networks_torch.Layers.training = False
    with torch.no_grad():
        found, truth = networks_torch.unet(p, test).argmax(1), truth.flatten()
    counts = truth != 255
    return {"iou": float(jaccard_score(truth[counts], found[counts], average="macro")), "version": torch.__version__}


def ours(args, folder, model, weights, seed, data, *more):
    run = str(folder / f"run{seed}{len(os.listdir(folder))}")
    peers.run([args.train, "--model", *model, "--weights", weights, "--data", data, "--seed", seed, "--epochs", args.epochs,
               "--batch", BATCH, "--schedule", "cosine", "--threads", peers.THREADS, "--eval-every", 0, "--augment", "none",
               "--save", run, *more])
    return peers.result([args.train, "eval", "--weights", run, "--by-class", "--format", "json"])["macro"]


def unbalanced(args, folder):
    data, network = folder / "data", folder / "small.json"
    data.mkdir()
    write_unbalanced(args.data, data)
    network.write_text(json.dumps(NETWORK))
    ways = {"plain": [], "weights": ["--class-weights", "balanced"], "sampler": ["--sampler", "balanced"]}
    table = Table(("seed", "{}"), *((f"{way}, {who}", "{:.3f}") for way in ways for who in ("ours", "PyTorch's")))
    for seed in range(args.seeds):
        weights, row = str(folder / f"weights{seed}"), []
        peers.run([args.train, "export", "--model", network, "--seed", seed, "--output", weights])
        for way, options in ways.items():
            theirs = peers.peer(args.python, torch_unbalanced, weights, str(data), seed, args.epochs, way)
            row += [ours(args, folder, [network], weights, seed, f"cifar10:{data}", "--optimizer", "momentum", "--momentum",
                         MOMENTUM, "--lr", RATE, *options)["f1"], theirs["f1"]]
        table.row(seed, *row)
    return theirs["version"]


def masks(args, folder):
    model = ["unet", "--set", "classes=3,ignore=255"]
    names = sorted(os.listdir(args.data + "/images"))
    held = names[9::10]  # every tenth, as our program holds them out
    table = Table(("seed", "{}"), ("IoU, ours", "{:.3f}"), ("IoU, PyTorch's", "{:.3f}"))
    for seed in range(args.seeds):
        weights = str(folder / f"weights{seed}")
        peers.run([args.train, "export", "--model", *model, "--seed", seed, "--output", weights])
        theirs = peers.peer(args.python, torch_masks, weights, args.data, held, seed, args.epochs)
        table.row(seed, ours(args, folder, model, weights, seed, f"masks:{args.data}/images,{args.data}/masks,ignore=255",
                             "--optimizer", "adam", "--lr", 0.01)["iou"], theirs["iou"])
    return theirs["version"]


def main():
    parser = peers.parser(__doc__, python=True, seeds=3, epochs=8)
    parser.add_argument("task", choices=["unbalanced", "masks"])
    parser.add_argument("data")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        version = (unbalanced if args.task == "unbalanced" else masks)(args, Path(folder))
    print(f"\nPyTorch {version}, {args.epochs} epochs")


if __name__ == "__main__":
    peers.start(main)
