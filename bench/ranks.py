#!/usr/bin/env python3
"""Training on two ranks with a thread each, against one process with two threads and, with --python, against PyTorch's
DistributedDataParallel over gloo: the same batch in all, processes in turns, medians of steps.

    bench/ranks.py [--build build/release] [--python PYTHON] [--rounds 3] [--steps 8] [--shards 8] [NETWORK...]
    bench/ranks.py --predict [--build build/release] [--rounds 3] [--steps 8] [--shards 8] [--costs FILE] [NETWORK...]

With --predict instead: the step that `train plan` predicts for 1, 2 and 4 ranks of a thread each, beside what it takes. The
prediction rests on what bench_all_reduce measures between ranks, and on each kernel measured alone (kept in --costs FILE);
ranks that are more than processors compute in turns.

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

    def mpirun(self, ranks):
        return ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", str(ranks)] if ranks > 1 else []

    def ours(self, name, ranks, threads):
        """Milliseconds a step, and what the ranks say of their waiting."""
        metrics = os.path.join(self.folder, "metrics.csv")
        data = "sentences" if CASES[name][1] is None else "synthetic"
        done = subprocess.run(self.mpirun(ranks) + [self.train, "--model", name, "--batch", str(CASES[name][0]), "--data", data, "--shards",
                                        str(self.options.shards), "--threads", str(threads), "--eval-every", "0", "--steps",
                                        str(self.options.steps), "--log-every", "1", "--metrics", metrics],
                              capture_output=True, text=True, check=True)
        with open(metrics) as file:
            ms = [float(row["ms"]) for row in csv.DictReader(file)][SKIPPED:]
        waited = re.search(r"waited for each other ([0-9.]+) %", done.stderr)
        return statistics.median(ms), waited and float(waited[1])

    def network(self, ranks):
        """The links between so many ranks, as `train plan` takes them."""
        bench = os.path.join(self.options.build, "bench", "bench_all_reduce")
        done = subprocess.run(self.mpirun(max(ranks, 2)) + [bench, "20", "5"], capture_output=True, text=True, check=True)
        return re.search(r"^--network (\S+)$", done.stdout, re.M)[1]

    def predicted(self, name, ranks, network, costs):
        """Milliseconds of a step of a rank: computing, and waiting for others."""
        done = subprocess.run([self.train, "plan", "--model", name, "--batch", str(CASES[name][0]), "--shards",
                               str(self.options.shards), "--ranks", f"{ranks}..{2 * ranks}", "--threads", "1", "--eval-every", "0",
                               "--network", network, "--costs", costs, "--json"], capture_output=True, text=True, check=True)
        seconds = json.loads(done.stdout)["rows"][0]["seconds"]
        return 1000 * seconds["computing"], 1000 * seconds["waiting"]

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


def print_predictions(runs, options, folder):
    costs = options.costs or os.path.join(folder, "costs.json")
    processors = len(os.sched_getaffinity(0))
    print(f"{processors} processors\n\n| network | batch | ranks | network | computing, ms | waiting, ms | predicted, ms | measured, ms | "
          "measured / predicted |\n|---|---:|---:|---|---:|---:|---:|---:|---:|")
    for name in options.networks or ["resnet20"]:
        for ranks in (1, 2, 4):
            network = runs.network(ranks)
            computing, waiting = runs.predicted(name, ranks, network, costs)
            predicted = computing * max(1, ranks / processors) + waiting
            measured = [runs.ours(name, ranks, 1)[0] for _ in range(options.rounds)]
            print(f"| {name} | {CASES[name][0]} | {ranks} | {network if ranks > 1 else ''} | {computing:.0f} | {waiting:.1f} | "
                  f"{predicted:.0f} | {statistics.median(measured):.0f} | {spread([ms / predicted for ms in measured])} |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--python")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--shards", type=int, default=8)
    parser.add_argument("--predict", action="store_true")
    parser.add_argument("--costs")
    parser.add_argument("networks", nargs="*", default=[])
    options = parser.parse_args()
    if options.predict:
        with tempfile.TemporaryDirectory() as folder:
            print_predictions(Runs(options, folder), options, folder)
        return
    print("| network | batch | two ranks, ms | one, two threads, ms | ratio | waited | DDP, ms | ratio |\n|---|---:|---:|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(options, folder)
        for name in options.networks or CASES:
            two, one, waited, peer = [], [], [], []
            for number in range(options.rounds):
                ms, share = runs.ours(name, 2, 1)
                two.append(ms), waited.append(share), one.append(runs.ours(name, 1, 2)[0])
                if options.python:
                    peer.append(runs.peer(name, f"{name}{number}"))
            of_peer = (f"{statistics.median(peer):.0f}", spread([a / b for a, b in zip(two, peer)])) if peer else ("", "")
            print(f"| {name} | {CASES[name][0]} | {statistics.median(two):.0f} | {statistics.median(one):.0f} | "
                  f"{spread([a / b for a, b in zip(two, one)])} | {statistics.median(waited):.1f} % | {of_peer[0]} | {of_peer[1]} |",
                  flush=True)


if __name__ == "__main__":
    main()
