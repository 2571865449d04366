#!/usr/bin/env python3
"""vit_tiny on CIFAR-10, trained by us and by PyTorch from the same weights by the same recipe, on images in other orders and
varied by other draws: the share of the test images that each tells right.

    bench/vit.py --data FOLDER [--build build/release] --python PYTHON [--epochs 30] [--batch 64] [--lr 0.001] [--seeds 1] [--dtype f32]

FOLDER holds CIFAR-10's binary files. With --dtype bf16 PyTorch runs under autocast. A pair of 30 epochs takes an hour and a half
on two cores that multiply bf16, and more than two in f32."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

THREADS = 2
PEER = """
import glob, json, math, sys
sys.path.insert(0, sys.argv[1])
import numpy as np, torch, torch.nn.functional as F
import safetensors, vit_logits
weights, data, epochs, batch, rate, seed, threads = sys.argv[2], sys.argv[3], *map(int, sys.argv[4:6]), float(sys.argv[6]), *map(int, sys.argv[7:9])
autocast = torch.autocast("cpu", dtype=torch.bfloat16, enabled=sys.argv[9] == "bf16")
torch.set_num_threads(threads)
random = torch.Generator().manual_seed(seed)
p = {name: torch.tensor(value, requires_grad=True) for name, value in safetensors.read(weights).items()}
mean, deviation = (torch.tensor(v).view(1, 3, 1, 1) for v in ([0.4914, 0.4822, 0.4465], [0.2470, 0.2435, 0.2616]))
def images(pattern):
    rows = np.concatenate([np.fromfile(name, np.uint8).reshape(-1, 3073) for name in sorted(glob.glob(data + pattern))])
    return (torch.tensor(rows[:, 1:]).view(-1, 3, 32, 32) / 255 - mean) / deviation, torch.tensor(rows[:, 0]).long()
def varied(x):
    padded, out = F.pad(x, (4, 4, 4, 4)), torch.empty_like(x)
    for i, (down, right, flip) in enumerate(zip(*(torch.randint(0, n, (len(x),), generator=random).tolist() for n in (9, 9, 2)))):
        cut = padded[i, :, down:down + 32, right:right + 32]
        out[i] = cut.flip(2) if flip else cut
    return out
def logits(x):
    return vit_logits.torch_logits(SIZE, p, {"image": x.permute(0, 2, 3, 1).numpy()})
SIZE = {"width": 192, "patch": 4, "heads": 3, "layers": 12, "pool_mean": "true"}
x, t = images("/data_batch_*.bin")
decays = lambda name: name.endswith("weight") and p[name].dim() > 1
groups = [{"params": [p[name] for name in p if decays(name) == some], "weight_decay": 0.05 * some} for some in (True, False)]
optimizer = torch.optim.AdamW(groups, lr=rate, fused=True)
steps, step = epochs * (len(x) // batch), 0
warm = 0.05 * steps
for epoch in range(epochs):
    order = torch.randperm(len(x), generator=random)
    for first in range(0, len(x) - batch + 1, batch):
        rows = order[first:first + batch]
        share = min(1.0, (step + 1) / warm) if step < warm else 0.5 * (1 + math.cos(math.pi * (step - warm) / (steps - warm)))
        for group in optimizer.param_groups:
            group["lr"] = rate * share
        optimizer.zero_grad(set_to_none=True)
        with autocast:
            y = logits(varied(x[rows])).float()
        F.cross_entropy(y, t[rows], label_smoothing=0.1).backward()
        torch.nn.utils.clip_grad_norm_(p.values(), 1.0)
        optimizer.step()
        step += 1
    print(f"PyTorch: epoch {epoch + 1} of {epochs}", file=sys.stderr)
x, t = images("/test_batch*.bin")
with torch.no_grad(), autocast:
    right = sum(int((logits(x[i:i + 100]).argmax(1) == t[i:i + 100]).sum()) for i in range(0, len(x), 100))
print(json.dumps({"right": right / len(x), "version": torch.__version__}))
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--python", required=True)
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--lr", type=float, default=0.001)
    parser.add_argument("--seeds", type=int, default=1, choices=range(1, 100), metavar="N")
    parser.add_argument("--dtype", default="f32", choices=["f32", "bf16"])
    args = parser.parse_args()
    here, train = os.path.dirname(os.path.abspath(__file__)), args.build + "/bin/train"
    recipe = [str(args.epochs), str(args.batch), str(args.lr)]
    print("| seed | right, ours | right, PyTorch's |\n|---:|---:|---:|")
    for seed in range(args.seeds):
        with tempfile.TemporaryDirectory() as folder:
            network = ["--model", "vit_tiny", "--set", "pool_mean=true", "--seed", str(seed)]
            weights = folder + "/weights"
            subprocess.run([train, "export", *network, "--names", "timm", "--output", weights], check=True, stdout=subprocess.DEVNULL)
            subprocess.run([train, *network, "--weights", weights, "--data", "cifar10:" + args.data, "--epochs", recipe[0], "--batch", recipe[1],
                            "--lr", recipe[2], "--dtype", args.dtype, "--threads", str(THREADS), "--eval-every", "0", "--save", folder + "/run"],
                           check=True, stdout=subprocess.DEVNULL)
            scores = subprocess.run([train, "eval", "--weights", folder + "/run", "--format", "json"], check=True, capture_output=True, text=True).stdout
            ours = json.loads(scores)["accuracy"]
            peer = [args.python, "-c", PEER, here, weights, args.data, *recipe, str(seed), str(THREADS), args.dtype]
            theirs = json.loads(subprocess.run(peer, check=True, stdout=subprocess.PIPE).stdout)
        print(f"| {seed} | {ours:.3f} | {theirs['right']:.3f} |", flush=True)
    print(f"\n{args.epochs} epochs, PyTorch {theirs['version']}, {THREADS} threads")


if __name__ == "__main__":
    main()
