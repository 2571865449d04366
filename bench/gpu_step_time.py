#!/usr/bin/env python3
"""Training step on a GPU against PyTorch on the same GPU in the same minutes: the same network from the same weights;
processes take turns; medians of all steps but the first few. Bytes: ours as planned, PyTorch's max_memory_reserved.

    bench/gpu_step_time.py --step BENCH_STEP [--device cuda] [--batch N] [--peers MODES] [NETWORK...]

Without PyTorch, or without a GPU for it, ours alone, and a row says so. Fails if one of our runs does. What a limit of
time (--seconds) leaves room for is measured: rounds end with it."""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

# network: (batch, settings, sizes of an image, classes)
CASES = {
    "resnet110": (128, [], (3, 32, 32), 10),
    "alexnet": (512, ["dropout=0"], (3, 224, 224), 1000),
    "googlenet": (128, ["dropout=0"], (3, 224, 224), 1000),
    "resnet50": (128, [], (3, 224, 224), 1000),
    "vgg16": (64, ["dropout=0"], (3, 224, 224), 1000),
}
OURS = {"f32": [], "f32, 4 GiB of workspace": ["--workspace-limit", str(4 << 30)], "tf32": ["--tf32"], "bf16": ["--dtype", "bf16"]}
ONLY_ON_GPUS = {"--tf32", "--workspace-limit"}
KERNELS = "resnet110"  # also measured kernel by kernel
PEER_MODES = ("f32", "f32 channels_last", "tf32", "tf32 channels_last", "bf16 channels_last", "tf32 channels_last compile",
              "bf16 channels_last compile")
STEPS, SKIPPED, ROUNDS = 30, 8, 3
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


def run(command, failed):
    """What the command printed; none if it failed, which is said and added to `failed`."""
    ended = subprocess.run(command, capture_output=True, text=True)
    if ended.returncode != 0:
        failed.append((ended.stderr.strip().splitlines() or ["failed"])[-1])
        print("%s: %s" % (command[0], failed[-1]), file=sys.stderr)
        return None
    return json.loads(ended.stdout.splitlines()[-1])


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
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--peers", default=",".join(PEER_MODES), help="ways of PyTorch")
    parser.add_argument("--seconds", type=float, default=420, help="a network's rounds end within this time")
    parser.add_argument("networks", nargs="*", default=list(CASES))
    args = parser.parse_args()
    lack = lack_of_peer(args.device)
    peer_modes = () if lack else [mode for mode in args.peers.split(",") if mode]
    our_failures = []
    here = os.path.dirname(os.path.abspath(__file__))
    print("| network | batch | program | ms a step | MiB |\n|---|---:|---|---:|---:|")
    for name in args.networks:
        batch, sets, size, classes = CASES[name]
        batch = args.batch or batch
        settings = [word for setting in sets for word in ("--set", setting)]
        found = {}
        with tempfile.TemporaryDirectory() as folder:
            weights = os.path.join(folder, "weights")
            subprocess.run([args.step, "--model", name, "--batch", "1", "--export", weights] + settings, check=True)
            common = [args.step, "--model", name, "--batch", str(batch), "--steps", str(args.steps), "--lr", "1e-4",
                      "--weights", weights, "--device", args.device] + settings
            sizes = [str(number) for number in (batch, args.steps, classes) + size]
            begin, longest = time.monotonic(), 0
            for _ in range(args.rounds):
                round_begin = time.monotonic()
                if round_begin - begin + longest > args.seconds:
                    break
                for mode, flags in OURS.items():
                    if args.device != "cpu" or not ONLY_ON_GPUS & set(flags):
                        found.setdefault("ours " + mode, []).append(run(common + flags, our_failures))
                for mode in peer_modes:
                    found.setdefault("PyTorch " + mode, []).append(
                        run([sys.executable, "-c", PEER, here, name, weights, mode] + sizes, []))
                longest = max(longest, time.monotonic() - round_begin)
            if name == KERNELS and args.device != "cpu":
                measure_kernels(name, batch, common)
        for program, results in found.items():
            results = [result for result in results if result]
            if results:
                ms = statistics.median(1000 * s for result in results for s in result["seconds"][min(SKIPPED, args.steps - 1):])
                print(f"| {name} | {batch} | {program} | {ms:.2f} | {results[0]['bytes'] / 2**20:.0f} |", flush=True)
            else:
                print(f"| {name} | {batch} | {program} | failed | |", flush=True)
        if lack:
            print(f"| {name} | {batch} | PyTorch | not measured: {lack} | |", flush=True)
    sys.exit(1 if our_failures else 0)


if __name__ == "__main__":
    main()
