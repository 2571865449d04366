#!/usr/bin/env python3
"""What transformers, timm and torchvision compute with tiny encoders of texts and images of made weights, in f64, for
tests/train/hf_encoders_test.cpp: logits, the losses of five steps, embeddings. Weights have the names of the files that
these libraries write.

    tests/oracles/hf_encoders.py > tests/oracles/hf_encoders.json

Without one of the packages it says so and ends with 77."""
import json
import os
import sys
import tempfile

import made_weights

try:
    import safetensors.torch
    import timm
    import torch
    import torchvision
    import transformers
except ImportError as missing:
    print(f"hf_encoders: skipped: {missing}", file=sys.stderr)
    sys.exit(77)

STEPS = 5
ADAMW = {"optimizer": "adamw", "lr": 1e-3, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "weight_decay": 0.01}
MOMENTUM = {"optimizer": "momentum", "lr": 1e-4, "momentum": 0.9, "weight_decay": 1e-4}
TEXTS = [[5, 17, 3, 9, 30, 2], [5, 8, 8, 2], [5, 36, 1, 14, 22, 7, 19, 4, 11, 2], [5, 2]]  # 0 pads them
LENGTH = 10
CLASSES = 3
LABELS = [2, 0, 1, 2]


def is_about_one(name):
    """Of batch norm's and layer norm's tensors those that multiply or divide."""
    layer, _, what = name.rpartition(".")
    last = layer.split(".")[-1].lower()
    is_norm = "norm" in last or last.startswith("bn") or layer.endswith("downsample.1")
    return what == "running_var" or (what == "weight" and is_norm)


def through_its_folder(model):
    """The model with made weights, read from a folder as its library writes it; what a test must know of them, and
    config.json."""
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        file = os.path.join(folder, "model.safetensors")
        shapes = {name: list(tensor.shape) for name, tensor in safetensors.torch.load_file(file).items()}
        ones = [name for name in shapes if is_about_one(name)]
        safetensors.torch.save_file({name: torch.from_numpy(made_weights.made(name, tuple(shape), float(name in ones)))
                                     for name, shape in shapes.items()}, file, {"format": "pt"})
        with open(os.path.join(folder, "config.json"), encoding="utf-8") as config:
            return (type(model).from_pretrained(folder, dtype=torch.float64, attn_implementation="sdpa"),
                    {"tensors": shapes, "1+": ones}, json.load(config))


def filled(model):
    model = model.double()
    return model, made_weights.fill(model, is_about_one)


def texts():
    ids = torch.tensor([text + [0] * (LENGTH - len(text)) for text in TEXTS])
    return {"input_ids": ids, "attention_mask": (ids > 0).long()}


def images(size, channels=3):
    return torch.from_numpy(made_weights.made("image", (len(LABELS), channels, size, size))).double()


def optimizer_of(settings, parameters):
    if settings["optimizer"] == "adamw":
        return torch.optim.AdamW(parameters, settings["lr"], (settings["beta1"], settings["beta2"]), settings["eps"],
                                 settings["weight_decay"])
    return torch.optim.SGD(parameters, settings["lr"], settings["momentum"], weight_decay=settings["weight_decay"])


def figures(model, logits_of, settings=None, label_smoothing=0.0):
    """Logits as evaluation has them, then, with settings, the losses of a few steps, of which all but the first depend on
    all gradients."""
    labels = torch.tensor(LABELS)
    model.eval()
    with torch.no_grad():
        logits = logits_of(model)
    if not settings:
        return {"labels": LABELS, "logits": logits.tolist()}
    model.train()
    optimizer, losses = optimizer_of(settings, model.parameters()), []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(logits_of(model), labels, label_smoothing=label_smoothing)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return {"labels": LABELS, "logits": logits.tolist(), "train": settings, "losses": losses}


def bert_config(**more):
    return transformers.BertConfig(vocab_size=37, hidden_size=24, num_hidden_layers=2, num_attention_heads=3,
                                   intermediate_size=40, max_position_embeddings=14, hidden_dropout_prob=0.0,
                                   attention_probs_dropout_prob=0.0, **more)


BERT_SET = {"vocab": "37", "length": str(LENGTH), "positions": "14", "types": "2", "width": "24", "heads": "3", "layers": "2",
            "hidden": "40", "dropout": "0"}


