"""Weights that both sides of a comparison make for themselves, so that no file of them is kept: the oracles of this
folder and tests/support/made_weights.h have the same formula. Element i of tensor NAME is

    0.2 * ((crc32(NAME) + (i + 1) * 2654435761) mod 2^32 / 2^32 - 0.5)

in f64, rounded to f32; of a tensor that scales rows or channels 1 plus that. The names of the latter stand in an oracle's
figures as "1+"."""
import zlib

import numpy as np


def made(name, shape, about=0.0):
    """Values of tensor `name` as f32, spread by 0.1 to both sides of `about`."""
    steps = np.arange(1, int(np.prod(shape, dtype=np.int64)) + 1, dtype=np.uint64) * np.uint64(2654435761)
    words = (steps + np.uint64(zlib.crc32(name.encode()))) & np.uint64(0xFFFFFFFF)
    return (about + 0.2 * (words.astype(np.float64) / 2.0 ** 32 - 0.5)).astype(np.float32).reshape(shape)


def tensors_of(model):
    """What a file of the model holds: its state's floats by name, each memory once, under its first name."""
    found, seen = {}, set()
    for name, tensor in model.state_dict().items():
        if tensor.is_floating_point() and tensor.data_ptr() not in seen:
            seen.add(tensor.data_ptr())
            found[name] = tensor
    return found


def fill(model, is_about_one):
    """Gives the model of torch made weights; `is_about_one` tells by a name whether 1 is added. Returns what a test must
    know of them: {"tensors": {name: shape}, "1+": [names]}."""
    import torch
    tensors = tensors_of(model)
    ones = [name for name in tensors if is_about_one(name)]
    with torch.no_grad():
        for name, tensor in tensors.items():
            tensor.copy_(torch.from_numpy(made(name, tuple(tensor.shape), float(name in ones))))
    return {"tensors": {name: list(tensor.shape) for name, tensor in tensors.items()}, "1+": ones}
