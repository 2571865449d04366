#!/usr/bin/env python3
"""What computing again costs here and in PyTorch, at equal peaks of the whole process where we need to compute again.

    bench/recompute_peers.py [--train TRAIN] --python PYTHON [--batch 16] [--steps 5] [resnet50 vgg16 googlenet]

PYTHON is an interpreter that has PyTorch 2 and torchvision. There each network trains as it is, with
checkpoint_sequential, and compiled with an activation_memory_budget; here as it is (level=2), and in a budget that
brings the process to the peak of each of those. An overhead is against the same side as it is. Processes take turns
once; run it again for more. torchvision's googlenet has batch norm, ours is the one of 2014."""
import csv
import os
import re
import statistics
import tempfile

import peers
from tables import MIB, Table

RATE = 0.001


def torch_steps(name, mode, batch, steps):
    import torch
    import torchvision
    from gpt2_memory import held
    from torch import nn
    from torch.utils.checkpoint import checkpoint_sequential

    import torch_peer
    torch.set_num_threads(peers.THREADS)
    torch.manual_seed(0)
    more = {"aux_logits": False, "init_weights": False} if name == "googlenet" else {}
    layers = []
    for key, child in getattr(torchvision.models, name)(**more).train().named_children():
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
    optimizer = torch.optim.SGD(net.parameters(), lr=RATE, momentum=0.9)

    def once():
        optimizer.zero_grad(set_to_none=True)
        loss = nn.functional.cross_entropy(run(x), t)
        loss.backward()
        optimizer.step()
        return loss.item()
    first = torch_peer.timed(once, 1)
    with open("/proc/self/clear_refs", "w") as control:  # compiling takes memory of its own
        control.write("5")
    return {**first, "seconds": torch_peer.timed(once, steps - 1)["seconds"], "peak": held("VmHWM")}


def our_run(args, network, *more):
    """Median seconds of a step, the process's peak and what the device was asked for, in bytes."""
    with tempfile.TemporaryDirectory() as folder:
        metrics = os.path.join(folder, "metrics.csv")
        ran = peers.run([args.train, "--model", network, "--batch", args.batch, "--data", "synthetic", "--steps", args.steps,
                         "--eval-every", 0, "--log-every", 1, "--quiet", "--threads", peers.THREADS, "--metrics", metrics,
                         "--lr", RATE / 10, *more])
        with open(metrics) as file:
            seconds = [float(row["ms"]) / 1000 for row in csv.DictReader(file)]
    return statistics.median(seconds[1:]), ran.peak, int(re.search(r"memory taken (\d+) bytes", ran.out)[1])


def main():
    parser = peers.parser(__doc__, python=True, batch=16, steps=5)
    parser.add_argument("networks", nargs="*", default=["resnet50", "vgg16", "googlenet"])
    args = parser.parse_args()
    side = (("s", "{:.2f}"), ("overhead, %", "{:.1f}"), ("peak, MiB", "{:.0f}"))
    table = Table("network", "PyTorch", *side, "ours", *side)
    for network in args.networks:
        plain, (level2, peak2, taken2) = None, our_run(args, network, "--memopt", "level=2")
        for mode in ("plain", "checkpoint", "budget=0.5", "budget=0.3"):
            try:
                peer = peers.peer(args.python, torch_steps, network, mode, args.batch, args.steps)
            except peers.Failed as failed:
                table.row(network, f"{mode}: {failed}", *[None] * 7)
                continue
            seconds, budget = statistics.median(peer["seconds"]), peer["peak"] - (peak2 - taken2)
            plain = plain or seconds
            row = [network, f"{peer['version']} {mode}", seconds, 100 * (seconds / plain - 1), peer["peak"] / MIB]
            if peak2 <= peer["peak"]:
                table.row(*row, "level=2", level2, 0, peak2 / MIB)
                continue
            try:
                ours = our_run(args, network, "--memory-budget", budget)
                table.row(*row, f"{budget / MIB:.0f} MiB", ours[0], 100 * (ours[0] / level2 - 1), ours[1] / MIB)
            except peers.Failed as failed:
                table.row(*row, str(failed), None, None, None)


if __name__ == "__main__":
    peers.start(main)
