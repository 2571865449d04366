"""Our logits beside those of a plain implementation in PyTorch, of random weights in a file of another library's names and layout.

f64: each logit within 1e-10 of PyTorch's, of the largest. f32: the norm of the error against PyTorch's f64 logits, ours
over PyTorch's own, at most 1.5, median over the draws."""
import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np
import torch

import safetensors


class Draw:
    """Weights by name, drawn larger than networks begin, so that attention looks at some places more than at others."""

    def __init__(self, random):
        self.random, self.tensors = random, {}

    def tensor(self, name, shape, deviation, mean=0.0):
        self.tensors[name] = (mean + deviation * self.random.standard_normal(shape)).astype(np.float32)

    def norm(self, name, width):
        self.tensor(name + ".weight", (width,), 0.2, 1.0)
        self.tensor(name + ".bias", (width,), 0.2)

    def linear(self, name, shape, inputs, outputs):
        self.tensor(name + ".weight", shape, 1.5 / np.sqrt(inputs))
        self.tensor(name + ".bias", (outputs,), 0.2)


def our_logits(step, model, size, batch, weights, inputs, dtype):
    logits = inputs + ".logits"
    command = [step, "--model", model, "--batch", str(batch), "--dtype", dtype, "--steps", "1", "--inference", "--threads", "2",
               "--weights", weights, "--inputs", inputs, "--logits", logits]
    for name, value in size.items():
        command += ["--set", f"{name}={value}"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return safetensors.read(logits)["logits"]


def errors(network, step, size, folder, draw):
    """The largest difference in f64, over the largest logit; norms of the f32 errors over that of the logits, ours and PyTorch's."""
    random = np.random.default_rng(draw)
    tensors, inputs = network.drawn_weights(size, random), network.drawn_inputs(size, random)
    files = os.path.join(folder, "weights"), os.path.join(folder, "inputs")
    safetensors.write(files[0], tensors)
    with torch.no_grad():
        exact, theirs = (network.torch_logits(size, {name: torch.tensor(value, dtype=dtype) for name, value in tensors.items()}, inputs)
                         .numpy() for dtype in (torch.float64, torch.float32))
    ours = {}
    for dtype, numbers in (("f64", np.float64), ("f32", np.float32)):
        safetensors.write(files[1], {name: value.astype(numbers) if value.dtype.kind == "f" else value for name, value in inputs.items()})
        ours[dtype] = our_logits(step, network.MODEL, size, network.BATCH, *files, dtype).reshape(exact.shape)

    def norm(error):
        return np.linalg.norm(error) / np.linalg.norm(exact)
    return np.max(np.abs(ours["f64"] - exact)) / np.max(np.abs(exact)), norm(ours["f32"] - exact), norm(theirs - exact)


def main(network):
    """Of a module with MODEL, BATCH, SIZES, drawn_weights, drawn_inputs and torch_logits."""
    parser = argparse.ArgumentParser(description=network.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--step", default="build/release/bench/bench_step", help="our program")
    parser.add_argument("--size", choices=list(network.SIZES), default="small")
    parser.add_argument("--draws", type=int, default=3)
    args = parser.parse_args()
    torch.set_num_threads(2)
    with tempfile.TemporaryDirectory() as folder:
        draws = [errors(network, args.step, network.SIZES[args.size], folder, draw) for draw in range(args.draws)]
    largest, ours, theirs = max(d[0] for d in draws), np.median([d[1] for d in draws]), np.median([d[2] for d in draws])
    good = largest <= 1e-10 and ours <= 1.5 * theirs
    print(f"PyTorch {torch.__version__}, {args.draws} draws\n")
    print("| size | f64: largest difference, of the largest logit | f32 error, ours | f32 error, PyTorch's | ratio | as promised |")
    print("|---|---|---|---|---|---|")
    print(f"| {args.size} | {largest:.1e} | {ours:.1e} | {theirs:.1e} | {ours / theirs:.2f} | {'yes' if good else 'NO'} |")
    sys.exit(0 if good else 1)
