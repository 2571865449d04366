#!/usr/bin/env python3
"""What a training step of level 2 takes beside one with all values kept (level=3 --overhead 0%): the median of the ratios
of rounds, each of two processes that take turns; and the geometric mean over the networks.

    bench/level2_time.py [--train TRAIN] [--rounds 11] [--seconds 2] [NETWORK...]

A process takes at least seven steps, and more up to the seconds. Networks of which level 2 makes nothing again are left
out. Fails if a loss differs, a ratio is above 1.02 or the mean above 1.01."""
import statistics

import peers
from tables import MIB, Table

# Of each network: its batch, and what makes a step short.
NETWORKS = {
    "adaptive_depth": (128,), "alexnet": (16,), "bert": (64,), "bert_base": (1,), "char_gpt": (2,),
    "char_gpt_cpu": (12,), "char_gru": (64,), "char_lstm": (64,), "early_exit": (128,), "googlenet": (8,),
    "gpt2": (1, "--set", "length=128"), "lenet": (256,), "llama": (2,), "mlp_mixer": (64,), "resnet110": (32,),
    "resnet20": (128,), "resnet50": (4,), "resnext50": (4,), "se_resnext152": (1,), "se_resnext50": (4,),
    "seq2seq_copy": (128,), "transformer": (64,), "unet": (4, "--set", "size=128,w=32"), "vgg16": (4,), "vgg_a": (4,),
    "vit_tiny": (8,), "vit_s16": (1,)}
SETTINGS = ("level=3 --overhead 0%", "level=2")
MOST, MOST_IN_THE_MEAN, FEWEST_STEPS, MOST_STEPS = 1.02, 1.01, 7, 200


def slowdown(train, seconds, rounds, words):
    """The ratio, and a step's milliseconds with all kept."""
    def ran(steps, rounds, *settings):
        return peers.result([train, "bench", *words, "--lr", 1e-6, "--threads", peers.THREADS, "--steps", steps,
                             "--rounds", rounds, "--settings", ";".join(settings), "--format", "json"])["rows"]
    steps = int(1000 * seconds / ran(4, 1, SETTINGS[0])[0]["ms"])
    kept, level2 = ran(min(max(steps, FEWEST_STEPS), MOST_STEPS), rounds, *SETTINGS)
    if not level2["loss_equal"]:
        raise peers.Failed(f"{words[1]}: the losses differ", 1)
    return level2["slowdown"], kept["ms"]


def main():
    parser = peers.parser(__doc__, rounds=11, seconds=2.0)
    parser.add_argument("networks", nargs="*")
    args = parser.parse_args()
    if unknown := set(args.networks) - set(NETWORKS):
        parser.error(f"no network {min(unknown)!r}; there are {', '.join(NETWORKS)}")
    table = Table("network", "batch", ("all kept, MiB", "{:.1f}"), ("level 2, MiB", "{:.1f}"), ("a step, ms", "{:.0f}"),
                  ("slow-down", "{:.3f}"))
    ratios = []
    for name in args.networks or NETWORKS:
        batch, *more = NETWORKS[name]
        words = ["--model", name, "--batch", batch, *more]
        kept, level2 = (peers.plan(args.train, name, *words[2:], "--memopt", *setting.split()) for setting in SETTINGS)
        if not level2["overhead"]:
            continue
        ratio, ms = slowdown(args.train, args.seconds, args.rounds, words)
        ratios.append(ratio)
        table.row(name, batch, kept["arena"] / MIB, level2["arena"] / MIB, ms, ratio)
    if not ratios:
        raise peers.Failed("level 2 makes nothing again of these", 1)
    mean = statistics.geometric_mean(ratios)
    print(f"\n{len(ratios)} networks: at most {max(ratios):.3f}, {mean:.3f} in the mean; {peers.processor()}")
    return max(ratios) > MOST or mean > MOST_IN_THE_MEAN


if __name__ == "__main__":
    peers.start(main)
