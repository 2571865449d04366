#!/usr/bin/env python3
"""f32 training step on the CPU against PyTorch on this machine in the same minutes: the same network from the same
weights on the same inputs, in processes that take turns.

    bench/step_time.py [--build build/release] --python PYTHON [--python OTHER] [--tcmalloc LIBRARY] [NETWORK...]

Each --python is an interpreter that has PyTorch. A round runs ours and each way of the peer once; a ratio is that of
their medians of steps, and the table has the median ratio of all rounds to the better of contiguous and channels_last
(default), to torch.compile, and with --tcmalloc (a path to libtcmalloc) to channels_last with that and the peer's
AVX-512 kernels (tuned). Fails if the first losses differ. Peaks are of whole
processes."""
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
WAYS = ("contiguous", "channels_last", "compiled")
SKIPPED = 2  # of the steps of a process
RATE = "0.001"
PEER = """
import json, sys, time
sys.path.insert(0, sys.argv[1])
import torch, torch.nn.functional as F
import networks_torch as nets, safetensors
name, weights, inputs, way, steps, rate, threads = sys.argv[2:]
torch.set_num_threads(int(threads))
layout = torch.contiguous_format if way == "contiguous" else torch.channels_last
place = lambda v: v.contiguous(memory_format=layout) if v.dim() == 4 else v
network = getattr(nets, name)
p = {key: place(torch.tensor(value)) for key, value in safetensors.read(weights).items()}
trained = [value.requires_grad_() for key, value in p.items() if "running_" not in key]
optimizer = torch.optim.SGD(trained, lr=float(rate), momentum=0.9)
fed = safetensors.read(inputs)
x, t = place(torch.tensor(fed["image"]).permute(0, 3, 1, 2)), torch.tensor(fed["label"]).long()
compute = lambda: F.cross_entropy(network(p, x), t)
if way == "compiled":
    compute = torch.compile(compute)
times, losses = [], []
for step in range(int(steps)):
    begin = time.perf_counter()
    optimizer.zero_grad(set_to_none=True)
    loss = compute()
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


def median_ms(result):
    return 1000 * statistics.median(result["seconds"][SKIPPED:])


def processor():
    with open("/proc/cpuinfo") as file:
        facts = dict(line.split(":", 1) for line in file if ":" in line)
    facts = {key.strip(): value for key, value in facts.items()}
    units = [name for flag, name in (("amx_tile", "AMX"), ("avx512f", "AVX-512"), ("avx2", "AVX2")) if flag in facts["flags"].split()]
    return f"{facts.get('model name', platform.processor()).strip()} with {units[0] if units else 'no vector units'}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--python", action="append", default=[])
    parser.add_argument("--tcmalloc")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=6, help="of a process; the first two do not count")
    parser.add_argument("networks", nargs="*", default=list(CASES))
    args = parser.parse_args()
    here, step, train = os.path.dirname(os.path.abspath(__file__)), args.build + "/bench/bench_step", args.build + "/bin/train"
    print(f"{processor()}, {THREADS} threads\n")
    print("| network | batch | ours, ms | GFLOP/s | of peak | peer | its ways, ms | ratio to the best | rounds | ours, MiB | the peer, MiB |\n"
          "|---|---:|---:|---:|---:|---|---|---:|---:|---:|---:|")
    summary = {}
    for name in args.networks:
        batch, sets, size, classes = CASES[name]
        settings = [word for setting in sets for word in ("--set", setting)]
        of_network = ["--model", name, "--batch", str(batch), "--threads", str(THREADS)] + settings
        profile = run([train, "bench", *of_network, "--steps", "3", "--profile", "--format", "json"])
        gflop, best_gflops = sum(row["gflop"] for row in profile["rows"]), profile["peak"]["gflops"]
        ours, peers = [], {}
        with tempfile.TemporaryDirectory() as folder:
            weights, inputs = folder + "/weights", folder + "/inputs"
            subprocess.run([step, "--model", name, "--batch", "1", "--export", weights] + settings, check=True)
            random = np.random.default_rng(0)
            safetensors.write(inputs, {"image": random.standard_normal((batch,) + size[1:] + size[:1]).astype(np.float32),
                                       "label": random.integers(0, classes, batch).astype(np.int32)})
            for _ in range(args.rounds):
                ours.append(run([step, *of_network, "--lr", RATE, "--weights", weights, "--inputs", inputs, "--steps", str(args.steps)]))
                for python in args.python or [sys.executable]:
                    for way in WAYS + (("tcmalloc",) if args.tcmalloc else ()):
                        more = {"LD_PRELOAD": args.tcmalloc, "ATEN_CPU_CAPABILITY": "avx512"} if way == "tcmalloc" else {}
                        result = run([python, "-c", PEER, here, name, weights, inputs, way, str(args.steps), RATE, str(THREADS)], **more)
                        if result:
                            kind = {"tcmalloc": "tuned", "compiled": "compiled"}.get(way, "default")
                            peers.setdefault((result["version"], kind), {}).setdefault(way, []).append(result)
        ours_ms = statistics.median(map(median_ms, ours))
        for (version, kind), ways in peers.items():
            for results in ways.values():
                ours_first, first = ours[0]["losses"][0], results[0]["losses"][0]
                if abs(ours_first - first) > 1e-3 * abs(first):
                    sys.exit(f"{name}: the first loss is {ours_first}, PyTorch's is {first}")
            rounds = min(map(len, ways.values()))
            best = [min(median_ms(results[i]) for results in ways.values()) for i in range(rounds)]
            ratios = [median_ms(a) / b for a, b in zip(ours, best)]
            summary.setdefault((version, kind), []).append(statistics.median(ratios))
            said = ", ".join(f"{way} {statistics.median(map(median_ms, results)):.0f}" for way, results in ways.items())
            peak = min(max(result["process_bytes"] for result in results) for results in ways.values())
            print(f"| {name} | {batch} | {ours_ms:.0f} | {1e3 * gflop / ours_ms:.0f} | {1e5 * gflop / ours_ms / best_gflops:.0f} % "
                  f"| PyTorch {version}, {kind} | {said} | **{statistics.median(ratios):.2f}** ({min(ratios):.2f}-{max(ratios):.2f}) | {rounds} "
                  f"| {max(result['process_bytes'] for result in ours) / 2**20:.0f} | {peak / 2**20:.0f} |", flush=True)
    for (version, kind), ratios in summary.items():
        print(f"\ngeometric mean against PyTorch {version}, {kind}: {statistics.geometric_mean(ratios):.2f}")


if __name__ == "__main__":
    main()
