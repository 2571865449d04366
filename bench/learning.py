#!/usr/bin/env python3
"""A small transformer trained by us and by PyTorch from the same weights by the same recipe, in processes that take turns,
on its data in other orders and varied by other draws: what each has learned, and time.

    bench/learning.py [--python PYTHON] [--seeds N] char_gpt_cpu TEXT [--steps 2000]
    bench/learning.py [--python PYTHON] [--seeds N] vit_tiny CIFAR10 [--epochs 30] [--batch 64] [--lr 0.001] [--dtype f32]

TEXT has 96 bytes at most that differ; learned is the loss on its last tenth. CIFAR10 is a folder with its binary files;
learned is the share of the test images that is told right; with --dtype bf16 PyTorch runs under autocast. A pair of 30
epochs takes an hour and a half on two cores that multiply bf16, and more than two in f32. Our seconds are those of the
whole process, without its evaluation; PyTorch's of its steps alone. Several seeds show how far these differ by
themselves."""
import glob
import math
import os
import statistics
import tempfile
import time
from types import SimpleNamespace

import peers
from tables import Table

WINDOW = 64


def texts_of(file, random):
    """Windows and what follows, of the first nine tenths to train, of the last to evaluate."""
    import numpy as np
    import torch
    symbols = np.unique(np.fromfile(file, np.uint8), return_inverse=True)[1]
    cut = len(symbols) - len(symbols) // 10

    def windows(part):
        count = (len(part) - 1) // WINDOW
        return tuple(torch.tensor(part[at:at + count * WINDOW]).long().view(count, WINDOW) for at in (0, 1))
    return windows(symbols[:cut]), windows(symbols[cut:]), lambda x: x


def images_of(folder, random):
    """Images and labels, to train and to evaluate, and how a batch of images is varied: cut from a wider one, mirrored."""
    import numpy as np
    import torch
    import torch.nn.functional as F
    mean, deviation = (torch.tensor(v).view(1, 3, 1, 1) for v in ([0.4914, 0.4822, 0.4465], [0.2470, 0.2435, 0.2616]))

    def images(pattern):
        rows = np.concatenate([np.fromfile(name, np.uint8).reshape(-1, 3073) for name in sorted(glob.glob(folder + pattern))])
        return (torch.tensor(rows[:, 1:]).view(-1, 3, 32, 32) / 255 - mean) / deviation, torch.tensor(rows[:, 0]).long()

    def varied(x):
        padded, out = F.pad(x, (4, 4, 4, 4)), torch.empty_like(x)
        draws = (torch.randint(0, below, (len(x),), generator=random).tolist() for below in (9, 9, 2))
        for i, (down, right, flip) in enumerate(zip(*draws)):
            cut = padded[i, :, down:down + 32, right:right + 32]
            out[i] = cut.flip(2) if flip else cut
        return out
    return images("/data_batch_*.bin"), images("/test_batch*.bin"), varied


# Of each network: its data, its recipe (`last`: the share of the rate that the cosine ends at), our program's --set.
TASKS = {
    "char_gpt_cpu": SimpleNamespace(data="text:", read=texts_of, learned="loss", batch=12, lr=1e-3, warm=100, last=0.1,
                                    decay=0.1, betas=(0.9, 0.99), smoothing=0.0, no_decay=[], sets=[]),
    "vit_tiny": SimpleNamespace(data="cifar10:", read=images_of, learned="accuracy", batch=64, lr=1e-3, warm=0.05, last=0.0,
                                decay=0.05, betas=(0.9, 0.999), smoothing=0.1, no_decay=["positions.weight"],
                                sets=["pool_mean=true"]),
}


