#!/usr/bin/env python3
"""A step of lethe's and one of PyTorch's, alone and in turns, in one process with both OpenMP runtimes.

    bench/beside_torch.py [--rounds N] [--model NAME]      (with a python3 that has lethe and torch)"""
import argparse
import os
import statistics
import time

import lethe
import numpy
import torch


def steps(model_name, batch):
    session = lethe.Session(model_name, batch=batch, augment="none", lr=0.01)
    images = numpy.random.default_rng(0).standard_normal((batch, 3, 32, 32)).astype("f4")
    labels = numpy.zeros(batch, "i4")
    layers = [torch.nn.Conv2d(3, 32, 3, padding=1), torch.nn.ReLU()]
    for _ in range(4):
        layers += [torch.nn.Conv2d(32, 32, 3, padding=1), torch.nn.ReLU()]
    model = torch.nn.Sequential(*layers, torch.nn.Flatten(), torch.nn.Linear(32 * 32 * 32, 10))
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    tensors, targets = torch.from_numpy(images), torch.from_numpy(labels).long()

    def theirs():
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(tensors), targets).backward()
        optimizer.step()

    return lambda: session.train_step((images, labels)), theirs


def medians(rounds, *works):
    taken = [[] for _ in works]
    for number in range(rounds + 3):
        for work, times in zip(works, taken):
            begin = time.perf_counter()
            work()
            if number >= 3:
                times.append(1000 * (time.perf_counter() - begin))
    return [statistics.median(times) for times in taken]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--model", default="resnet20")
    parser.add_argument("--batch", type=int, default=64)
    arguments = parser.parse_args()
    ours, theirs = steps(arguments.model, arguments.batch)
    (ours_alone,), (theirs_alone,) = medians(arguments.rounds, ours), medians(arguments.rounds, theirs)
    ours_beside, theirs_beside = medians(arguments.rounds, ours, theirs)
    with open("/proc/self/maps") as maps:
        runtimes = sorted({os.path.basename(line.split()[-1]) for line in maps if "gomp" in line or "iomp" in line})
    print(f"lethe {lethe.__version__}, torch {torch.__version__}, {os.cpu_count()} processors; OpenMP: {', '.join(runtimes)}")
    print("| a step, ms (median) | alone | in turns | ratio |\n|---|---|---|---|")
    for name, alone, beside in (("lethe " + arguments.model, ours_alone, ours_beside), ("PyTorch", theirs_alone, theirs_beside)):
        print(f"| {name} | {alone:.1f} | {beside:.1f} | {beside / alone:.2f} |")


if __name__ == "__main__":
    main()
