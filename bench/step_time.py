#!/usr/bin/env python3
"""f32 training step against PyTorch on this machine in the same minutes: processes take turns, medians of all steps.

    bench/step_time.py --step build/release/bench/bench_step --python PYTHON [--python OTHER] [resnet20 resnet110]

Each --python is an interpreter that has PyTorch; both memory layouts are tried and the better one counts."""
import argparse
import json
import statistics
import subprocess
import sys

BATCH, THREADS = 128, 2
PEER = """
import sys, time, torch, torch.nn.functional as F
sys.path.insert(0, sys.argv[1])
import networks_torch as nets
name, layout, steps = sys.argv[2], sys.argv[3], int(sys.argv[4])
torch.set_num_threads(%d)
torch.manual_seed(0)
network, p = nets.timed(name)
x, t = torch.randn(%d, 3, 32, 32), torch.randint(0, 10, (%d,))
if layout == "nhwc":
    x = x.contiguous(memory_format=torch.channels_last)
    p = {k: v.detach().contiguous(memory_format=torch.channels_last).requires_grad_(v.requires_grad) if v.dim() == 4 else v for k, v in p.items()}
opt = torch.optim.SGD([v for v in p.values() if v.requires_grad], lr=0.01, momentum=0.9)
times = []
for i in range(steps):
    begin = time.perf_counter()
    opt.zero_grad(set_to_none=True)
    loss = F.cross_entropy(network(p, x), t)
    loss.backward()
    opt.step()
    loss.item()
    times.append(time.perf_counter() - begin)
import json
print(json.dumps({"seconds": times, "version": torch.__version__}))
""" % (THREADS, BATCH, BATCH)


def run(command):
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--step", default="build/release/bench/bench_step")
    parser.add_argument("--python", action="append", default=[])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=6, help="of a process; the first two do not count")
    parser.add_argument("networks", nargs="*", default=["resnet20", "resnet110"])
    args = parser.parse_args()
    here = __file__.rsplit("/", 1)[0]
    print("| network | ours, ms | peer | NCHW, ms | NHWC, ms | ratio to the better | pairs |\n|---|---|---|---|---|---|---|")
    for name in args.networks:
        ours, peers, versions = [], {}, {}
        for _ in range(args.rounds):
            ours.append(statistics.median(run([args.step, "--model", name, "--batch", str(BATCH), "--threads", str(THREADS),
                                               "--lr", "0.01", "--steps", str(args.steps)])["seconds"][2:]))
            for python in args.python or [sys.executable]:
                for layout in ("nchw", "nhwc"):
                    result = run([python, "-c", PEER, here, name, layout, str(args.steps)])
                    versions[python] = result["version"]
                    peers.setdefault((python, layout), []).append(statistics.median(result["seconds"][2:]))
        for python, version in versions.items():
            nchw, nhwc = peers[python, "nchw"], peers[python, "nhwc"]
            ratios = [a / min(b, c) for a, b, c in zip(ours, nchw, nhwc)]
            ms = [1000 * statistics.median(values) for values in (ours, nchw, nhwc)]
            print(f"| {name} | {ms[0]:.0f} | PyTorch {version} | {ms[1]:.0f} | {ms[2]:.0f} | **{statistics.median(ratios):.2f}** "
                  f"({min(ratios):.2f}-{max(ratios):.2f}) | {len(ratios)} |", flush=True)


if __name__ == "__main__":
    main()
