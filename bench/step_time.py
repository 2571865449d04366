#!/usr/bin/env python3
"""Training step, or with --inference a forward one, on the CPU beside PyTorch's on this machine in the same minutes: the
same network from the same weights on the same inputs, in processes that take turns.

    bench/step_time.py [--python PYTHON[,OTHER]] [--dtype f32|bf16] [--fast-f32] [--inference] [--overhead SHARE]
                       [--tcmalloc LIBRARY] [--llmc FOLDER] [--length TOKENS] [NETWORK...]

A ratio is that of the medians of a round, and the table has the median of all rounds: to the better of contiguous and
channels_last (default), to torch.compile in channels_last (compiled), with --tcmalloc (a path to libtcmalloc) to
channels_last with that and the peer's AVX-512 kernels (tuned), and for gpt2 with --llmc (a checkout of
github.com/karpathy/llm.c in which `make train_gpt2` has been run) to llm.c. gpt2 has AdamW, the others sgd with
momentum. In bf16 PyTorch runs under autocast. Fails if losses differ: the first, and gpt2's last. Peaks of memory are
those of whole processes, their ratio is of what stands above parameters and the optimizer's states (--overhead: ours at
level 3); nominal operations are those of sums of products, of which Winograd's algorithm does a part."""
import os
import statistics
import tempfile

import numpy as np

import llmc
import peers
import safetensors
from peers import THREADS, median_ms
from tables import MIB, Table

# network: (batch, settings, sizes of an image or tokens of a window, classes)
CASES = {
    "resnet20": (128, [], (3, 32, 32), 10),
    "resnet110": (128, [], (3, 32, 32), 10),
    "vgg_a": (16, ["dropout=0"], (3, 224, 224), 1000),
    "resnet50": (16, [], (3, 224, 224), 1000),
    "alexnet": (32, ["dropout=0"], (3, 224, 224), 1000),
    "googlenet": (16, ["dropout=0"], (3, 224, 224), 1000),
    "gpt2": (llmc.BATCH, [f"length={llmc.LENGTH}"], (llmc.LENGTH,), llmc.VOCAB),
}
KINDS = {"default": ("contiguous", "channels_last"), "compiled": ("channels_last compile",), "tuned": ("tcmalloc",),
         "llm.c": ("llm.c",)}  # ways of the peers
LOSSES_DIFFER = {"f32": 1e-3, "bf16": 2e-2}  # by no more, relatively


class Case:
    def __init__(self, args, name, folder):
        self.args, self.name, self.folder = args, name, folder
        self.batch, sets, self.size, self.classes = CASES[name]
        self.is_text = len(self.size) == 1
        if self.is_text and args.length:
            sets, self.size = [f"length={args.length}"], (args.length,)
        self.optimizer, self.rate = ("adamw", 1e-4) if self.is_text else ("momentum", 1e-3)
        self.weights, self.inputs = folder + "/weights", folder + "/inputs"
        self.words = ["--model", name, "--batch", self.batch, "--threads", THREADS, "--dtype", args.dtype, *peers.sets(sets)]
        self.step = peers.beside(args.train, "bench_step")
        peers.run([self.step, "--model", name, "--batch", 1, *peers.sets(sets), "--export", self.weights])
        self.fed = self.draw()
        safetensors.write(self.inputs, self.fed)
        states = 0 if args.inference else 2 if self.is_text else 1
        self.kept_bytes = os.path.getsize(self.weights) * (1 + states)

    def draw(self):
        random = np.random.default_rng(0)
        if self.is_text:
            tokens = random.integers(0, self.classes, self.batch * self.size[0] + 1).astype(np.int32)
            return {"text": tokens[:-1].reshape(self.batch, -1), "next": tokens[1:].reshape(self.batch, -1)}
        shape = (self.batch,) + self.size[1:] + self.size[:1]
        return {"image": random.standard_normal(shape).astype(np.float32),
                "label": random.integers(0, self.classes, self.batch).astype(np.int32)}

    def ours(self):
        return peers.result([self.step, *self.words, "--optimizer", self.optimizer, "--lr", self.rate, "--weights",
                             self.weights, "--inputs", self.inputs, "--steps", self.args.steps, *our_form(self.args)])

    def torch(self, python, way):
        words = f"{self.args.dtype} {way}" + " inference" * self.args.inference
        tuned = {"LD_PRELOAD": self.args.tcmalloc, "ATEN_CPU_CAPABILITY": "avx512"} if way == "tcmalloc" else {}
        return peers.peer(python, torch_steps, self.args.steps, self.name, self.weights, self.inputs,
                          words.replace("tcmalloc", "channels_last"), self.rate, self.optimizer, **tuned)

    def llmc(self):
        with tempfile.TemporaryDirectory() as folder:
            llmc.write(folder, safetensors.read(self.weights), *self.fed.values())
            return llmc.steps(self.args.llmc + "/train_gpt2", folder, self.args.steps)

    def rounds(self):
        """Of each: our result, and those of PyTorch by (python, way), of llm.c by ("", its name)."""
        kinds = self.args.kinds.split(",")
        ways = [way for kind in kinds for way in KINDS[kind] if way != "tcmalloc" or self.args.tcmalloc]
        ways = [way for way in ways if not (self.is_text and way == "channels_last")]
        sides = {"ours": self.ours}
        sides |= {(python, way): lambda python=python, way=way: self.torch(python, way)
                  for python in self.args.python.split(",") for way in ways}
        if self.args.llmc and self.is_text:
            sides["", "llm.c"] = self.llmc
        return peers.in_turns(self.args.rounds, sides)

    def check_losses(self, ours, peer):
        for at in (0, -1) if self.is_text else (0,):
            a, b = ours["losses"][at], peer["losses"][at]
            if not abs(a - b) <= LOSSES_DIFFER[self.args.dtype] * abs(b):
                raise peers.Failed(f"{self.name}: loss {at} is {a}, the peer's is {b}", 1)


