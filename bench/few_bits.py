#!/usr/bin/env python3
"""Whether networks learn as well in fewer bits: with states in 8 bits and with parameters in bf16 as with both in f32;
in eight parts a batch (or as many as it has samples) with gradients summed in bf16 as in f32; and in bf16 with gradients
that stay so as with gradients in f32. Loss and accuracy on what the networks were not trained on, after a third, two
thirds and all of the steps; the mean over seeds and the extremes.

    bench/few_bits.py --data DIR [--text FILE] [--seeds 3] [NETWORK...] [--settings SETTING...]

DIR holds mnist/ and cifar10/, a text is by default one that Debian brings. The seeds of the settings are the same, so
their batches and draws are, too, and their initial weights, but for what bf16 rounds."""
import csv
import statistics
import tempfile

import peers
from tables import Table

ADAMW = ["--optimizer", "adamw", "--schedule", "cosine+warmup@20"]
# Of each network: its data, steps (a multiple of three), batch, and how it is trained.
NETWORKS = {
    "lenet": ("mnist:{data}/mnist", 900, 64, [*ADAMW, "--lr", "0.001"]),
    "resnet20": ("cifar10:{data}/cifar10", 240, 64, ["--optimizer", "momentum", "--lr", "0.1", "--schedule", "cosine"]),
    "char_gpt_cpu": ("text:{text}", 600, 12, [*ADAMW, "--lr", "0.001"]),
    "vit_tiny": ("cifar10:{data}/cifar10", 60, 32, [*ADAMW, "--lr", "0.001"]),
    "gpt2": ("text:{text}", 30, 2, [*ADAMW, "--lr", "0.0003", "--set", "length=64"]),
}
BF16 = ["--dtype", "bf16"]
PARTS = ["--micro-batch", "{part}"]
SETTINGS = {"f32": [], "--state-dtype 8bit": ["--state-dtype", "8bit"], "--param-dtype bf16": ["--param-dtype", "bf16"],
            "in bf16": BF16, "in bf16, --grad-dtype bf16": [*BF16, "--grad-dtype", "bf16"],
            "in parts": PARTS, "in parts, --accumulate bf16": [*PARTS, "--accumulate", "bf16"]}


def evaluations(train, network, given, setting, seed):
    """Of one run: (loss, accuracy) of each evaluation."""
    data, steps, batch, how = NETWORKS[network]
    with tempfile.NamedTemporaryFile(suffix=".csv") as metrics:
        peers.run([train, "--model", network, "--data", data.format(**vars(given)), "--steps", steps, "--batch", batch,
                   "--eval-every", steps // 3, "--seed", seed, "--threads", peers.THREADS, "--metrics", metrics.name,
                   "--quiet", *how, *(word.format(part=batch // 8 or 1) for word in SETTINGS[setting])])
        rows = list(csv.DictReader(open(metrics.name)))
    return [(float(row["loss"]), float(row["acc"])) for row in rows if row["split"] == "eval"]


def shown(values, form="{:.3f}"):
    return f"{form} ({form} to {form})".format(statistics.mean(values), min(values), max(values))


def main():
    parser = peers.parser(__doc__, seeds=3)
    parser.add_argument("--data", required=True, help="a folder with mnist/ and cifar10/")
    parser.add_argument("--text", default="/usr/share/common-licenses/GPL-3")
    parser.add_argument("--settings", nargs="+", choices=SETTINGS, default=[*SETTINGS], metavar="SETTING",
                        help="of those of the table (default: all)")
    parser.add_argument("network", nargs="*", help=f"of {', '.join(NETWORKS)} (default: all)")
    given = parser.parse_args()
    if unknown := set(given.network) - set(NETWORKS):
        parser.error(f"no network {min(unknown)!r}; there are {', '.join(NETWORKS)}")
    table = Table("network", "setting", "loss after a third", "two thirds", "all", "accuracy")
    for network in given.network or NETWORKS:
        for setting in given.settings:
            runs = [evaluations(given.train, network, given, setting, seed) for seed in range(given.seeds)]
            third, two_thirds, last = ([run[at] for run in runs] for at in range(3))
            means = (f"{statistics.mean(loss for loss, _ in at):.3f}" for at in (third, two_thirds))
            table.row(network, setting, *means, shown([loss for loss, _ in last]),
                      shown([accuracy for _, accuracy in last]))


if __name__ == "__main__":
    peers.start(main)
