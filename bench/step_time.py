#!/usr/bin/env python3
"""Training step, or with --inference a forward one, on the CPU against PyTorch on this machine in the same minutes: the
same network from the same weights on the same inputs, in processes that take turns.

    bench/step_time.py [--build build/release] --python PYTHON [--python OTHER] [--dtype f32|bf16]
                       [--fast-f32] [--inference] [--overhead SHARE] [--tcmalloc LIBRARY] [NETWORK...]

Each --python is an interpreter that has PyTorch. A round runs ours and each way of the peer once; a ratio is that of
their medians of steps, and the table has the median ratio of all rounds to the better of contiguous and channels_last
(default), to torch.compile in channels_last, and with --tcmalloc (a path to libtcmalloc) to channels_last with that and the peer's
AVX-512 kernels (tuned). In bf16 the peer runs under autocast. Fails if the first losses differ. Peaks of memory are of
whole processes, their ratio is of what stands above parameters and momentum (--overhead: ours at level 3); nominal operations
are those of sums of products, of which Winograd's algorithm does a part."""
import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile

import numpy as np

import safetensors

THREADS = 2
# network: (batch, settings, sizes of an image, classes)
CASES = {
    "resnet20": (128, [], (3, 32, 32), 10),
    "resnet110": (128, [], (3, 32, 32), 10),
    "vgg_a": (16, ["dropout=0"], (3, 224, 224), 1000),
    "resnet50": (16, [], (3, 224, 224), 1000),
    "alexnet": (32, ["dropout=0"], (3, 224, 224), 1000),
    "googlenet": (16, ["dropout=0"], (3, 224, 224), 1000),
}
KINDS = {"default": ("contiguous", "channels_last"), "compiled": ("compiled",), "tuned": ("tcmalloc",)}  # ways of the peer
LOSSES_DIFFER = {"f32": 1e-3, "bf16": 2e-2}  # by no more, relatively
SKIPPED = 2  # of the steps of a process
RATE = "0.001"
PEER = """
import json, sys, time
sys.path.insert(0, sys.argv[1])
import torch, torch.nn.functional as F
import networks_torch as nets, safetensors
name, weights, inputs, way, steps, rate, threads, dtype, kind = sys.argv[2:]
training = nets.Layers.training = kind == "training"
torch.set_grad_enabled(training)
torch.set_num_threads(int(threads))
layout = torch.contiguous_format if way == "contiguous" else torch.channels_last
place = lambda v: v.contiguous(memory_format=layout) if v.dim() == 4 else v
network = getattr(nets, name)
p = {key: place(torch.tensor(value)) for key, value in safetensors.read(weights).items()}
trained = [value.requires_grad_(training) for key, value in p.items() if "running_" not in key]
optimizer = torch.optim.SGD(trained, lr=float(rate), momentum=0.9)
fed = safetensors.read(inputs)
x, t = place(torch.tensor(fed["image"]).permute(0, 3, 1, 2)), torch.tensor(fed["label"]).long()
def compute():
    with torch.autocast("cpu", torch.bfloat16, enabled=dtype == "bf16"):
        return F.cross_entropy(network(p, x), t)
if way == "compiled":
    compute = torch.compile(compute)
times, losses = [], []
for step in range(int(steps)):
    begin = time.perf_counter()
    optimizer.zero_grad(set_to_none=True)
    loss = compute()
    if training:
        loss.backward()
        optimizer.step()
    losses.append(loss.item())
    times.append(time.perf_counter() - begin)
print(json.dumps({"seconds": times, "losses": losses, "version": torch.__version__}))
"""


