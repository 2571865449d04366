#!/usr/bin/env python3
"""Adapters tuned by us and by PyTorch over the weights of one GGUF file, which each reads for itself, on the same windows
of a text, from the same adapters: the losses of some steps, and by how much each fell. The tokens are ours: transformers
does not take over from such a file that SmolLM2 splits numbers into digits first.

    bench/gguf_tuning.py [--python PYTHON] --gguf FILE [--text FILE] [--steps 30]

PYTHON has PyTorch, transformers, peft and gguf. The text is cut so that its windows are one batch, which every step sees.
Fails if our fall is not within 1 % of PyTorch's."""
import csv
import pathlib
import struct
import sys
import tempfile

import peers
from tables import Table

WINDOWS, LENGTH, RATE, SHOWN = 9, 128, 1e-3, 6
HEADER = 64  # bytes of a shard of tokens before its first
NOTHING = 1e-30  # a rate that leaves adapters as they are made
LORA = ["--lora", "r=8,alpha=16", "--lora-targets", "q_proj,v_proj"]
HOW = ["--optimizer", "adamw", "--beta2", 0.999, "--schedule", "constant", "--clip-norm", 0, "--weight-decay", 0,
       "--eval-every", 0, "--set", f"length={LENGTH}", "--batch", WINDOWS, "--threads", peers.THREADS, "--quiet"]


def torch_losses(gguf, adapter, tokens, steps):
    """Of AdamW's steps on the windows of these tokens."""
    sys.path.remove(str(peers.HERE))  # whose safetensors.py is not theirs
    import peft
    import torch
    import transformers
    torch.set_num_threads(peers.THREADS)
    file = pathlib.Path(gguf)
    base = transformers.AutoModelForCausalLM.from_pretrained(str(file.parent), gguf_file=file.name, dtype=torch.float32)
    model = peft.PeftModel.from_pretrained(base, adapter, is_trainable=True)
    assert (len(tokens) - 1) // LENGTH == WINDOWS, len(tokens)
    x, after = (torch.tensor(tokens[at:at + WINDOWS * LENGTH]).view(WINDOWS, LENGTH) for at in (0, 1))
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=RATE, weight_decay=0)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x).logits.flatten(0, 1), after.flatten())
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return {"losses": losses}


def main():
    parser = peers.parser(__doc__, python=True, steps=30)
    parser.add_argument("--gguf", required=True)
    parser.add_argument("--text", default="/usr/share/common-licenses/GPL-3")
    parser.add_argument("--characters", type=int, default=6200, help="of the text, that make one batch of windows")
    given = parser.parse_args()
    text = pathlib.Path(given.text).read_text()[:given.characters]
    with tempfile.TemporaryDirectory() as folder:
        cut, metrics = pathlib.Path(folder, "text"), pathlib.Path(folder, "metrics.csv")
        cut.write_text(text)
        ours = [given.train, "--model", "gguf:" + given.gguf, *LORA, "--data", f"text:{cut}", *HOW]
        peers.run([*ours, "--lr", NOTHING, "--steps", 1, "--save", folder + "/first"])
        peers.run([given.train, "export", "--weights", folder + "/first", "--lora", "--output", folder + "/adapter"])
        peers.run([*ours, "--lr", RATE, "--steps", given.steps, "--log-every", 1, "--metrics", metrics])
        own = [float(row["loss"]) for row in csv.DictReader(metrics.open()) if row["split"] == "train"]
        peers.run([given.train, "tokenize", cut, "--tokenizer", given.gguf, "--out", folder + "/tokens"])
        shard = pathlib.Path(folder, "tokens", "train-0000.bin").read_bytes()[HEADER:]
        tokens = list(struct.unpack(f"<{len(shard) // 2}H", shard))
        theirs = peers.peer(given.python, torch_losses, given.gguf, folder + "/adapter", tokens, given.steps)["losses"]
    table = Table("step", ("ours", "{:.4f}"), ("PyTorch", "{:.4f}"))
    for at in sorted({round(part * (given.steps - 1) / (SHOWN - 1)) for part in range(SHOWN)}):
        table.row(str(at + 1), own[at], theirs[at])
    falls = [losses[0] - losses[-1] for losses in (own, theirs)]
    print(f"\nfallen by {falls[0]:.4f} and {falls[1]:.4f}: {100 * (falls[0] / falls[1] - 1):+.2f} %")
    return abs(falls[0] / falls[1] - 1) > 0.01


if __name__ == "__main__":
    peers.start(main)
