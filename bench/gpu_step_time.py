#!/usr/bin/env python3
"""Training step on a GPU against PyTorch on the same GPU in the same minutes: the same network from the same weights;
processes take turns; medians of all steps but the first few. Bytes: ours as planned, PyTorch's max_memory_reserved.

    bench/gpu_step_time.py [--train TRAIN] [--device cuda] [--batch N] [--ours MODES] [--peers MODES] [NETWORK...]

A mode is a dtype (f32, tf32, bf16) and words: of ours limit=SIZE, what a convolution may take as workspace; of PyTorch's
channels_last and compile. PyTorch computes bf16 by autocast: like ours it keeps its parameters in f32. gpt2 has its
scaled_dot_product_attention and fused AdamW, of weights that do not decay, as ours.

Without PyTorch, or without a GPU for it, ours alone, and a row says so. Fails if one of our runs does. What a limit of
time (--seconds) leaves room for is measured: rounds end with it, and so does a program that takes longer. --json FILE
gets an object a line of each program's steps, added to what it has."""
import json
import os
import statistics
import sys
import tempfile
import time

import peers
from tables import MIB, Table

# network: (batch, settings, sizes of an image or tokens of a window, classes)
CASES = {
    "resnet110": (128, [], (3, 32, 32), 10),
    "alexnet": (512, ["dropout=0"], (3, 224, 224), 1000),
    "googlenet": (128, ["dropout=0"], (3, 224, 224), 1000),
    "resnet50": (128, [], (3, 224, 224), 1000),
    "vgg16": (64, ["dropout=0"], (3, 224, 224), 1000),
    "gpt2": (16, [], (1024,), 50257),
}
OUR_MODES = "f32,f32 limit=4GiB,tf32,bf16"
PEER_MODES = ("f32,f32 channels_last,tf32,tf32 channels_last,bf16 channels_last,tf32 channels_last compile,"
              "bf16 channels_last compile")
KERNELS = "resnet110"  # also measured kernel by kernel
SKIPPED, RATE = 8, 1e-4


def torch_steps(count, device, *arguments):
    import torch_peer
    return torch_peer.steps(count, device, *arguments)


def flags_of(mode):
    """Of bench_step."""
    flags = {"f32": [], "tf32": ["--tf32"], "bf16": ["--dtype", "bf16"]}[mode.split()[0]]
    for size in (word.partition("=")[2] for word in mode.split()[1:]):
        flags = [*flags, "--workspace-limit", int(size[:-3]) << {"MiB": 20, "GiB": 30}[size[-3:]]]
    return flags


def checked(option, modes, is_word):
    """Modes with commas between, if all are known."""
    modes = [mode for mode in modes.split(",") if mode]
    for mode in modes:
        if mode.split()[0] not in ("f32", "tf32", "bf16") or not all(is_word(word) for word in mode.split()[1:]):
            sys.exit(f"gpu_step_time: {option}: no mode '{mode}'; see --help")
    return modes


def lack_of_peer(device):
    """Why PyTorch cannot be measured on the device; "" if it can."""
    try:
        import torch
    except Exception as error:  # one that is there may be broken in many ways
        return f"{type(error).__name__}: {error}"
    return "" if device == "cpu" or torch.cuda.is_available() else "it sees no GPU"


class Program:
    """Ours or PyTorch's in one mode: what its processes gave, and why others gave nothing."""

    def __init__(self, name, command):
        self.name, self.command, self.results, self.failures, self.is_said = name, command, [], [], False

    def run(self, limit):
        try:
            self.results.append(peers.result(self.command, limit=limit))
        except peers.Failed as failed:
            self.failures.append(failed)
            print(f"{self.name}: {failed}", file=sys.stderr)

    def has_failed(self):
        """Time that ends a later round is no failure, nor is what a peer lacks."""
        return self.name.startswith("ours") and any(failed.code is not None or not self.results for failed in self.failures)

    def say(self, args, network, batch, table):
        if self.is_said or not self.results + self.failures:
            return
        self.is_said = True
        if not self.results:
            table.row(network, batch, self.name, f"failed: {self.failures[-1]}", None)
            return
        seconds = [s for result in self.results for s in result["seconds"][min(SKIPPED, args.steps - 1):]]
        ms, taken = 1000 * statistics.median(seconds), self.results[0]["bytes"]
        table.row(network, batch, self.name, ms, taken / MIB)
        if args.json:
            with open(args.json, "a") as file:
                json.dump({"network": network, "batch": batch, "program": self.name, "ms": ms, "bytes": taken,
                           "seconds": seconds, "version": self.results[0].get("version")}, file)
                file.write("\n")


