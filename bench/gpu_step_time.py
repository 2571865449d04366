#!/usr/bin/env python3
"""Training step on a GPU against PyTorch on the same GPU in the same minutes: the same network from the same weights;
processes take turns; medians of all steps but the first few. Bytes: ours as planned, PyTorch's max_memory_reserved.

    bench/gpu_step_time.py --step BENCH_STEP [--device cuda] [--batch N] [--ours MODES] [--peers MODES] [NETWORK...]

A mode is a dtype (f32, tf32, bf16) and words: of ours limit=SIZE, what a convolution may take as workspace; of PyTorch's
channels_last and compile. PyTorch computes bf16 by autocast: like ours it keeps its parameters in f32. gpt2 has its
scaled_dot_product_attention and fused AdamW, of weights that do not decay, as ours.

Without PyTorch, or without a GPU for it, ours alone, and a row says so. Fails if one of our runs does. What a limit of
time (--seconds) leaves room for is measured: rounds end with it, and so does a program that takes longer. --json FILE
gets an object a line of each program's steps, added to what it has."""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

# network: (batch, settings, sizes of an image or tokens of a window, classes)
CASES = {
    "resnet110": (128, [], (3, 32, 32), 10),
    "alexnet": (512, ["dropout=0"], (3, 224, 224), 1000),
    "googlenet": (128, ["dropout=0"], (3, 224, 224), 1000),
    "resnet50": (128, [], (3, 224, 224), 1000),
    "vgg16": (64, ["dropout=0"], (3, 224, 224), 1000),
    "gpt2": (16, [], (1024,), 50257),
}
OUR_MODES = ("f32", "f32 limit=4GiB", "tf32", "bf16")
KERNELS = "resnet110"  # also measured kernel by kernel
PEER_MODES = ("f32", "f32 channels_last", "tf32", "tf32 channels_last", "bf16 channels_last", "tf32 channels_last compile",
              "bf16 channels_last compile")
STEPS, SKIPPED, ROUNDS = 30, 8, 3
NOT_DONE = "not done in"
PEER = """
import json, sys, time
sys.path.insert(0, sys.argv[1])
import torch, torch.nn.functional as F
import networks_torch as nets, safetensors
name, weights, mode, batch, steps, classes, *size = sys.argv[2:]
batch, steps, classes, size = int(batch), int(steps), int(classes), [int(n) for n in size]
device = "cuda" if torch.cuda.is_available() else "cpu"
torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = "tf32" in mode
network = getattr(nets, name)
layout = torch.channels_last if "channels_last" in mode else torch.contiguous_format
place = lambda v: v.to(device, memory_format=layout) if v.dim() == 4 else v.to(device)
p = {key: place(torch.tensor(value)) for key, value in safetensors.read(weights).items()}
trained = [value.requires_grad_() for key, value in p.items() if "running_" not in key]
if len(size) == 1:
    optimizer = torch.optim.AdamW(trained, lr=1e-4, weight_decay=0, **({"fused": True} if device == "cuda" else {}))
    x, t = (torch.randint(0, classes, shape).to(device) for shape in ((batch, *size), (batch * size[0],)))
else:
    optimizer = torch.optim.SGD(trained, lr=1e-4, momentum=0.9)
    x, t = place(torch.randn(batch, *size)), torch.randint(0, classes, (batch,)).to(device)
def loss_of():
    with torch.autocast(device, torch.bfloat16, enabled="bf16" in mode):
        return F.cross_entropy(network(p, x).float(), t)
compute = torch.compile(loss_of) if "compile" in mode else loss_of
times = []
for step in range(steps):
    begin = time.perf_counter()
    optimizer.zero_grad(set_to_none=True)
    loss = compute()
    loss.backward()
    optimizer.step()
    loss.item()
    times.append(time.perf_counter() - begin)
print(json.dumps({"seconds": times, "version": torch.__version__,
                  "bytes": torch.cuda.max_memory_reserved() if device == "cuda" else 0}))
"""


def flags_of(mode):
    """Of bench_step."""
    dtype, *words = mode.split()
    limits = [word.partition("=")[2] for word in words if word.startswith("limit=")]
    if dtype not in ("f32", "tf32", "bf16") or len(limits) != len(words):
        sys.exit("gpu_step_time: --ours: no mode '%s'; see --help" % mode)
    flags = {"f32": [], "tf32": ["--tf32"], "bf16": ["--dtype", "bf16"]}[dtype]
    return flags + [flag for limit in limits for flag in ("--workspace-limit", str(bytes_of(limit)))]


def bytes_of(size):
    """256MiB or 4GiB."""
    return int(size[:-3]) << {"MiB": 20, "GiB": 30}[size[-3:]]


def is_for_gpus(mode):
    return mode.startswith("tf32") or "limit=" in mode


def run(command, failed, seconds=None):
    """What the command printed; none if it failed or took longer, which is said and added to `failed`."""
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
        if ended.returncode == 0:
            return json.loads(ended.stdout.splitlines()[-1])
        failed.append((ended.stderr.strip().splitlines() or ["failed"])[-1])
    except subprocess.TimeoutExpired:
        failed.append("%s %.0f s" % (NOT_DONE, seconds))
    print("%s: %s" % (command[0], failed[-1]), file=sys.stderr)
    return None