def torch_steps(count, *arguments):
    import torch_peer
    return torch_peer.steps(count, "cpu", *arguments)


def our_form(args):
    level = ["--memopt", "level=3", "--overhead", args.overhead] if args.overhead else ["--memopt", "level=2"]
    return ["--fast-f32"] * args.fast_f32 + level + ["--inference"] * args.inference


def measure(case, table, summary):
    profile = peers.result([case.args.train, "bench", *case.words, "--steps", 3, "--profile", "--format", "json"])
    rounds = case.rounds()
    ours_ms = statistics.median(median_ms(of["ours"]) for of in rounds)
    rate = 1e3 * rounds[0]["ours"]["gflop"] / ours_ms
    ours_bytes = max(of["ours"]["process_bytes"] for of in rounds)
    for python in [*case.args.python.split(","), ""]:
        for kind, ways in KINDS.items():
            whose = [(python, way) for way in ways if (python, way) in rounds[0]]
            good = [of for of in rounds if all(of[who] for who in whose)]
            if not whose or not good:
                continue
            for of in good:
                for who in whose:
                    case.check_losses(of["ours"], of[who])
            version = good[0][whose[0]]["version"]
            ratios = [median_ms(of["ours"]) / min(median_ms(of[who]) for who in whose) for of in good]
            peak = min(max(of[who]["process_bytes"] for of in good) for who in whose)
            peer = f"PyTorch {version}, {kind}" if python else kind
            summary.setdefault(peer, []).append(statistics.median(ratios))
            said = [f"{who[1]} {statistics.median(median_ms(of[who]) for of in good):.0f}" for who in whose]
            table.row(case.name, case.batch, ours_ms, rate, 100 * rate / profile["peak"]["gflops"], peer, ", ".join(said),
                      peers.spread(ratios), len(good), ours_bytes / MIB, peak / MIB,
                      (ours_bytes - case.kept_bytes) / (peak - case.kept_bytes))


def main():
    parser = peers.parser(__doc__, python=True, rounds=5, steps=6)
    parser.add_argument("--tcmalloc")
    parser.add_argument("--llmc")
    parser.add_argument("--dtype", choices=LOSSES_DIFFER, default="f32")
    parser.add_argument("--fast-f32", action="store_true", help="ours in three products of bf16 (needs AMX)")
    parser.add_argument("--inference", action="store_true", help="forward and loss alone")
    parser.add_argument("--overhead", help="of our level 3, a fraction of a step; without it level 2")
    parser.add_argument("--length", type=int, help="of a window of gpt2, for which llm.c has the usual one alone")
    parser.add_argument("--kinds", default="default,compiled,tuned", help="of PyTorch's ways")
    parser.add_argument("networks", nargs="*", default=[name for name in CASES if name != "gpt2"])
    args = parser.parse_args()
    if args.length is not None and (args.length < 1 or args.llmc or "gpt2" not in args.networks):
        raise peers.Failed("--length: expected at least 1, for gpt2, without --llmc", 2)
    print(f"{peers.processor()}, {THREADS} threads, {args.dtype}, {' '.join(our_form(args))}\n")
    table, summary = Table(
        "network", ("batch", "{}"), ("ours, ms", "{:.0f}"), ("GFLOP/s, nominal", "{:.0f}"), ("of peak", "{:.0f} %"), "peer",
        "its ways, ms", ("ratio to the best", "{:.2f}"), ("rounds", "{}"), ("ours, MiB", "{:.0f}"), ("the peer, MiB", "{:.0f}"),
        ("ratio above parameters", "{:.2f}")), {}
    for name in args.networks:
        with tempfile.TemporaryDirectory() as folder:
            measure(Case(args, name, folder), table, summary)
    if not summary:
        raise peers.Failed("no peer ran", 1)
    for peer, ratios in summary.items():
        print(f"\ngeometric mean against {peer}: {statistics.geometric_mean(ratios):.2f}")


if __name__ == "__main__":
    peers.start(main)
