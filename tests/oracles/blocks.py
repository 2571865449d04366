#!/usr/bin/env python3
"""What bitsandbytes and ggml's gguf make of a matrix in few bits, and of these bits:

    python3 tests/oracles/blocks.py > tests/oracles/blocks.json

Number i of [4, 96] is sin(3 i) * (1 + i % 7) / 64, made in f64 and rounded to f32. "bytes" are those of the library's
tensors in the order of framework/language/block_formats.h, in hexadecimal; "sum" is the sum of i times number i that the
library makes of them, and "values" are the first eight. tests/framework/quantize_test.cpp makes the same."""
import json
import sys

try:
    import bitsandbytes.functional as bnb
    import gguf
    import numpy as np
    import torch
except ImportError as missing:
    print(f"blocks: skipped: {missing}", file=sys.stderr)
    sys.exit(77)

ROWS, COLUMNS = 4, 96


def row(dtype, data, values):
    values = np.asarray(values, np.float32).ravel()
    total = sum(i * float(value) for i, value in enumerate(values))
    return {"dtype": dtype, "bytes": data.hex(), "sum": total, "values": [float(v) for v in values[:8]]}


def of_ggml(numbers, dtype, kind):
    data = gguf.quants.quantize(numbers, kind)
    return row(dtype, data.tobytes(), gguf.quants.dequantize(data, kind))


def of_nf4(numbers):
    codes, state = bnb.quantize_4bit(torch.from_numpy(numbers), quant_type="nf4", compress_statistics=False)
    codes, scales = codes.numpy().reshape(-1, 32), state.absmax.numpy()
    data = b"".join(scale.tobytes() + block.tobytes() for scale, block in zip(scales, codes))
    return row("nf4", data, bnb.dequantize_4bit(torch.from_numpy(codes.reshape(-1, 1)), state).numpy())


def of_int8(numbers):
    codes, scales, _ = bnb.int8_vectorwise_quant(torch.from_numpy(numbers))
    data = b"".join(scale.tobytes() + block.tobytes() for scale, block in zip(scales.numpy(), codes.numpy()))
    return row("int8", data, bnb.int8_vectorwise_dequant(codes, scales).numpy())


def main():
    numbers = np.array([np.sin(3.0 * i) * (1 + i % 7) / 64 for i in range(ROWS * COLUMNS)], np.float32)
    numbers = numbers.reshape(ROWS, COLUMNS)
    kinds = gguf.GGMLQuantizationType
    made = [of_int8(numbers), of_ggml(numbers, "q8_0", kinds.Q8_0), of_ggml(numbers, "q4_0", kinds.Q4_0),
            of_ggml(numbers, "q4_1", kinds.Q4_1), of_nf4(numbers)]
    print("[\n" + ",\n".join(" " + json.dumps(one) for one in made) + "\n]")


main()
