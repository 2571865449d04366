#!/usr/bin/env python3
"""How many of the onnx package's own tests of single ops compute here what they say: all whose node is of the standard
operators and takes and gives floats.

    PYTHON=INTERPRETER tests/onnx/check_nodes.py [--table] [--list] [--kind KIND] TRAIN BENCH_STEP [NAME...]

Each model goes through `train import` (what a node of a graph takes as a setting is a constant of the file here, and so,
where a layer has it as a weight, is what the test feeds beside its first input), and what it computes of the test's
inputs is compared. Models are tried with their first axis as the batch, and then as one sample (--no-batch). A test
passes, is refused with one line and exit code 4, or is wrong: then the exit code is 1, as for a crash. --table prints
them by op, for docs/reference/onnx.md; --kind takes the package's models that PyTorch once wrote instead; --list those that are refused, with what was said. NAME: part of a name. Without
onnx the exit code is 77."""
import collections
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

if "PYTHON" in os.environ and sys.executable != os.environ["PYTHON"]:
    os.execv(os.environ["PYTHON"], [os.environ["PYTHON"], *sys.argv])
try:
    import numpy as np
    import onnx
    import onnx.version_converter
    from onnx import TensorProto, numpy_helper
    from onnx.backend.test.loader import load_node_model_tests
except ImportError as error:
    print(f"onnx: skipped: {error}")
    sys.exit(77)
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))
import json  # noqa: E402

import safetensors  # noqa: E402  (bench/safetensors.py)

