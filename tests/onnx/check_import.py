#!/usr/bin/env python3
"""Whether ONNX models of others compute here what they compute in onnxruntime: the light models that come with the onnx
package, with random weights in place of their constants, and models of torchvision and transformers that torch exports
by TorchScript ("ts") and by dynamo ("dyn"), where there are these.

    PYTHON=INTERPRETER tests/onnx/check_import.py TRAIN BENCH_STEP [MODEL...]

A model goes through `train import`; then its outputs before a softmax, for random images or tokens, are to be
onnxruntime's but for 1e-4 of the largest, and it trains one step. Without onnx, onnxruntime or numpy the exit code is 77. MODEL: part of a
name."""
import contextlib
import io
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
NOT_EXPORTED = {("gpt2", "ts"), ("llama", "ts")}  # torch 2.15 cannot: transformers' masks need aten::diff
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


VISION = ("alexnet", "resnet18", "resnet50", "resnext50_32x4d", "mobilenet_v2", "mobilenet_v3_small", "mobilenet_v3_large", "efficientnet_b0",
          "efficientnet_v2_s", "regnet_y_400mf", "vgg11_bn", "googlenet", "densenet121", "squeezenet1_1", "mnasnet1_0",
          "shufflenet_v2_x1_0", "convnext_tiny", "vit_b_16")
VOCABULARY, LENGTH = 100, 16


def vision(name):
    import torch
    import torchvision
    more = {"googlenet": {"init_weights": False, "aux_logits": False}, "vit_b_16": {"image_size": 32}}.get(name, {})
    size = 32 if name == "vit_b_16" else 64 if "net_v" in name or name.startswith(("convnext", "shuffle")) else 224
    return getattr(torchvision.models, name)(weights=None, **more), (torch.randn(2, 3, size, size),), ["image"]


@contextlib.contextmanager
def without_ours():
    """transformers has a module safetensors of its own."""
    ours, path = sys.modules.pop("safetensors"), sys.path[:]
    sys.path[:] = [folder for folder in path if Path(folder).name != "bench"]
    try:
        yield
    finally:
        sys.modules["safetensors"], sys.path[:] = ours, path


def language(name):
    with without_ours():
        return made_by_transformers(name)


def made_by_transformers(name):
    import torch
    import transformers
    sizes = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": VOCABULARY}
    ids = torch.randint(0, VOCABULARY, (2, LENGTH))
    if name == "gpt2":
        config = transformers.GPT2Config(n_layer=2, n_embd=64, n_head=4, vocab_size=VOCABULARY, n_positions=32, use_cache=False, bos_token_id=0, eos_token_id=0)
        return Logits(transformers.GPT2LMHeadModel(config)), (ids,), ["ids"]
    if name == "llama":
        config = transformers.LlamaConfig(**sizes, intermediate_size=128, num_key_value_heads=2, max_position_embeddings=32, use_cache=False)
        return Logits(transformers.LlamaForCausalLM(config)), (ids,), ["ids"]
    config = transformers.BertConfig(**sizes, intermediate_size=128, max_position_embeddings=32)
    return Logits(transformers.BertForSequenceClassification(config)), (ids, torch.ones_like(ids)), ["ids", "attention_mask"]


def unet():
    """Down and up again, with group norm, a transposed convolution and a resize."""
    import torch
    nn = torch.nn

    class UNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.down = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 16, 3, padding=1)
            self.up, self.joined = nn.ConvTranspose2d(16, 8, 2, stride=2), nn.Conv2d(16, 8, 3, padding=1)
            self.norm, self.last = nn.GroupNorm(2, 8), nn.Conv2d(24, 5, 1)

        def forward(self, image):
            first = torch.relu(self.norm(self.first(image)))
            down = torch.relu(self.down(torch.max_pool2d(first, 2)))
            joined = torch.relu(self.joined(torch.cat([first, self.up(down)], 1)))
            wide = nn.functional.interpolate(down, scale_factor=2, mode="bilinear", align_corners=False)
            return self.last(torch.cat([joined, wide], 1))

    return UNet(), (torch.randn(2, 3, 32, 32),), ["image"]


def torch_models():
    """By name, what makes a network, example inputs and their names."""
    try:
        import torch
        import torchvision  # noqa: F401
        import transformers  # noqa: F401
    except ImportError as error:
        print(f"torch's models are left out: {error}")
        return {}

    class LogitsOf(torch.nn.Module):
        def __init__(self, model):
            super().__init__()
            self.model = model

        def forward(self, *args):
            return self.model(*args).logits

    global Logits
    Logits = LogitsOf
    made = {name: lambda name=name: vision(name) for name in VISION}
    return made | {name: lambda name=name: language(name) for name in ("gpt2", "bert", "llama")} | {"unet": unet}


