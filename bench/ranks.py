#!/usr/bin/env python3
"""Training on two ranks with a thread each, against one process with two threads and, with --python, against PyTorch's
DistributedDataParallel over gloo: the same batch in all, processes in turns, medians of steps.

    bench/ranks.py [--train TRAIN] [--python PYTHON] [--rounds 3] [--steps 8] [--shards 8] [NETWORK...]
    bench/ranks.py --predict [--costs FILE] ... [NETWORK...]

With --predict instead: the step that `train plan` predicts for 1, 2 and 4 ranks of a thread each, beside what it takes.
The prediction rests on what bench_all_reduce measures between ranks, and on each kernel measured alone (kept in --costs
FILE); ranks that are more than processors compute in turns.

A ratio is that of two runs of the same round; the table has medians, least and largest in brackets. `waited` is what ranks
say of themselves at their end."""
import csv
import os
import re
import statistics
import subprocess
import tempfile

import peers
from peers import median_ms
from tables import Table

# network: (batch, sizes of an image or tokens of a window, classes)
CASES = {"resnet20": (128, (3, 32, 32), 10), "resnet50": (16, (3, 224, 224), 1000), "char_lstm": (32, (64,), 64)}


def torch_rank(rank, steps, meeting, name, weights, batch, size, classes):
    import torch
    import torch.distributed as dist
    import torch.nn.functional as F

    import networks_torch
    import torch_peer
    torch.set_num_threads(1)
    torch.manual_seed(rank)
    dist.init_process_group("gloo", init_method="file://" + meeting, rank=rank, world_size=2)

    def place(value):
        return value.contiguous(memory_format=torch.channels_last) if value.dim() == 4 else value

    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.values, _ = torch_peer.parameters_of(weights, place, training=False)
            self.trained = [key for key in self.values if "running_" not in key]
            self.list = torch.nn.ParameterList([torch.nn.Parameter(self.values[key]) for key in self.trained])

        def forward(self, x, t):
            p = {**self.values, **dict(zip(self.trained, self.list))}
            return F.cross_entropy(getattr(networks_torch, name)(p, x), t)

    network = torch.nn.parallel.DistributedDataParallel(Network())
    optimizer = torch.optim.SGD(network.parameters(), lr=0.001, momentum=0.9)
    x, t = (place(value) for value in torch_peer.batch_of([[batch // 2, *size], classes]))

    def once():
        optimizer.zero_grad(set_to_none=True)
        loss = network(x, t)
        loss.backward()
        optimizer.step()
        return loss.item()
    return torch_peer.timed(once, steps)


def mpirun(ranks):
    """The words before a program."""
    return ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", ranks] if ranks > 1 else []


def ours(args, name, ranks, threads, folder):
    """Seconds of steps, and the percentage that the ranks say that they waited."""
    batch, size, _ = CASES[name]
    metrics = os.path.join(folder, "metrics.csv")
    said = peers.run([*mpirun(ranks), args.train, "--model", name, "--batch", batch, "--data",
                      "sentences" if len(size) == 1 else "synthetic", "--shards", args.shards, "--threads", threads,
                      "--eval-every", 0, "--steps", args.steps, "--log-every", 1, "--metrics", metrics]).err
    with open(metrics) as file:
        seconds = [float(row["ms"]) / 1000 for row in csv.DictReader(file)]
    waited = re.search(r"waited for each other ([0-9.]+) %", said)
    return {"seconds": seconds, "waited": waited and float(waited[1])}


def ddp(args, name, folder):
    batch, size, classes = CASES[name]
    weights, meeting = os.path.join(folder, "weights"), tempfile.mktemp(dir=folder)
    peers.run([args.train, "export", "--model", name, "--output", weights])
    given = (args.steps, meeting, name, weights, batch, size, classes)
    second = subprocess.Popen(peers.peer_command(args.python, torch_rank, 1, *given), stdout=subprocess.DEVNULL)
    try:
        return peers.peer(args.python, torch_rank, 0, *given, limit=600)
    finally:
        second.kill()
        second.wait()


def network_between(args, ranks):
    """The links between so many ranks, as `train plan` takes them."""
    bench = [*mpirun(max(ranks, 2)), peers.beside(args.train, "bench_all_reduce"), "--mb", 20, "--rounds", 5]
    return re.search(r"^--network (\S+)$", peers.run(bench).out, re.MULTILINE)[1]


def print_predictions(args, folder):
    processors = len(os.sched_getaffinity(0))
    print(f"{processors} processors\n")
    table = Table("network", ("batch", "{}"), ("ranks", "{}"), "network", ("computing, ms", "{:.0f}"), ("waiting, ms", "{:.1f}"),
                  ("predicted, ms", "{:.0f}"), ("measured, ms", "{:.0f}"), ("measured / predicted", "{}"))
    for name in args.networks or ["resnet20"]:
        for ranks in (1, 2, 4):
            links = network_between(args, ranks)
            seconds = peers.result([args.train, "plan", "--model", name, "--batch", CASES[name][0], "--shards", args.shards,
                                    "--ranks", f"{ranks}..{2 * ranks}", "--threads", 1, "--eval-every", 0, "--network", links,
                                    "--costs", args.costs or os.path.join(folder, "costs.json"), "--json"])["rows"][0]["seconds"]
            computing, waiting = 1000 * seconds["computing"], 1000 * seconds["waiting"]
            predicted = computing * max(1, ranks / processors) + waiting
            measured = [median_ms(ours(args, name, ranks, 1, folder)) for _ in range(args.rounds)]
            table.row(name, CASES[name][0], ranks, links if ranks > 1 else "", computing, waiting, predicted,
                      statistics.median(measured), peers.spread([ms / predicted for ms in measured]))


def print_comparison(args, folder):
    table = Table("network", ("batch", "{}"), ("two ranks, ms", "{:.0f}"), ("one, two threads, ms", "{:.0f}"), ("ratio", "{}"),
                  ("waited", "{:.1f} %"), ("DDP, ms", "{:.0f}"), ("ratio", "{}"))
    for name in args.networks or CASES:
        sides = {"ours": lambda: ours(args, name, 2, 1, folder), "one": lambda: ours(args, name, 1, 2, folder)}
        if args.python:
            sides["DDP"] = lambda: ddp(args, name, folder)
        rounds = peers.in_turns(args.rounds, sides, ours=("ours", "one"))
        cells = []
        for side in ("one", "DDP"):
            both = [(median_ms(of["ours"]), median_ms(of[side])) for of in rounds if of.get(side)]
            cells += [statistics.median(b for _, b in both), peers.spread([a / b for a, b in both])] if both else [None, None]
        cells.insert(2, statistics.median(of["ours"]["waited"] for of in rounds))
        table.row(name, CASES[name][0], statistics.median(median_ms(of["ours"]) for of in rounds), *cells)


def main():
    parser = peers.parser(__doc__, rounds=3, steps=8, shards=8)
    parser.add_argument("--python")
    parser.add_argument("--predict", action="store_true")
    parser.add_argument("--costs")
    parser.add_argument("networks", nargs="*", default=[])
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        (print_predictions if args.predict else print_comparison)(args, folder)


if __name__ == "__main__":
    peers.start(main)
