#!/usr/bin/env python3
"""The same numbers as PyTorch: our freshly initialised weights in the same network, 20 training steps on one batch.

    bench/same_numbers.py --step build/release/bench/bench_step [NETWORK...]

Each network on several draws of its inputs. f64: each loss of each draw within 1e-9 relative of PyTorch's f64. f32: the
largest error of a loss against PyTorch's f64 losses, the median over the draws, ours over PyTorch's own, at most 1.5.
First update in f32: the norm of its error over its own, all parameters together, against PyTorch's f64; the median over
the draws, ours over PyTorch's own, at most 1.5 as well.
(Of one draw it may be a matter of luck: an activation that rounding takes to the other side of zero, in one of the two,
changes a gradient by a thousandth, where otherwise it is right to a millionth.)"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import torch
import torch.nn.functional as F

import networks_torch
import safetensors


def pictures(shape, classes):
    """Images [C, H, W] and their labels, by the names of the network's inputs."""
    return lambda random, batch: {"image": random.standard_normal((batch,) + shape).astype(np.float32),
                                  "label": random.integers(0, classes, batch).astype(np.int32)}


def masks(shape, classes):
    """Images [C, H, W] and a label for each of their pixels."""
    return lambda random, batch: {"image": random.standard_normal((batch,) + shape).astype(np.float32),
                                  "mask": random.integers(0, classes, (batch,) + shape[1:]).astype(np.int32)}


def characters(length, vocabulary):
    """Texts, and what follows each of their characters."""
    def inputs(random, batch):
        text = random.integers(0, vocabulary, (batch, length + 1)).astype(np.int32)
        return {"text": text[:, :-1], "next": text[:, 1:]}
    return inputs


# network: (function, inputs and targets, batch, rate, settings)
CASES = {
    "lenet": (networks_torch.lenet, pictures((1, 28, 28), 10), 64, 0.05, []),
    "resnet20": (networks_torch.resnet20, pictures((3, 32, 32), 10), 64, 0.1, []),
    "alexnet": (networks_torch.alexnet, pictures((3, 224, 224), 1000), 8, 0.0001, ["dropout=0"]),
    "googlenet": (networks_torch.googlenet, pictures((3, 224, 224), 1000), 4, 0.002, ["dropout=0"]),
    "char_lstm": (networks_torch.char_lstm, characters(64, 96), 32, 0.5, []),
    "transformer": (networks_torch.transformer, characters(64, 96), 16, 0.05, []),
    "mlp_mixer": (networks_torch.mlp_mixer, pictures((3, 32, 32), 10), 32, 0.02, []),
    "unet": (networks_torch.unet, masks((3, 32, 32), 11), 8, 0.05, []),
}
STEPS, MOMENTUM, DRAWS = 20, 0.9, 5
UPDATE_RATE = 2.0 ** 20  # so large that rounding the updated weights does not show


def torch_run(network, weights, inputs, dtype, rate, steps=STEPS):
    """The losses, and the weights behind the last step."""
    p = {name: torch.tensor(value, dtype=dtype) for name, value in weights.items()}
    trained = [value.requires_grad_() for name, value in p.items() if "running_" not in name]
    optimizer = torch.optim.SGD(trained, lr=rate, momentum=MOMENTUM)
    x, t = (torch.tensor(value, dtype=dtype if value.dtype.kind == "f" else torch.int64) for value in inputs.values())
    losses = []
    for _ in range(steps):
        optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(network(p, x), t.flatten())
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return np.array(losses), {name: value.detach().numpy() for name, value in p.items()}


def our_run(step, name, dtype, batch, rate, sets, weights, inputs, steps=STEPS):
    """As torch_run."""
    saved = inputs + ".saved"
    command = [step, "--model", name, "--batch", str(batch), "--dtype", dtype, "--steps", str(steps), "--lr", str(rate),
               "--momentum", str(MOMENTUM), "--weights", weights, "--inputs", inputs, "--save", saved]
    for setting in sets:
        command += ["--set", setting]
    losses = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)["losses"]
    return np.array(losses), safetensors.read(saved)