def measure(args, name, lack, table):
    """Whether one of our runs failed."""
    begin, longest = time.monotonic(), 0
    batch, sets, size, classes = CASES[name]
    batch, sets = args.batch or batch, sets + args.set
    is_text = len(size) == 1
    if is_text:
        given = dict(word.split("=", 1) for word in sets)
        size, classes = (int(given.get("length", size[0])),), int(given.get("vocab", classes))
    optimizer = "adamw" if is_text else "momentum"
    with tempfile.TemporaryDirectory() as folder:
        weights = os.path.join(folder, "weights")
        network = [peers.beside(args.train, "bench_step"), "--model", name, *peers.sets(sets)]
        peers.run([*network, "--batch", 1, "--export", weights])
        ours = [*network, "--batch", batch, "--steps", args.steps, "--lr", RATE, "--optimizer", optimizer, "--weights", weights,
                "--device", args.device, "--symbols", classes]
        programs = [Program("ours " + mode, ours + flags_of(mode)) for mode in args.ours]
        for mode in args.peers:
            given = (args.steps, args.device, name, weights, [[batch, *size], classes], mode, RATE, optimizer)
            programs.append(Program("PyTorch " + mode, peers.peer_command(sys.executable, torch_steps, *given)))
        for rounds_left in range(args.rounds - 1, -1, -1):
            round_begin = time.monotonic()
            if round_begin - begin + longest > args.seconds:
                break
            for program in programs:
                program.run(max(1, args.seconds - (time.monotonic() - begin)))
                if rounds_left == 0:  # what is found is said at once, should time end the next
                    program.say(args, name, batch, table)
            longest = max(longest, time.monotonic() - round_begin)
        if name == KERNELS and args.device != "cpu":
            kernels = Program("its kernels", ours + ["--kernels"])  # the sum of their times, to see the gaps between them
            kernels.run(None)
            found = 1000 * kernels.results[0]["kernel_seconds"] if kernels.results else f"not measured: {kernels.failures[0]}"
            table.row(name, batch, "ours f32, its kernels alone", found, None)
    for program in programs:
        program.say(args, name, batch, table)
    if lack:
        table.row(name, batch, "PyTorch", f"not measured: {lack}", None)
    return any(program.has_failed() for program in programs)


def main():
    parser = peers.parser(__doc__, steps=30, rounds=3)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--batch", type=int, help="instead of the networks' own")
    parser.add_argument("--set", action="append", default=[], help="K=V, of each network")
    parser.add_argument("--ours", default=OUR_MODES, help="our modes, with commas between")
    parser.add_argument("--peers", default=PEER_MODES, help="PyTorch's")
    parser.add_argument("--seconds", type=float, default=420, help="a network's rounds end within this time")
    parser.add_argument("--json")
    parser.add_argument("networks", nargs="*", default=[name for name in CASES if name != "gpt2"])
    args = parser.parse_args()
    args.ours = [mode for mode in checked("--ours", args.ours, lambda word: word.startswith("limit="))
                 if args.device != "cpu" or not (mode.startswith("tf32") or "limit=" in mode)]
    args.peers = checked("--peers", args.peers, lambda word: word in ("channels_last", "compile"))
    lack = lack_of_peer(args.device) if args.peers else ""
    if lack:
        args.peers = []
    table = Table("network", ("batch", "{}"), "program", ("ms a step", "{:.2f}"), ("MiB", "{:.0f}"))
    return 1 if any([measure(args, name, lack, table) for name in args.networks]) else 0


if __name__ == "__main__":
    peers.start(main)