def run(command, **environment):
    """What the command prints, as JSON, with the peak of its memory; None and a line if it fails."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(command, stdout=out, stderr=err, env={**os.environ, **environment})
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0), err.seek(0)
        if process.returncode != 0:
            lines = err.read().decode().strip().splitlines()
            print(f"{command[0]}: {lines[-1] if lines else 'failed'}", file=sys.stderr)
            return None
        return {**json.loads(out.read()), "process_bytes": usage.ru_maxrss * 1024}


def ours(command):
    return run(command) or sys.exit(1)


def median_ms(result):
    return 1000 * statistics.median(result["seconds"][SKIPPED:])


def processor():
    with open("/proc/cpuinfo") as file:
        facts = dict(line.split(":", 1) for line in file if ":" in line)
    facts = {key.strip(): value for key, value in facts.items()}
    flags = facts.get("flags", "").split()
    units = [name for flag, name in (("amx_tile", "AMX"), ("avx512f", "AVX-512"), ("avx2", "AVX2")) if flag in flags]
    return f"{facts.get('model name', platform.processor()).strip()} with {units[0] if units else 'no vector units'}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--python", action="append", default=[])
    parser.add_argument("--tcmalloc")
    parser.add_argument("--dtype", choices=LOSSES_DIFFER, default="f32")
    parser.add_argument("--fast-f32", action="store_true", help="ours in three products of bf16 (needs AMX)")
    parser.add_argument("--inference", action="store_true", help="forward and loss alone")
    parser.add_argument("--overhead", help="of our level 3, a fraction of a step; without it level 2")
    parser.add_argument("--kinds", default="default,compiled,tuned")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=6, help="of a process; the first two do not count")
    parser.add_argument("networks", nargs="*", default=list(CASES))
    args = parser.parse_args()
    here, step, train = os.path.dirname(os.path.abspath(__file__)), args.build + "/bench/bench_step", args.build + "/bin/train"
    memopt = ["--memopt", "level=3", "--overhead", args.overhead] if args.overhead else ["--memopt", "level=2"]
    step_kind = "inference" if args.inference else "training"
    fast_f32 = ["--fast-f32"] * args.fast_f32
    print(f"{processor()}, {THREADS} threads, {args.dtype}, {step_kind}, {' '.join(fast_f32 + memopt)}\n")
    print("| network | batch | ours, ms | GFLOP/s, nominal | of peak | peer | its ways, ms | ratio to the best | rounds | ours, MiB | the peer, MiB | ratio above parameters |\n"
          "|---|---:|---:|---:|---:|---|---|---:|---:|---:|---:|---:|")
    summary = {}
    ways = [way for kind in args.kinds.split(",") for way in KINDS[kind] if way != "tcmalloc" or args.tcmalloc]
    for name in args.networks:
        batch, sets, size, classes = CASES[name]
        settings = [word for setting in sets for word in ("--set", setting)]
        of_network = ["--model", name, "--batch", str(batch), "--threads", str(THREADS), "--dtype", args.dtype] + settings
        profile = ours([train, "bench", *of_network, "--steps", "3", "--profile", "--format", "json"])
        best_gflops = profile["peak"]["gflops"]
        rounds = []  # of each: our result, and the peers' by (python, way), None where one failed
        with tempfile.TemporaryDirectory() as folder:
            weights, inputs = folder + "/weights", folder + "/inputs"
            subprocess.run([step, "--model", name, "--batch", "1", "--export", weights] + settings, check=True)
            kept_mib = os.path.getsize(weights) / 2**20 * (1 if args.inference else 2)  # parameters; momentum
            random = np.random.default_rng(0)
            safetensors.write(inputs, {"image": random.standard_normal((batch,) + size[1:] + size[:1]).astype(np.float32),
                                       "label": random.integers(0, classes, batch).astype(np.int32)})
            for _ in range(args.rounds):
                mine = ours([step, *of_network, "--lr", RATE, "--weights", weights, "--inputs", inputs, "--steps", str(args.steps), *fast_f32, *memopt] + ["--inference"] * args.inference)
                peers = {}
                for python in args.python or [sys.executable]:
                    for way in ways:
                        more = {"LD_PRELOAD": args.tcmalloc, "ATEN_CPU_CAPABILITY": "avx512"} if way == "tcmalloc" else {}
                        peers[python, way] = run([python, "-c", PEER, here, name, weights, inputs, way, str(args.steps), RATE, str(THREADS), args.dtype, step_kind], **more)
                rounds.append((mine, peers))
        our_ms = statistics.median(median_ms(mine) for mine, _ in rounds)
        gflop = rounds[0][0]["gflop"]
        our_mib = max(mine["process_bytes"] for mine, _ in rounds) / 2**20
        for python in args.python or [sys.executable]:
            for kind, of_kind in KINDS.items():
                tried = [(mine, [peers[python, way] for way in of_kind]) for mine, peers in rounds if set(of_kind) <= set(ways)]
                good = [(mine, results) for mine, results in tried if all(results)]
                if not good:
                    continue
                for mine, results in good:
                    for result in results:
                        if not abs(mine["losses"][0] - result["losses"][0]) <= LOSSES_DIFFER[args.dtype] * abs(result["losses"][0]):
                            sys.exit(f"{name}: the first loss is {mine['losses'][0]}, PyTorch's is {result['losses'][0]}")
                version = good[0][1][0]["version"]
                ratios = [median_ms(mine) / min(map(median_ms, results)) for mine, results in good]
                summary.setdefault((version, kind), []).append(statistics.median(ratios))
                said = ", ".join(f"{way} {statistics.median(median_ms(results[i]) for _, results in good):.0f}" for i, way in enumerate(of_kind))
                peak = min(max(results[i]["process_bytes"] for _, results in good) for i in range(len(of_kind))) / 2**20
                print(f"| {name} | {batch} | {our_ms:.0f} | {1e3 * gflop / our_ms:.0f} | {1e5 * gflop / our_ms / best_gflops:.0f} % "
                      f"| PyTorch {version}, {kind} | {said} | **{statistics.median(ratios):.2f}** ({min(ratios):.2f}-{max(ratios):.2f}) | {len(good)} "
                      f"| {our_mib:.0f} | {peak:.0f} | {(our_mib - kept_mib) / (peak - kept_mib):.2f} |", flush=True)
    if not summary:
        sys.exit("no peer ran")
    for (version, kind), ratios in summary.items():
        print(f"\ngeometric mean against PyTorch {version}, {kind}: {statistics.geometric_mean(ratios):.2f}")


if __name__ == "__main__":
    main()