def torch_training(model, weights, data, seed, steps, epochs, batch, rate, dtype):
    import torch
    import torch.nn.functional as F

    import networks_torch
    import torch_peer
    task, random = TASKS[model], torch.Generator().manual_seed(seed)
    torch.set_num_threads(peers.THREADS)
    p, trained = torch_peer.parameters_of(weights)
    (x, t), (test, truth), varied = task.read(data, random)
    steps = steps or epochs * (len(x) // batch)
    warm = task.warm * steps if task.warm < 1 else task.warm
    decays = {name for name, value in p.items() if value.dim() > 1 and name not in task.no_decay}
    groups = [{"params": [p[name] for name in p if (name in decays) == some], "weight_decay": task.decay * some}
              for some in (True, False)]
    optimizer = torch_peer.adamw(groups, lr=rate, betas=task.betas)

    def logits(x):
        with torch.autocast("cpu", torch.bfloat16, enabled=dtype == "bf16"):
            return getattr(networks_torch, model)(p, x).float()
    order, begin = [], time.perf_counter()
    for step in range(steps):
        if len(order) < batch:
            order = torch.randperm(len(x), generator=random)
        rows, order = order[:batch], order[batch:]
        course = 0.5 * (1 + math.cos(math.pi * (step - warm) / (steps - warm)))
        for group in optimizer.param_groups:
            group["lr"] = rate * min(1.0, (step + 1) / warm if step < warm else task.last + (1 - task.last) * course)
        optimizer.zero_grad(set_to_none=True)
        F.cross_entropy(logits(varied(x[rows])), t[rows].flatten(), label_smoothing=task.smoothing).backward()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
    seconds, total = time.perf_counter() - begin, 0.0
    with torch.no_grad():
        for at in range(0, len(test), 64):
            y, right = logits(test[at:at + 64]), truth[at:at + 64].flatten()
            of_batch = F.cross_entropy(y, right, reduction="sum") if task.learned == "loss" else (y.argmax(1) == right).sum()
            total += float(of_batch)
    return {task.learned: total / truth.numel(), "seconds": seconds, "version": torch.__version__}


def our_training(args, task, folder, weights, seed):
    length = ["--steps", args.steps] if args.steps else ["--epochs", args.epochs]
    run = os.path.join(folder, f"run{seed}")
    trained = peers.run([args.train, "--model", args.model, *peers.sets(task.sets), "--weights", weights, "--data",
                         task.data + args.data, "--seed", seed, *length, "--batch", args.batch, "--lr", args.lr,
                         "--dtype", args.dtype, "--threads", peers.THREADS, "--eval-every", 0, "--save", run])
    return {**peers.result([args.train, "eval", "--weights", run, "--format", "json"]), "seconds": trained.seconds}


def main():
    parser = peers.parser(__doc__, python=True, steps=0, seeds=1, epochs=0, batch=0, lr=0.0)
    parser.add_argument("--dtype", choices=["f32", "bf16"], default="f32")
    parser.add_argument("model", choices=TASKS)
    parser.add_argument("data")
    args = parser.parse_args()
    task = TASKS[args.model]
    args.batch, args.lr = args.batch or task.batch, args.lr or task.lr
    if args.model == "char_gpt_cpu":
        args.steps = args.steps or 2000
    else:
        args.epochs = args.epochs or 30
    table = Table(("seed", "{}"), (f"{task.learned}, ours", "{:.3f}"), (f"{task.learned}, PyTorch's", "{:.3f}"),
                  ("seconds, ours", "{:.0f}"), ("seconds, PyTorch's", "{:.0f}"), ("ratio", "{:.2f}"))
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(args.seeds):
            weights = os.path.join(folder, f"weights{seed}")
            peers.run([args.train, "export", "--model", args.model, *peers.sets(task.sets), "--seed", seed, "--output", weights])
            ours = our_training(args, task, folder, weights, seed)
            theirs = peers.peer(args.python, torch_training, args.model, weights, args.data, seed, args.steps, args.epochs,
                                args.batch, args.lr, args.dtype)
            ratios.append(ours["seconds"] / theirs["seconds"])
            table.row(seed, ours[task.learned], theirs[task.learned], ours["seconds"], theirs["seconds"], ratios[-1])
    print(f"\nPyTorch {theirs['version']}, {peers.THREADS} threads; ratio of times, median: {statistics.median(ratios):.2f}")


if __name__ == "__main__":
    peers.start(main)
