#!/usr/bin/env python3
"""The same numbers as PyTorch: our freshly initialised weights in the same network, on several draws of its inputs.

    bench/same_numbers.py [--train TRAIN] [--updates] [--draws N] [--no-winograd] [NETWORK...]

Losses of 20 training steps on one batch. f64: each within 1e-9 relative of PyTorch's f64. f32: the largest error of one
against these, the median over the draws, ours over PyTorch's own, at most 1.5.
First update in f32 (with --updates this alone, and of the large networks, too): the norm of its error over its own, all
parameters together, against PyTorch's f64; the median over the draws, ours over PyTorch's own, at most 1.5 as well.
(Of one draw it may be a matter of luck: an activation that rounding takes to the other side of zero, in one of the two,
changes a gradient by a thousandth, where otherwise it is right to a millionth.)"""
import os
import sys
import tempfile

import numpy as np
import torch
import torch.nn.functional as F

import networks_torch
import peers
import safetensors
from tables import Table


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
    "char_gpt_cpu": (networks_torch.char_gpt_cpu, characters(64, 96), 12, 0.05, ["vocab=96", "dropout=0"]),
}
# of these only the first update
LARGE = {
    "resnet110": (networks_torch.resnet110, pictures((3, 32, 32), 10), 32, None, []),
    "resnet50": (networks_torch.resnet50, pictures((3, 224, 224), 1000), 4, None, []),
    "vgg_a": (networks_torch.vgg_a, pictures((3, 224, 224), 1000), 2, None, ["dropout=0"]),
    "gpt2": (networks_torch.gpt2, characters(64, 50257), 1, None, ["length=64"]),
}
STEPS, MOMENTUM = 20, 0.9
UPDATE_RATE = 2.0 ** 20  # so large that rounding the updated weights does not show


def torch_run(network, weights, inputs, dtype, rate, steps=STEPS, label_smoothing=0.0):
    """The losses, and the weights after the last step."""
    p = {name: torch.tensor(value, dtype=dtype) for name, value in weights.items()}
    trained = [value.requires_grad_() for name, value in p.items() if "running_" not in name]
    optimizer = torch.optim.SGD(trained, lr=rate, momentum=MOMENTUM)
    x, t = (torch.tensor(value, dtype=dtype if value.dtype.kind == "f" else torch.int64) for value in inputs.values())
    losses = []
    for _ in range(steps):
        optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(network(p, x), t.flatten(), label_smoothing=label_smoothing)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return np.array(losses), {name: value.detach().numpy() for name, value in p.items()}


class Ours:
    """As torch_run, by our program: `options` of it in f32."""

    def __init__(self, step, name, batch, sets, folder, options):
        self.folder, self.options, self.weights_file = folder, options, os.path.join(folder, name + ".weights")
        network = [step, "--model", name, *peers.sets(sets)]
        peers.run([*network, "--batch", 1, "--export", self.weights_file])
        self.weights = safetensors.read(self.weights_file)
        self.command = [*network, "--batch", batch, "--momentum", MOMENTUM, "--weights", self.weights_file]

    def run(self, inputs, dtype, rate, steps=STEPS):
        file, saved = os.path.join(self.folder, "inputs"), os.path.join(self.folder, "saved")
        floats = np.dtype(dtype.replace("f", "float"))
        safetensors.write(file, {key: value.transpose(0, 2, 3, 1).astype(floats) if value.ndim == 4 else value
                                 for key, value in inputs.items()})
        losses = peers.result([*self.command, "--inputs", file, "--save", saved, "--dtype", dtype, "--lr", rate, "--steps", steps,
                               *(self.options if dtype == "f32" else [])])["losses"]
        return np.array(losses), safetensors.read(saved)


