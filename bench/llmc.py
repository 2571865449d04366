"""llm.c's side of GPT-2's step: the files that its program reads, and its first steps."""
import os
import struct
import subprocess

import numpy as np

import peers

VOCAB, WIDTH, HEADS, LAYERS = 50257, 768, 12, 12
BATCH, LENGTH = 4, 64  # built into its program
# Parameters in the order of its file, where those of all layers follow each other.
ORDER = ["tokens.weight", "positions.weight", *(f"layer/{{}}/{part}.{kind}" for part in (
    "attention/norm", "attention/qkv", "attention/out", "mlp/norm", "mlp/up", "mlp/down") for kind in ("weight", "bias")),
    "norm.weight", "norm.bias"]


def write(folder, weights, text, following):
    """A checkpoint of version 3, and shards of tokens that hold one batch, the same each step."""
    classes = -(-VOCAB // 128) * 128
    with open(folder + "/gpt2_124M.bin", "wb") as file:
        file.write(struct.pack("<8i", 20240326, 3, LENGTH, VOCAB, LAYERS, HEADS, WIDTH, classes) + bytes(4 * 248))
        for name in ORDER:
            for layer in range(LAYERS if "{}" in name else 1):
                file.write(weights[name.format(layer)].tobytes())
            if name == "tokens.weight":
                file.write(bytes(4 * WIDTH * (classes - VOCAB)))
    tokens, shards = np.append(text.flatten(), following.flatten()[-1]), folder + "/dev/data/tinyshakespeare"
    os.makedirs(shards)
    for part in ("train", "val"):
        with open(f"{shards}/tiny_shakespeare_{part}.bin", "wb") as file:
            file.write(struct.pack("<3i", 20240520, 1, len(tokens)) + bytes(4 * 253) + tokens.astype(np.uint16).tobytes())


def steps(program, folder, count):
    """The first ones; the program goes on for 41, generating in between, and is ended."""
    process = subprocess.Popen(["stdbuf", "-oL", os.path.abspath(program)], cwd=folder, stdout=subprocess.PIPE, text=True,
                               env={**os.environ, "OMP_NUM_THREADS": str(peers.THREADS)})
    found = {"seconds": [], "losses": [], "version": "", "process_bytes": 0}
    for line in process.stdout:
        if line.startswith("step ") and len(found["losses"]) < count:
            words = line.split()  # step 0: train loss 5.356172 (took 1000.0 ms)
            found["losses"].append(float(words[4]))
            found["seconds"].append(float(words[6]) / 1000)
        if len(found["losses"]) == count:
            break
    process.kill()
    _, _, usage = os.wait4(process.pid, 0)
    if len(found["losses"]) < count:
        raise peers.Failed(f"{program}: ended before its step {count}", 0)
    return {**found, "process_bytes": usage.ru_maxrss * 1024}