def lack_of_peer(device):
    """Why PyTorch cannot be measured on the device; "" if it can."""
    try:
        import torch
    except Exception as error:  # one that is there may be broken in many ways
        return "%s: %s" % (type(error).__name__, error)
    return "" if device == "cpu" or torch.cuda.is_available() else "it sees no GPU"


def measure_kernels(name, batch, command):
    """The sum of the kernels' times, to see the gaps between them. The driver may refuse to tell."""
    failed = []
    result = run(command + ["--kernels"], failed)
    found = f"{1000 * result['kernel_seconds']:.2f}" if result else f"not measured: {failed[0]}"
    print(f"| {name} | {batch} | ours f32, its kernels alone | {found} | |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--step", required=True)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--batch", type=int, help="instead of the networks' own")
    parser.add_argument("--set", action="append", default=[], help="K=V, of each network")
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--ours", default=",".join(OUR_MODES), help="our ways, with commas between")
    parser.add_argument("--peers", default=",".join(PEER_MODES), help="PyTorch's")
    parser.add_argument("--seconds", type=float, default=420, help="a network's rounds end within this time")
    parser.add_argument("--json")
    parser.add_argument("networks", nargs="*", default=[name for name in CASES if name != "gpt2"])
    args = parser.parse_args()
    begin = time.monotonic()
    our_modes = {mode: flags_of(mode) for mode in args.ours.split(",") if mode and (args.device != "cpu" or not is_for_gpus(mode))}
    peer_modes = [mode for mode in args.peers.split(",") if mode]
    for mode in peer_modes:
        if mode.split()[0] not in ("f32", "tf32", "bf16") or not {"channels_last", "compile"}.issuperset(mode.split()[1:]):
            sys.exit("gpu_step_time: --peers: no mode '%s'; see --help" % mode)
    lack = lack_of_peer(args.device) if peer_modes else ""
    if lack:
        peer_modes = []
    our_failures = []
    here = os.path.dirname(os.path.abspath(__file__))
    print("| network | batch | program | ms a step | MiB |\n|---|---:|---|---:|---:|")
    for name in args.networks:
        batch, sets, size, classes = CASES[name]
        batch, sets = args.batch or batch, sets + args.set
        if len(size) == 1:
            given = dict(word.split("=", 1) for word in sets)
            size, classes = (int(given.get("length", size[0])),), int(given.get("vocab", classes))
        settings = [word for setting in sets for word in ("--set", setting)]
        found, failures, longest = {}, {}, 0
        with tempfile.TemporaryDirectory() as folder:
            weights = os.path.join(folder, "weights")
            subprocess.run([args.step, "--model", name, "--batch", "1", "--export", weights] + settings, check=True)
            common = [args.step, "--model", name, "--batch", str(batch), "--steps", str(args.steps), "--lr", "1e-4",
                      "--weights", weights, "--device", args.device, "--symbols", str(classes)] + settings
            if len(size) == 1:
                common += ["--optimizer", "adamw"]
            sizes = [str(number) for number in (batch, args.steps, classes) + size]
            commands = {"ours " + mode: common + flags for mode, flags in our_modes.items()}
            for mode in peer_modes:
                commands["PyTorch " + mode] = [sys.executable, "-c", PEER, here, name, weights, mode] + sizes
            for rounds_left in range(args.rounds - 1, -1, -1):
                round_begin = time.monotonic()
                if round_begin - begin + longest > args.seconds:
                    break
                for program, command in commands.items():
                    left = max(1, args.seconds - (time.monotonic() - begin))
                    failed = failures.setdefault(program, [])
                    found.setdefault(program, []).append(run(command, failed, left))
                    if rounds_left == 0:  # what is found is said at once, should time end the next
                        our_failures += report(args, name, batch, program, found.pop(program), failed)
                longest = max(longest, time.monotonic() - round_begin)
            if name == KERNELS and args.device != "cpu":
                measure_kernels(name, batch, common)
        for program, results in found.items():
            our_failures += report(args, name, batch, program, results, failures[program])
        if lack:
            print(f"| {name} | {batch} | PyTorch | not measured: {lack} | |", flush=True)
        begin = time.monotonic()
    sys.exit(1 if our_failures else 0)


def report(args, name, batch, program, results, failures):
    """Prints a program's row; gives the failures of ours."""
    results = [result for result in results if result]
    # Time that ends a later round is no failure.
    ours = [line for line in failures if program.startswith("ours") and not (results and line.startswith(NOT_DONE))]
    if not results:
        print(f"| {name} | {batch} | {program} | failed: {failures[-1]} | |", flush=True)
        return ours
    seconds = [s for result in results for s in result["seconds"][min(SKIPPED, args.steps - 1):]]
    ms = 1000 * statistics.median(seconds)
    print(f"| {name} | {batch} | {program} | {ms:.2f} | {results[0]['bytes'] / 2**20:.0f} |", flush=True)
    if args.json:
        row = {"network": name, "batch": batch, "program": program, "ms": ms, "bytes": results[0]["bytes"], "seconds": seconds,
               "version": results[0].get("version")}
        with open(args.json, "a") as file:
            file.write(json.dumps(row) + "\n")
    return ours


if __name__ == "__main__":
    main()