FLOATS = {TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.BFLOAT16}
RANDOM = {"Bernoulli", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial"}
FIRST_OPSET, LAST_OPSET = 7, 23
MOST = 1e-4  # of the largest output
LOW = 1e-2   # where a test's own numbers are of 16 bits


def type_of(value):
    return value.type.tensor_type.elem_type if value.type.HasField("tensor_type") else 0


def array_of(value):
    return numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else np.asarray(value)


def is_float_test(case):
    graph = case.model.graph
    domains = {opset.domain for opset in case.model.opset_import}
    takes = [type_of(value) for value in graph.input]
    if case.name.startswith("test_training_dropout") and "zero_ratio" not in case.name:
        return False  # what a generator of others drops; and here evaluation drops nothing
    return (len(graph.node) == 1 and domains <= {"", "ai.onnx"} and graph.node[0].op_type not in RANDOM
            and bool(graph.output) and type_of(graph.output[0]) in FLOATS
            and (not takes or any(kind in FLOATS for kind in takes))
            and all(value.type.HasField("tensor_type") for value in [*graph.input, *graph.output]))


class Refused(Exception):
    """What the program said, with exit code 4 (or 1 for layers that a file may not have)."""


class Wrong(Exception):
    pass


def run(*command):
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired as error:
        raise Wrong(f"{error.cmd[:3]}... takes over a minute") from error
    if done.returncode in (0, 4):
        if done.returncode:
            raise Refused(done.stderr.strip().splitlines()[-1])
        return
    raise Wrong(f"exit code {done.returncode}: {(done.stderr or done.stdout).strip().splitlines()[-1:]}")


def is_as_before(node, opset):
    """Whether the operator has taken the same inputs, and the node's attributes, already in the last opset that is read."""
    try:
        now, before = (onnx.defs.get_schema(node.op_type, version) for version in (opset, LAST_OPSET))
    except onnx.defs.SchemaError:
        return False
    inputs = [[(value.name, value.option) for value in schema.inputs] for schema in (now, before)]
    return inputs[0] == inputs[1] and all(attribute.name in before.attributes for attribute in node.attribute)


def with_constants(model, feeds, is_constant):
    """The model with these inputs as tensors of the file. If its opset is later than those that are read, and its operator
    was the same in the last of these but for types of numbers, it is of that one."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    opset = made.opset_import[0]
    if opset.version > LAST_OPSET:
        opset.version = LAST_OPSET if is_as_before(made.graph.node[0], opset.version) else opset.version
    kept = [value for value in made.graph.input if not is_constant(value)]
    for value in made.graph.input:
        if is_constant(value):
            made.graph.initializer.append(numpy_helper.from_array(feeds[value.name], value.name))
    del made.graph.input[:]
    made.graph.input.extend(kept)
    return made


def difference(args, model, feeds, expected, output, words, folder):
    path, network, weights = f"{folder}/m.onnx", f"{folder}/n.json", f"{folder}/n.safetensors"
    inputs, logits = f"{folder}/i.safetensors", f"{folder}/l.safetensors"
    onnx.save(model, path)
    for file in (network, weights):
        Path(file).unlink(missing_ok=True)
    run(args.train, "import", path, "--output", network, "--loss", "none", "--outputs", output, *words)
    with open(network, encoding="utf-8") as file:
        said = json.load(file)["inputs"]
    fed, batch = {}, 1
    is_wide = any(type_of(value) == TensorProto.DOUBLE for value in model.graph.input)
    number = np.float64 if is_wide else np.float32
    for value in model.graph.input:
        name = re.sub("[^A-Za-z0-9]", "_", value.name)
        name = "input_" + name if name[0].isdigit() else name
        if name not in said:
            continue  # nothing reads it
        how = said[name]
        array = feeds[value.name]
        array = array.astype(number) if type_of(value) in FLOATS else array.astype({"i32": np.int32, "u8": np.uint8}[how["dtype"]])
        if not words:
            batch = array.shape[0]
            if array.ndim == 4 and how.get("layout") != "plain":
                array = array.transpose(0, 2, 3, 1)
        fed[name] = np.ascontiguousarray(array if not words else array.reshape((1, *array.shape)))
    safetensors.write(inputs, fed)
    run(args.bench_step, "--model", network, "--batch", batch, "--steps", 1, "--weights", weights, "--inputs", inputs,
        "--inference", "--logits", logits, "--dtype", "f64" if is_wide else "f32")
    ours = safetensors.read(logits)["logits"].astype(np.float64)
    if ours.size != expected.size:
        raise Wrong(f"gives {ours.shape}, expected {expected.shape}")
    if not words and expected.ndim == 4 and is_image(network):
        ours = ours.transpose(0, 3, 1, 2)
    expected = expected.astype(np.float64)
    ours = ours.reshape(expected.shape)
    is_low = any(type_of(value) in (TensorProto.FLOAT16, TensorProto.BFLOAT16) for value in [*model.graph.input, *model.graph.output])
    most = LOW if is_low else MOST
    same = np.isclose(ours, expected, rtol=most, atol=most * max(np.abs(expected[np.isfinite(expected)]).max(initial=0), 1e-3), equal_nan=True)
    if not same.all():
        raise Wrong(f"differs by {np.nanmax(np.abs(ours - expected)):.3g}")


def is_image(network):
    """Whether the output of a network file is an image, [H, W, C] in memory."""
    with open(network, encoding="utf-8") as file:
        said = json.load(file)
    layer = next((entry for entry in said["layers"] if entry["name"] == said["outputs"][0]), None)
    while layer is not None:
        if layer["op"] in ("reshape", "parameter"):
            return layer.get("layout") == "image"
        if layer["op"] in IMAGES:
            return True
        before = layer.get("in")
        before = before[0] if isinstance(before, list) else before
        if before in said["inputs"]:
            return len(said["inputs"][before]["shape"]) == 3 and said["inputs"][before].get("layout") != "plain"
        layer = next((entry for entry in said["layers"] if entry["name"] == before), None)
    return False


IMAGES = {"conv", "conv_transpose", "max_pool", "avg_pool", "upsample", "pixel_shuffle", "pad_channels", "lrn"}


def outcome(args, case, folder):
    """"" if it passes, else what the program said of it last."""
    data = case.data_sets[0]
    graph = case.model.graph
    feeds = {value.name: array_of(array) for value, array in zip(graph.input, data[0])}
    whole = lambda value: type_of(value) not in FLOATS
    first = graph.input[0].name if graph.input else ""
    inputs = graph.node[0].input if len(graph.node) == 1 else []
    mask = inputs[3] if len(inputs) > 3 and graph.node[0].op_type == "Attention" else ""
    forms = [lambda value: False, whole, lambda value: value.name == mask, lambda value: value.name in inputs[2:],
             lambda value: value.name != first]
    said = []
    for form in forms:
        model = with_constants(case.model, feeds, form)
        for words in ([], ["--no-batch"]):
            try:
                for value, expected in zip(graph.output, data[1]):
                    if type_of(value) in FLOATS:
                        difference(args, model, feeds, array_of(expected), value.name, words, folder)
                return ""
            except Refused as error:
                said.append(str(error))
    return said[-2]


def print_table(passed, all_of):
    whole = [op for op in sorted(all_of) if passed[op] == all_of[op]]
    columns = 4
    length = -(-len(whole) // columns)
    print("All of these pass:\n\n|" + " op | tests |" * columns + "\n|" + "---|---:|" * columns)
    for row in range(length):
        cells = [whole[row + column * length : row + column * length + 1] for column in range(columns)]
        print("|" + "|".join(f" {cell[0]} | {all_of[cell[0]]} " if cell else " | " for cell in cells) + "|")
    print("\nSome of these:\n\n| op | pass | of |\n|---|---:|---:|")
    for op in sorted(all_of):
        if 0 < passed[op] < all_of[op]:
            print(f"| {op} | {passed[op]} | {all_of[op]} |")
    print("\nNone of these: " + ", ".join(f"{op} ({all_of[op]})" for op in sorted(all_of) if not passed[op]) + ".")


def folder_cases(kind):
    """The models of a folder of the onnx package, which may have several nodes, as tests of nodes are. They are of opset 6,
    which onnx's own converter makes 7."""
    class Case:
        pass

    for folder in sorted((Path(onnx.__file__).parent / "backend/test/data" / kind).iterdir()):
        if not (folder / "model.onnx").exists():
            continue
        case = Case()
        case.name, case.model = folder.name, onnx.load(folder / "model.onnx")
        if case.model.opset_import[0].version < FIRST_OPSET:
            case.model = onnx.version_converter.convert_version(case.model, FIRST_OPSET)
        initial = {tensor.name for tensor in case.model.graph.initializer}
        kept = [value for value in case.model.graph.input if value.name not in initial]
        del case.model.graph.input[:]
        case.model.graph.input.extend(kept)
        read = lambda part: [onnx.load_tensor(file) for file in sorted((folder / "test_data_set_0").glob(f"{part}_*.pb"), key=lambda file: int(file.stem.split("_")[1]))]
        case.data_sets = [(read("input"), read("output"))]
        yield case


def main():
    import argparse
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--kind", default="node", choices=["node", "pytorch-converted", "pytorch-operator"])
    parser.add_argument("train")
    parser.add_argument("bench_step")
    parser.add_argument("names", nargs="*")
    args = parser.parse_intermixed_args()
    if args.kind == "node":
        cases = [case for case in load_node_model_tests() if is_float_test(case)]
    else:
        cases = list(folder_cases(args.kind))
    cases = [case for case in cases if not args.names or any(part in case.name for part in args.names)]
    passed, all_of, wrong = collections.Counter(), collections.Counter(), []
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            op = case.model.graph.node[0].op_type if args.kind == "node" else args.kind
            all_of[op] += 1
            try:
                said = outcome(args, case, folder)
                passed[op] += not said
                if said and args.list:
                    print(f"{case.name}: {said.split('m.onnx: ')[-1]}", flush=True)
            except Wrong as error:
                wrong.append(case.name)
                print(f"{case.name}: WRONG: {error}", flush=True)
    if args.table:
        print_table(passed, all_of)
    print(f"{passed.total()} of {all_of.total()} pass, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
