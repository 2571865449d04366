#!/usr/bin/env python3
"""Whether the ONNX models that we write are right to others: onnx's checker, with shapes inferred strictly, and
onnxruntime's outputs beside ours, for the same random weights and inputs.

    PYTHON=INTERPRETER tests/onnx/check.py TRAIN BENCH_STEP [--opset N] [--dtype f32|f64] [NETWORK...]

Prints a line for each network: the largest difference, as a share of the largest output; fails above 1e-5 (f32) or 1e-12
(f64). Without onnx, onnxruntime or numpy in the interpreter it says so and ends with 77. Networks: small ones of every
kind unless named."""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

if os.environ.get("PYTHON") and os.environ.get("LETHE_IS_PYTHON") != os.environ["PYTHON"]:
    os.environ["LETHE_IS_PYTHON"] = os.environ["PYTHON"]
    os.execvp(os.environ["PYTHON"], [os.environ["PYTHON"], *sys.argv])

try:
    import numpy as np
    import onnx
    import onnxruntime
except ImportError as missing:
    print(f"onnx: skipped: {missing}")
    sys.exit(77)

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))
import safetensors  # noqa: E402  (bench/safetensors.py)

BATCH = 2
MOST = {"f32": 1e-5, "f64": 1e-12}
ONNX_TYPES = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "i64": np.int64, "u8": np.uint8}
# Network: settings that make it small.
CASES = {
    "lenet": [], "mlp": [], "table": [], "alexnet": ["classes=10"], "googlenet": ["classes=10"], "vgg_a": ["classes=10"],
    "resnet20": [], "resnet50": ["classes=10"], "resnext50": ["classes=10"], "se_resnext50": ["classes=10"], "unet": [],
    "char_gpt": [], "gpt2": ["layers=2", "width=64", "heads=4", "vocab=100", "length=24"],
    "llama": ["layers=2"], "bert": [], "transformer": [], "vit_tiny": ["layers=2"], "mlp_mixer": [],
    "optnet/alexnet": [], "optnet/resnet110": [], "optnet/googlenet": [], "optnet/vgg_a": [],
}


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def session_of(model):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # errors
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def randomised(weights, random):
    """Initial weights with what is 0 or 1 in them moved, so that a mistake shows."""
    moved = {}
    for name, array in weights.items():
        noise = random.uniform(-0.2, 0.2, array.shape)
        is_variance = name.endswith("running_var")
        moved[name] = (np.abs(array + noise) + 0.1 if is_variance else array + noise * (array.ndim < 2)).astype(array.dtype)
    return moved


def drawn(var, random):
    """Of an input, in memory order."""
    shape, dtype = var["shape"], ONNX_TYPES[var["dtype"]]
    if var["dtype"] in ("f32", "f64"):
        return random.standard_normal(shape).astype(dtype)
    return random.integers(0, 4 if len(shape) > 1 else 2, shape).astype(dtype)  # tokens, or labels of two classes


def difference(args, name, sets, folder):
    random = np.random.default_rng(1)
    words = ["--model", name, "--batch", BATCH, "--dtype", args.dtype, *(word for s in sets for word in ("--set", s))]
    weights, inputs, logits, model = (f"{folder}/{file}" for file in ("w.safetensors", "i.safetensors", "l.safetensors", "m.onnx"))
    run(args.bench_step, *words, "--export", weights)
    safetensors.write(weights, randomised(safetensors.read(weights), random))
    program = json.loads(run(args.train, "show", *words, "--eval", "--format", "json"))
    fed = {var["name"]: drawn(var, random) for var in program["vars"] if var["kind"] == "input"}
    safetensors.write(inputs, fed)
    run(args.bench_step, *words, "--inference", "--steps", 1, "--weights", weights, "--inputs", inputs, "--logits", logits)
    ours = safetensors.read(logits)["logits"]
    without_batch = words[:2] + words[4:]
    run(args.train, "export", *without_batch, "--weights", weights, "--output", model, "--opset", args.opset)

    onnx.checker.check_model(model, full_check=True)
    onnx.shape_inference.infer_shapes_path(model, f"{folder}/inferred.onnx", check_type=True, strict_mode=True, data_prop=True)
    session = session_of(model)
    feed = {}
    for value in session.get_inputs():
        array = fed[value.name]
        feed[value.name] = array.transpose(0, 3, 1, 2) if array.ndim == 4 else array
    theirs = session.run(None, feed)[0]
    if theirs.ndim == 4:
        theirs = theirs.transpose(0, 2, 3, 1)
    if theirs.shape != ours.shape:
        raise RuntimeError(f"shape {theirs.shape}, ours {ours.shape}")
    return float(np.abs(theirs - ours).max() / np.abs(ours).max())


def arguments(description):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train")
    parser.add_argument("bench_step")
    parser.add_argument("--opset", default="17")
    parser.add_argument("--dtype", default="f32", choices=MOST)
    parser.add_argument("networks", nargs="*")
    return parser.parse_intermixed_args()


def report(name, difference, most):
    """Prints a line; whether it is wrong."""
    try:
        share = difference()
        bad = not share <= most
        print(f"{name}: {share:.1e}{' WRONG' if bad else ''}", flush=True)
    except Exception as error:  # of any of the packages
        bad = True
        print(f"{name}: {str(error)[:600]}", flush=True)
    return bad


def main():
    args = arguments(__doc__)
    wrong = 0
    for name in args.networks or CASES:
        with tempfile.TemporaryDirectory() as folder:
            wrong += report(name, lambda: difference(args, name, CASES.get(name, []), folder), MOST[args.dtype])
    print(f"{wrong} wrong" if wrong else "all as ours")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