def update_error(before, updated, exact):
    """Of the first update, all parameters together."""
    squares = np.zeros(2)
    for name in before:
        if "running_" not in name:
            of_exact = exact[name].astype(np.float64) - before[name]
            squares += np.sum((updated[name].astype(np.float64) - before[name] - of_exact) ** 2), np.sum(of_exact ** 2)
    return np.sqrt(squares[0] / squares[1])


def errors(step, name, folder, weights_file, draw):
    """The largest relative difference of a loss from PyTorch's f64 losses: ours in f64, ours and PyTorch's in f32; the
    errors of the first update in f32, ours and PyTorch's; and those losses."""
    network, made, batch, rate, sets = CASES[name]
    weights = safetensors.read(weights_file)
    inputs = made(np.random.default_rng(draw), batch)
    exact, _ = torch_run(network, weights, inputs, torch.float64, rate)
    losses = [torch_run(network, weights, inputs, torch.float32, rate)[0]]
    updated = [torch_run(network, weights, inputs, dtype, UPDATE_RATE, 1)[1] for dtype in (torch.float64, torch.float32)]
    for dtype, numpy_dtype in (("f32", np.float32), ("f64", np.float64)):
        file = os.path.join(folder, "inputs." + dtype)
        safetensors.write(file, {key: value.transpose(0, 2, 3, 1).astype(numpy_dtype) if value.ndim == 4 else value
                                 for key, value in inputs.items()})
        losses.append(our_run(step, name, dtype, batch, rate, sets, weights_file, file)[0])
        if dtype == "f32":
            updated.append(our_run(step, name, dtype, batch, UPDATE_RATE, sets, weights_file, file, 1)[1])
    of_losses = [np.max(np.abs(of - exact) / np.abs(exact)) for of in reversed(losses)]
    return of_losses + [update_error(weights, of, updated[0]) for of in (updated[2], updated[1])], exact


def compare(step, name, folder):
    _, _, batch, rate, sets = CASES[name]
    weights_file = os.path.join(folder, name + ".weights")
    export = [step, "--model", name, "--batch", "1", "--export", weights_file]
    for setting in sets:
        export += ["--set", setting]
    subprocess.run(export, check=True)
    draws = []
    for draw in range(DRAWS):
        found, exact = errors(step, name, folder, weights_file, draw)
        print(f"{name}, draw {draw}: " + " ".join(f"{error:.1e}" for error in found), file=sys.stderr, flush=True)
        draws.append(found)
    ours64 = max(found[0] for found in draws)
    ours, theirs, our_update, their_update = (np.median([found[i] for found in draws]) for i in (1, 2, 3, 4))
    good = ours64 <= 1e-9 and ours <= 1.5 * theirs and our_update <= 1.5 * their_update
    print(f"| {name} | {batch} | {rate} | {exact[0]:.3f} -> {exact[-1]:.3f} | {ours64:.1e} | {ours:.1e} | {theirs:.1e} | "
          f"{ours / theirs:.2f} | {our_update:.1e} | {their_update:.1e} | {our_update / their_update:.2f} | "
          f"{'yes' if good else 'NO'} |", flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--step", default="build/release/bench/bench_step", help="our program")
    parser.add_argument("networks", nargs="*", default=list(CASES))
    args = parser.parse_args()
    torch.set_num_threads(2)
    print(f"PyTorch {torch.__version__}, {STEPS} steps, sgd with momentum {MOMENTUM}, {DRAWS} draws\n")
    print("| network | batch | rate | loss (last draw) | f64: largest relative difference | f32 error, ours | f32 error, PyTorch's | ratio | first update, ours | PyTorch's | ratio | as promised |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        results = [compare(args.step, name, folder) for name in args.networks]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