def export(make, kind, path):
    """Writes a network of torch, whose weights of one axis, and what begins as zeros, are drawn anew."""
    import torch
    torch.manual_seed(0)
    network, args, names = make()
    network.eval()
    for name, weight in network.named_parameters():
        if "layer_scale" in name or not weight.any():
            weight.data = 0.3 * torch.randn_like(weight)
        elif weight.dim() == 1:
            weight.data += 0.1 * torch.randn_like(weight)
    if kind == "ts":
        torch.onnx.export(network, args, path, opset_version=17, dynamo=False, training=torch.onnx.TrainingMode.PRESERVE,
                          do_constant_folding=False, input_names=names, dynamic_axes={name: {0: "batch"} for name in names})
        return
    batch = tuple({0: torch.export.Dim("batch")} for _ in args)
    torch.onnx.export(network, args, path, opset_version=18, dynamo=True, input_names=names, external_data=False, verbose=False,
                      dynamic_shapes={"args": batch} if len(names) > 1 or names == ["ids"] else batch)


def drawn(value, random):
    shape = [2 if isinstance(size, str) else size for size in value.shape]
    if "int" not in value.type:
        return random.standard_normal(shape).astype(np.float32)
    if "mask" in value.name:  # the second text is shorter
        return (np.arange(shape[1])[None] < np.array([[shape[1]], [shape[1] - 5]])).astype(np.int64)
    return random.integers(0, VOCABULARY, shape)


def difference(args, model, folder):
    random = np.random.default_rng(1)
    network, weights = f"{folder}/network.json", f"{folder}/network.safetensors"
    inputs, logits = f"{folder}/i.safetensors", f"{folder}/l.safetensors"
    session = check.session_of(model)
    check.run(args.train, "import", model, "--output", network)
    with open(network, encoding="utf-8") as file:
        said = json.load(file)["inputs"]
    read = {name for node in onnx.load(model, load_external_data=False).graph.node for name in node.input}
    feed = {value.name: drawn(value, random) for value in session.get_inputs()}
    initial = {i.name for i in onnx.load(model, load_external_data=False).graph.initializer}
    taken = [value for value in session.get_inputs() if value.name in read and value.name not in initial]
    feed |= {name: np.zeros(array.shape, array.dtype) for name, array in feed.items() if name not in [v.name for v in taken]}
    fed = {}
    for name, value in zip(said, taken):
        array = feed[value.name]
        array = array.astype(np.int32) if array.dtype == np.int64 else array
        fed[name] = np.ascontiguousarray(array.transpose(0, 2, 3, 1) if array.ndim == 4 else array)
    batch = next(iter(fed.values())).shape[0]
    fed["label"] = np.zeros([batch, *said["label"]["shape"]], np.int32)
    theirs = session.run(None, feed)[0]
    safetensors.write(inputs, fed)
    words = ["--model", network, "--batch", batch, "--steps", 1, "--weights", weights, "--inputs", inputs]
    check.run(args.bench_step, *words, "--inference", "--logits", logits)
    check.run(args.bench_step, *words)
    ours = safetensors.read(logits)["logits"]
    if ours.ndim == 4:  # an image, [N, H, W, C] in memory
        ours = ours.transpose(0, 3, 1, 2)
    return float(np.abs(theirs.reshape(ours.shape) - ours).max() / np.abs(theirs).max())


def of_light_model(args, path, folder):
    with_random_weights(path, f"{folder}/model.onnx")
    return difference(args, f"{folder}/model.onnx", folder)


def of_torch(args, make, kind, folder):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        export(make, kind, f"{folder}/model.onnx")
    return difference(args, f"{folder}/model.onnx", folder)


def main():
    args = check.arguments(__doc__)
    wrong = compared = 0
    models = {path.stem: lambda folder, path=path: of_light_model(args, path, folder) for path in sorted(LIGHT.glob("*.onnx"))}
    if not all(part.startswith("light") for part in args.networks) or not args.networks:
        for name, make in torch_models().items():
            for kind in ("ts", "dyn"):
                if (name, kind) not in NOT_EXPORTED:
                    models[f"{name}.{kind}"] = lambda folder, make=make, kind=kind: of_torch(args, make, kind, folder)
    for name, of in models.items():
        if args.networks and not any(part in name for part in args.networks):
            continue
        with tempfile.TemporaryDirectory() as folder:
            wrong += check.report(name, lambda: of(folder), MOST)
        compared += 1
    if not compared:
        print("onnx: skipped: no models are here")
        return 77
    print(f"{wrong} wrong" if wrong else "all as theirs")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
