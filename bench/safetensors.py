"""Reads and writes safetensors files with numpy alone."""
import json
import struct

import numpy as np

DTYPES = {"F32": np.float32, "F64": np.float64, "I32": np.int32, "I64": np.int64, "U8": np.uint8}


def read(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    header.pop("__metadata__", None)
    return {name: np.frombuffer(data, DTYPES[t["dtype"]], offset=t["data_offsets"][0], count=int(np.prod(t["shape"], dtype=np.int64)))
            .reshape(t["shape"]).copy() for name, t in header.items()}


def write(path, tensors):
    header, data, at = {}, [], 0
    for name, array in tensors.items():
        array = np.ascontiguousarray(array)
        dtype = next(key for key, value in DTYPES.items() if value == array.dtype)
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [at, at + array.nbytes]}
        at += array.nbytes
        data.append(array.tobytes())
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(data))