def loss_errors(network, ours, inputs, rate):
    """The largest relative difference of a loss from PyTorch's f64 losses: ours in f64, ours and PyTorch's in f32; and
    those losses."""
    exact, theirs = (torch_run(network, ours.weights, inputs, dtype, rate)[0] for dtype in (torch.float64, torch.float32))
    return [np.max(np.abs(losses - exact) / np.abs(exact))
            for losses in (ours.run(inputs, "f64", rate)[0], ours.run(inputs, "f32", rate)[0], theirs)], exact


def update_errors(network, ours, inputs):
    """Of the first update in f32, all parameters together, against PyTorch's in f64: ours and PyTorch's."""
    exact, theirs = (torch_run(network, ours.weights, inputs, dtype, UPDATE_RATE, 1)[1] for dtype in (torch.float64, torch.float32))
    ours_updated, squares = ours.run(inputs, "f32", UPDATE_RATE, 1)[1], np.zeros(3)
    for name, before in ours.weights.items():
        if "running_" not in name:
            of_exact = exact[name].astype(np.float64) - before
            squares += np.sum(of_exact ** 2), *(np.sum((updated[name].astype(np.float64) - before - of_exact) ** 2)
                                                for updated in (ours_updated, theirs))
    return list(np.sqrt(squares[1:] / squares[0]))


def compare(table, case, ours, name, draws, with_losses):
    """A row of the table; whether it is as promised."""
    network, made, batch, rate, _ = case
    found = []
    for draw in range(draws):
        inputs, errors = made(np.random.default_rng(draw), batch), []
        if with_losses:
            errors, exact = loss_errors(network, ours, inputs, rate)
        errors = errors + update_errors(network, ours, inputs)
        print(f"{name}, draw {draw}: " + " ".join(f"{error:.1e}" for error in errors), file=sys.stderr, flush=True)
        found.append(errors)
    medians, good, cells = np.median(found, axis=0), True, [name, batch]
    if with_losses:
        ours64 = max(errors[0] for errors in found)
        good = ours64 <= 1e-9
        cells += [rate, f"{exact[0]:.3f} -> {exact[-1]:.3f}", ours64]
        medians = medians[1:]
    for of_ours, of_theirs in medians.reshape(-1, 2):
        good = good and of_ours <= 1.5 * of_theirs
        cells += [of_ours, of_theirs, of_ours / of_theirs]
    table.row(*cells, "yes" if good else "NO")
    return good


def main():
    parser = peers.parser(__doc__, draws=5)
    parser.add_argument("--updates", action="store_true", help="the first update alone")
    parser.add_argument("--no-winograd", action="store_true")
    parser.add_argument("networks", nargs="*", metavar="NETWORK")
    args = parser.parse_args()
    cases = {**CASES, **LARGE} if args.updates else CASES
    for name in args.networks:
        if name not in cases:
            more = "" if args.updates else f"; with --updates also {', '.join(LARGE)}"
            parser.error(f"no network {name!r}; there are {', '.join(cases)}{more}")
    torch.set_num_threads(peers.THREADS)
    print(f"PyTorch {torch.__version__}, {STEPS} steps, sgd with momentum {MOMENTUM}, {args.draws} draws\n")
    error, ratio = "{:.1e}", ("ratio", "{:.2f}")
    of_losses = [("rate", "{}"), ("loss (last draw)", "{}"), ("f64: largest relative difference", error),
                 ("f32 error, ours", error), ("f32 error, PyTorch's", error), ratio]
    table = Table("network", ("batch", "{}"), *([] if args.updates else of_losses), ("first update, ours", error),
                  ("PyTorch's", error), ratio, "as promised")
    results = []
    for name in args.networks or cases:
        with tempfile.TemporaryDirectory() as folder:
            _, _, batch, _, sets = cases[name]
            ours = Ours(peers.beside(args.train, "bench_step"), name, batch, sets, folder, ["--no-winograd"] * args.no_winograd)
            results.append(compare(table, cases[name], ours, name, args.draws, not args.updates))
    return 0 if all(results) else 1


if __name__ == "__main__":
    peers.start(main)
