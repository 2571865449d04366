#!/usr/bin/env python3
"""What computing again costs here and in PyTorch, at equal peaks of the whole process where we need to compute again.

    bench/recompute_peers.py TRAIN --python PYTHON [--batch 16] [--steps 5] [resnet50 vgg16 googlenet]

PYTHON is an interpreter that has PyTorch 2 and torchvision. There each network trains as it is, with
checkpoint_sequential, and compiled with an activation_memory_budget; here as it is (level=2), and in a budget that
brings the process to the peak of each of those. An overhead is against the same side as it is. Processes take turns
once; run it again for more. torchvision's googlenet has batch norm, ours is the one of 2014."""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

THREADS = 2
TORCH = """
import sys, time, json, resource, torch, torchvision
from torch import nn
from torch.utils.checkpoint import checkpoint_sequential
name, mode, batch, steps = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
torch.set_num_threads(%d)
torch.manual_seed(0)
more = {"aux_logits": False, "init_weights": False} if name == "googlenet" else {}
made = getattr(torchvision.models, name)(**more).train()
layers = []
for key, child in made.named_children():
    if key in ("fc", "classifier"):
        layers.append(nn.Flatten())
    layers += list(child) if isinstance(child, nn.Sequential) else [child]
net = nn.Sequential(*layers)
for module in net.modules():  # checkpoints need what would be written over
    if mode == "checkpoint" and hasattr(module, "inplace"):
        module.inplace = False
if mode.startswith("budget="):
    import torch._functorch.config
    torch._functorch.config.activation_memory_budget = float(mode[7:])
    net = torch.compile(net)
run = (lambda x: checkpoint_sequential(net, 4, x, use_reentrant=False)) if mode == "checkpoint" else net
x, t = torch.randn(batch, 3, 224, 224), torch.randint(0, 1000, (batch,))
optimizer = torch.optim.SGD(net.parameters(), lr=0.001, momentum=0.9)
seconds = []
for _ in range(steps):
    begin = time.perf_counter()
    optimizer.zero_grad(set_to_none=True)
    loss = nn.functional.cross_entropy(run(x), t)
    loss.backward()
    optimizer.step()
    loss.item()
    seconds.append(time.perf_counter() - begin)
    if len(seconds) == 1:  # compiling takes memory of its own
        open("/proc/self/clear_refs", "w").write("5")
peak = int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]) * 1024
print(json.dumps({"seconds": seconds, "peak": peak, "version": torch.__version__}))
""" % THREADS


def torch_run(args, network, mode):
    command = [args.python, "-c", TORCH, network, mode, str(args.batch), str(args.steps)]
    ended = subprocess.run(command, capture_output=True, text=True)
    if ended.returncode != 0:
        return None, ended.stderr.strip().splitlines()[-1:] or ["no word"]
    return json.loads(ended.stdout.splitlines()[-1]), None


def our_run(args, network, more):
    """Median seconds of a step, the process's peak and what the device was asked for, in bytes."""
    with tempfile.TemporaryDirectory() as folder:
        metrics = pathlib.Path(folder) / "metrics.csv"
        command = [args.train, "--model", network, "--batch", str(args.batch), "--data", "synthetic", "--steps",
                   str(args.steps), "--eval-every", "0", "--log-every", "1", "--quiet", "--threads", str(THREADS),
                   "--metrics", str(metrics), "--lr", "0.0001"] + more
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        out, err = process.stdout.read(), process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        if status != 0:
            return None, err.strip()
        rows = [line.split(",") for line in metrics.read_text().splitlines()[1:]]
        taken = int(re.search(r"memory taken (\d+) bytes", out).group(1))
    return (statistics.median(float(row[6]) / 1000 for row in rows[1:]), usage.ru_maxrss * 1024, taken), None


def mib(size):
    return "%.0f" % (size / 2**20)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train")
    parser.add_argument("--python", required=True)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--steps", type=int, default=5, help="of a process; the first does not count")
    parser.add_argument("networks", nargs="*", default=["resnet50", "vgg16", "googlenet"])
    args = parser.parse_intermixed_args()
    print("| network | PyTorch | s | overhead, % | peak, MiB | ours | s | overhead, % | peak, MiB |\n|" + "---|" * 9)
    for network in args.networks:
        plain = None
        ours, why = our_run(args, network, ["--memopt", "level=2"])
        if ours is None:
            sys.exit(why)
        level2, peak2, taken2 = ours
        for mode in ("plain", "checkpoint", "budget=0.5", "budget=0.3"):
            peer, why = torch_run(args, network, mode)
            if peer is None:
                print(f"| {network} | {mode}: {why[0]} |", flush=True)
                continue
            seconds = statistics.median(peer["seconds"][1:])
            plain = plain or seconds
            row = f"| {network} | {peer['version']} {mode} | {seconds:.2f} | {100 * (seconds / plain - 1):.1f} | {mib(peer['peak'])} |"
            if peak2 <= peer["peak"]:
                print(f"{row} level=2 | {level2:.2f} | 0 | {mib(peak2)} |", flush=True)
                continue
            budget = peer["peak"] - (peak2 - taken2)
            ours, why = our_run(args, network, ["--memory-budget", str(budget)])
            if ours is None:
                print(f"{row} {why} |", flush=True)
                continue
            print(f"{row} {mib(budget)} MiB | {ours[0]:.2f} | {100 * (ours[0] / level2 - 1):.1f} | {mib(ours[1])} |", flush=True)


if __name__ == "__main__":
    main()
