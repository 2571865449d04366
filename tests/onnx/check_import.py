#!/usr/bin/env python3
"""Whether ONNX models of others compute here what they compute in onnxruntime: the light models that come with the onnx
package, with random weights in place of their constants, and models that torch exports, where there is torch.

    PYTHON=INTERPRETER tests/onnx/check_import.py TRAIN BENCH_STEP [MODEL...]

A model goes through `train import`; then its outputs before a softmax, for random images, are to be onnxruntime's but for
1e-4 of the largest, and it trains one step. Without onnx, onnxruntime or numpy the exit code is 77. MODEL: part of a
name."""
import json
import sys
import tempfile
from pathlib import Path

import check  # tests/onnx/check.py: runs itself by PYTHON

import numpy as np
import onnx
import safetensors
from onnx import numpy_helper

MOST = 1e-4
LIGHT = Path(onnx.__file__).parent / "backend/test/data/light"


def with_random_weights(path, to):
    """The model with tensors drawn by what they are for, and without a softmax at its end."""
    model = onnx.load(path)
    random = np.random.default_rng(0)
    graph = model.graph
    constants = {i.name: numpy_helper.to_array(i) for i in graph.initializer}
    filled = [node for node in graph.node if node.op_type == "ConstantOfShape"]
    shapes = {node.output[0]: constants[node.input[0]].tolist() for node in filled}
    shapes |= {name: list(array.shape) for name, array in constants.items() if array.dtype == np.float32}
    for node in filled:
        graph.node.remove(node)
    for initializer in [i for i in graph.initializer if i.name in shapes]:
        graph.initializer.remove(initializer)
    variances = {node.input[4] for node in graph.node if node.op_type == "BatchNormalization"}
    scales = {node.input[1] for node in graph.node if node.op_type == "BatchNormalization"}
    for name, shape in shapes.items():
        if name in variances:
            array = random.uniform(0.5, 1.5, shape)
        elif name in scales:
            array = random.uniform(0.8, 1.2, shape)
        elif len(shape) > 1:
            array = random.standard_normal(shape) * (2 / max(np.prod(shape[1:]), 1)) ** 0.5
        else:
            array = random.uniform(-0.1, 0.1, shape)
        graph.initializer.append(numpy_helper.from_array(array.astype(np.float32), name))
    last = next((node for node in graph.node if graph.output[0].name in node.output), None)
    if last is not None and last.op_type == "Softmax":
        graph.node.remove(last)
        graph.output[0].name = last.input[0]
    onnx.save(model, to)


def torch_models(folder):
    """Names and files of what torch exports."""
    try:
        import torch
        import torchvision
    except ImportError:
        return {}
    made = {}
    for name in ("alexnet", "resnet18", "resnet50", "resnext50_32x4d", "mobilenet_v2", "efficientnet_b0", "regnet_y_400mf", "vgg11_bn", "googlenet", "densenet121", "squeezenet1_1", "mnasnet1_0"):
        kwargs = {"init_weights": False, "aux_logits": False} if name == "googlenet" else {}
        network = getattr(torchvision.models, name)(weights=None, **kwargs).eval()
        made[name] = f"{folder}/{name}.onnx"
        torch.onnx.export(network, torch.zeros(2, 3, 224, 224), made[name], opset_version=17, dynamo=False,
                          training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=False,
                          input_names=["image"], dynamic_axes={"image": {0: "batch"}})
    return made


def difference(args, path, folder):
    random = np.random.default_rng(1)
    model, network = f"{folder}/model.onnx", f"{folder}/network.json"
    weights, inputs, logits = f"{folder}/network.safetensors", f"{folder}/i.safetensors", f"{folder}/l.safetensors"
    with_random_weights(path, model)
    session = check.session_of(model)
    taken = [value for value in session.get_inputs() if len(value.shape) == 4]
    images = random.standard_normal([2 if isinstance(size, str) else size for size in taken[0].shape]).astype(np.float32)
    others = {value.name: np.zeros(value.shape, np.int64) for value in session.get_inputs() if value.name != taken[0].name}
    theirs = session.run(None, {taken[0].name: images, **others})[0]
    check.run(args.train, "import", model, "--output", network)
    with open(network, encoding="utf-8") as file:
        names = list(json.load(file)["inputs"])
    batch = images.shape[0]
    safetensors.write(inputs, {names[0]: np.ascontiguousarray(images.transpose(0, 2, 3, 1)), "label": np.zeros(batch, np.int32)})
    words = ["--model", network, "--batch", batch, "--steps", 1, "--weights", weights, "--inputs", inputs]
    check.run(args.bench_step, *words, "--inference", "--logits", logits)
    check.run(args.bench_step, *words)
    ours = safetensors.read(logits)["logits"]
    return float(np.abs(theirs.reshape(ours.shape) - ours).max() / np.abs(ours).max())


def main():
    args = check.arguments(__doc__)
    wrong = compared = 0
    with tempfile.TemporaryDirectory() as made:
        models = {path.stem: str(path) for path in sorted(LIGHT.glob("*.onnx"))}
        if not all(part.startswith("light") for part in args.networks) or not args.networks:
            models |= torch_models(made)
        for name, path in models.items():
            if args.networks and not any(part in name for part in args.networks):
                continue
            with tempfile.TemporaryDirectory() as folder:
                wrong += check.report(name, lambda: difference(args, path, folder), MOST)
            compared += 1
    if not compared:
        print("onnx: skipped: no models are here")
        return 77
    print(f"{wrong} wrong" if wrong else "all as theirs")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