def bert_classifier():
    config = bert_config(num_labels=CLASSES, layer_norm_eps=1e-6)
    model, weights, config = through_its_folder(transformers.BertForSequenceClassification(config))
    return {"name": "bert_classifier", "model": "bert", "library": "huggingface", "config": config, "weights": weights,
            "set": {**BERT_SET, "classes": str(CLASSES), "eps": "1e-6"}, "texts": texts()["input_ids"].tolist(),
            **figures(model, lambda m: m(**texts()).logits, ADAMW)}


def bert_embedding():
    """Of a model without a head: the mean over the tokens, of length 1, as sentence-transformers' pooling has it."""
    model, weights, config = through_its_folder(transformers.BertModel(bert_config()))
    model.eval()
    with torch.no_grad():
        mask = texts()["attention_mask"][..., None]
        mean = (model(**texts()).last_hidden_state * mask).sum(1) / mask.sum(1)
    return {"name": "bert_embedding", "model": "bert", "library": "huggingface", "config": config, "weights": weights,
            "set": BERT_SET, "texts": TEXTS, "embeddings": torch.nn.functional.normalize(mean, dim=1).tolist()}


def vit_transformers():
    config = transformers.ViTConfig(hidden_size=24, num_hidden_layers=2, num_attention_heads=3, intermediate_size=40,
                                    image_size=8, patch_size=4, num_labels=CLASSES, qkv_bias=False)
    model, weights, config = through_its_folder(transformers.ViTForImageClassification(config))
    return {"name": "vit_transformers", "model": "vit", "library": "huggingface", "config": config, "weights": weights,
            "set": {"size": "8", "patch": "4", "width": "24", "heads": "3", "layers": "2", "hidden": "40", "classes": str(CLASSES),
                    "qkv_bias": "false", "eps": "1e-12"},
            **figures(model, lambda m: m(pixel_values=images(8)).logits, ADAMW, 0.1)}


def vit_timm():
    model, weights = filled(timm.models.vision_transformer.VisionTransformer(
        img_size=8, patch_size=4, embed_dim=24, depth=2, num_heads=3, num_classes=CLASSES))
    return {"name": "vit_timm", "model": "vit", "library": "timm", "weights": weights,
            "set": {"size": "8", "patch": "4", "width": "24", "heads": "3", "layers": "2", "classes": str(CLASSES)},
            **figures(model, lambda m: m(images(8)), ADAMW, 0.1)}


RESNET_SET = {"n1": "2", "n2": "1", "n3": "1", "n4": "1", "size": "64", "classes": str(CLASSES)}
BLOCKS = [2, 1, 1, 1]


def resnet_torchvision():
    model, weights = filled(torchvision.models.resnet.ResNet(torchvision.models.resnet.Bottleneck, BLOCKS, CLASSES))
    other, same = filled(timm.models.resnet.ResNet(timm.models.resnet.Bottleneck, BLOCKS, CLASSES))
    assert same == weights
    with torch.no_grad():
        assert torch.allclose(other.eval()(images(64)), model.eval()(images(64)), 1e-12)
    return {"name": "resnet_torchvision", "model": "resnet_imagenet", "library": "torchvision", "weights": weights,
            "set": RESNET_SET, **figures(model, lambda m: m(images(64)), MOMENTUM)}


def resnext_with_squeeze():
    model, weights = filled(timm.models.resnet.ResNet(timm.models.resnet.Bottleneck, BLOCKS, CLASSES, cardinality=32,
                                                      base_width=4, block_args={"attn_layer": "se"}))
    return {"name": "resnext_with_squeeze", "model": "se_resnext50", "library": "torchvision", "weights": weights,
            "set": RESNET_SET, **figures(model, lambda m: m(images(64)))}


def main():
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    cases = [bert_classifier(), bert_embedding(), vit_transformers(), vit_timm(), resnet_torchvision(), resnext_with_squeeze()]
    by = ", ".join(f"{module.__name__} {module.__version__}" for module in (transformers, timm, torchvision, torch))
    lines = ",\n".join("  " + json.dumps(case) for case in cases)
    print(f'{{"by": "tests/oracles/hf_encoders.py, {by}",\n "cases": [\n{lines}\n ]}}')


if __name__ == "__main__":
    main()
