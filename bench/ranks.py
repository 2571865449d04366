#!/usr/bin/env python3
"""Training on two ranks with a thread each, against one process with two threads and, with --python, against PyTorch's
DistributedDataParallel over gloo: the same batch in all, processes in turns, medians of steps.

    bench/ranks.py [--build build/release] [--python PYTHON] [--rounds 3] [--steps 8] [--shards 8] [NETWORK...]

PYTHON is an interpreter with PyTorch and numpy. A ratio is that of two runs of the same round; the table has medians, least
and largest in brackets. `waited` is what ranks say of themselves at their end."""
import argparse
import csv
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

CASES = {"resnet20": (128, (3, 32, 32), 10), "resnet50": (16, (3, 224, 224), 1000), "char_lstm": (32, None, 0)}
SKIPPED = 2  # of the steps of a process
PEER = """
import json, sys, time
sys.path.insert(0, sys.argv[1])
import torch, torch.nn.functional as F
import torch.distributed as dist
import networks_torch as nets, safetensors
name, weights, batch, image, classes, steps, meeting, rank = sys.argv[2:]
torch.set_num_threads(1)
dist.init_process_group("gloo", init_method="file://" + meeting, rank=int(rank), world_size=2)
place = lambda v: v.contiguous(memory_format=torch.channels_last) if v.dim() == 4 else v
class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.values = {key: place(torch.tensor(value)) for key, value in safetensors.read(weights).items()}
        self.trained = [key for key in self.values if "running_" not in key]
        self.list = torch.nn.ParameterList([torch.nn.Parameter(self.values[key]) for key in self.trained])
    def forward(self, x, t):
        logits = getattr(nets, name)({**self.values, **dict(zip(self.trained, self.list))}, x)
        return F.cross_entropy(logits, t)
network = torch.nn.parallel.DistributedDataParallel(Network())
optimizer = torch.optim.SGD(network.parameters(), lr=0.001, momentum=0.9)
torch.manual_seed(int(rank))
size = int(batch) // 2
if image == "text":
    x, t = torch.randint(0, 64, (size, 64)), torch.randint(0, 64, (size * 64,))
else:
    x, t = place(torch.rand(size, *json.loads(image))), torch.randint(0, int(classes), (size,))
times = []
for step in range(int(steps)):
    begin = time.perf_counter()
    optimizer.zero_grad(set_to_none=True)
    loss = network(x, t)
    loss.backward()
    optimizer.step()
    loss.item()
    times.append(time.perf_counter() - begin)
if rank == "0":
    print(json.dumps({"seconds": times, "version": torch.__version__}))
"""


class Runs:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.train = os.path.join(options.build, "bin", "train")

    def ours(self, name, ranks):
        """Milliseconds a step, and what the ranks say of their waiting."""
        metrics = os.path.join(self.folder, "metrics.csv")
        mpirun = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", str(ranks)] if ranks > 1 else []
        data = "sentences" if CASES[name][1] is None else "synthetic"
        done = subprocess.run(mpirun + [self.train, "--model", name, "--batch", str(CASES[name][0]), "--data", data, "--shards",
                                        str(self.options.shards), "--threads", str(2 // ranks), "--eval-every", "0", "--steps",
                                        str(self.options.steps), "--log-every", "1", "--metrics", metrics],
                              capture_output=True, text=True, check=True)
        with open(metrics) as file:
            ms = [float(row["ms"]) for row in csv.DictReader(file)][SKIPPED:]
        waited = re.search(r"waited for each other ([0-9.]+) %", done.stderr)
        return statistics.median(ms), waited and float(waited[1])

    def peer(self, name, number):
        weights, meeting = (os.path.join(self.folder, part) for part in (name + ".safetensors", f"meeting{number}"))
        if not os.path.exists(weights):
            subprocess.run([self.train, "export", "--model", name, "--output", weights], check=True, capture_output=True)
        batch, image, classes = CASES[name]
        image = json.dumps(image) if image else "text"
        command = [self.options.python, "-c", PEER, os.path.dirname(os.path.abspath(__file__)), name, weights, str(batch), image,
                   str(classes), str(self.options.steps), meeting]
        ranks = [subprocess.Popen(command + [str(rank)], stdout=subprocess.PIPE, text=True) for rank in range(2)]
        out = [rank.communicate()[0] for rank in ranks]
        if any(rank.returncode for rank in ranks):
            sys.exit(f"ranks.py: PyTorch's ranks failed at {name}")
        return 1000 * statistics.median(json.loads(out[0])["seconds"][SKIPPED:])


def spread(ratios):
    return f"**{statistics.median(ratios):.2f}** ({min(ratios):.2f}-{max(ratios):.2f})"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--python")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--shards", type=int, default=8)
    parser.add_argument("networks", nargs="*", default=[])
    options = parser.parse_args()
    print("| network | batch | two ranks, ms | one, two threads, ms | ratio | waited | DDP, ms | ratio |\n|---|---:|---:|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(options, folder)
        for name in options.networks or CASES:
            two, one, waited, peer = [], [], [], []
            for number in range(options.rounds):
                ms, share = runs.ours(name, 2)
                two.append(ms), waited.append(share), one.append(runs.ours(name, 1)[0])
                if options.python:
                    peer.append(runs.peer(name, f"{name}{number}"))
            of_peer = (f"{statistics.median(peer):.0f}", spread([a / b for a, b in zip(two, peer)])) if peer else ("", "")
            print(f"| {name} | {CASES[name][0]} | {statistics.median(two):.0f} | {statistics.median(one):.0f} | "
                  f"{spread([a / b for a, b in zip(two, one)])} | {statistics.median(waited):.1f} % | {of_peer[0]} | {of_peer[1]} |",
                  flush=True)


if __name__ == "__main__":
    main()
