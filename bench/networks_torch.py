"""The networks of models/*.json in PyTorch, as functions of (parameters, images NCHW or text). Parameters are a dict in the
order of our weight files, in which the network makes its layers: each layer takes the next group of them."""
import functools
import itertools
import math

import torch
import torch.nn.functional as F


class Layers:
    training = True

    def __init__(self, parameters):
        groups = itertools.groupby(parameters.items(), key=lambda item: item[0].rsplit(".", 1)[0])
        self.groups = iter([{name.rsplit(".", 1)[1]: value for name, value in group} for _, group in groups])

    def conv(self, x, stride=1, pad=0):
        p = next(self.groups)
        return F.conv2d(x, p["weight"], p.get("bias"), stride, pad)

    def fc(self, x):
        p = next(self.groups)
        return F.linear(x, p["weight"], p.get("bias"))

    def weight(self):
        return next(self.groups)["weight"]

    def layer_norm(self, x, eps=1e-5):
        p = next(self.groups)
        return F.layer_norm(x, x.shape[-1:], p["weight"], p.get("bias"), eps)

    def rms_norm(self, x, eps=1e-5):
        return x * (x.square().mean(-1, keepdim=True) + eps).rsqrt() * self.weight()

    def conv_transpose(self, x, stride):
        p = next(self.groups)
        return F.conv_transpose2d(x, p["weight"], p.get("bias"), stride)

    def bn(self, x):
        p = next(self.groups)
        return F.batch_norm(x, p["running_mean"], p["running_var"], p["weight"], p["bias"], self.training, 0.1, 1e-5)


def lenet(parameters, x):
    layers = Layers(parameters)
    x = F.max_pool2d(F.relu(layers.conv(x, pad=2)), 2)
    x = F.max_pool2d(F.relu(layers.conv(x)), 2).flatten(1)
    return layers.fc(F.relu(layers.fc(F.relu(layers.fc(x)))))


def char_lstm(parameters, text):
    """PyTorch's own LSTM on one-hot characters: our rows of input weights are the columns of its matrix."""
    rows, recurrent, bias = (parameters[name] for name in ("inputs.weight", "lstm/do/recurrent.weight", "lstm/do/recurrent.bias"))
    x = F.one_hot(text, rows.shape[0]).to(rows.dtype)
    begin = torch.zeros(1, text.shape[0], recurrent.shape[1], dtype=rows.dtype)
    outputs, _, _ = torch.lstm(x, (begin, begin), (rows.t(), recurrent, torch.zeros_like(bias), bias), True, 1, 0.0, True,
                               False, True)
    return F.linear(outputs.flatten(0, 1), parameters["logits.weight"], parameters["logits.bias"])


def transformer(parameters, text, heads=4):
    layers = Layers(parameters)

    def heads_of(x):
        return layers.fc(x).unflatten(-1, (heads, -1)).transpose(1, 2)

    x = F.embedding(text, layers.weight()) + layers.weight()
    later = torch.ones(text.shape[1], text.shape[1]).triu(1).bool()
    y = layers.layer_norm(x)
    q, k, v = heads_of(y), heads_of(y), heads_of(y)
    scores = (q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])).masked_fill(later, -math.inf)
    x = x + layers.fc((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
    x = x + layers.fc(F.gelu(layers.fc(layers.layer_norm(x))))
    return layers.fc(layers.layer_norm(x)).flatten(0, 1)


def gpt2(parameters, text, heads=12, gelu="tanh", plain=not hasattr(F, "scaled_dot_product_attention")):
    layers = Layers(parameters)
    table = layers.weight()
    x = F.embedding(text, table) + layers.weight()

    def attended(x):
        if plain:
            steps = torch.arange(text.shape[1], device=text.device)
            return attention(x, heads, seen=steps[:, None] >= steps)
        q, k, v = (part.unflatten(-1, (heads, -1)).transpose(1, 2) for part in x.chunk(3, -1))
        return F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)

    for _ in range(depth_of(parameters, "attention/norm.weight")):
        x = x + layers.fc(attended(layers.fc(layers.layer_norm(x))))
        x = x + layers.fc(F.gelu(layers.fc(layers.layer_norm(x)), approximate=gelu))
    return F.linear(layers.layer_norm(x), table).flatten(0, 1)


char_gpt_cpu = functools.partial(gpt2, heads=4, gelu="none")


def attention(x, heads, kv_heads=None, seen=None):
    """By plain products. x: queries, keys and values side by side, [B, T, ...]; seen: which key a row sees."""
    kv_heads = kv_heads or heads
    parts = x.unflatten(-1, (heads + 2 * kv_heads, -1)).transpose(1, 2).split((heads, kv_heads, kv_heads), 1)
    q, k, v = (part.repeat_interleave(heads // part.shape[1], 1) for part in parts)
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if seen is not None:
        scores = scores.masked_fill(~seen, -math.inf)
    return (scores.softmax(-1) @ v).transpose(1, 2).flatten(2)


def depth_of(parameters, last_of_layer):
    return sum(name.endswith(last_of_layer) for name in parameters)


def llama(parameters, text, heads, kv_heads):
    layers = Layers(parameters)
    x = F.embedding(text, layers.weight())
    steps = torch.arange(text.shape[1])

    def rope(x):
        size = x.shape[-1] // (heads + 2 * kv_heads)
        angles = steps[:, None] * 10000.0 ** (-torch.arange(0, size, 2, dtype=x.dtype) / size)
        cos, sin = angles.cos(), angles.sin()
        turned, values = x.unflatten(-1, (-1, size)).transpose(1, 2).split((heads + kv_heads, kv_heads), 1)
        a, b = turned.chunk(2, -1)
        return torch.cat([torch.cat([a * cos - b * sin, b * cos + a * sin], -1), values], 1).transpose(1, 2).flatten(2)

    for _ in range(depth_of(parameters, "attention/norm.weight")):
        x = x + layers.fc(attention(rope(layers.fc(layers.rms_norm(x))), heads, kv_heads, steps[:, None] >= steps))
        y = layers.rms_norm(x)
        x = x + layers.fc(F.silu(layers.fc(y)) * layers.fc(y))
    return layers.fc(layers.rms_norm(x)).flatten(0, 1)


def bert(parameters, text, heads=4):
    layers = Layers(parameters)
    seen = torch.arange(text.shape[1]) < (text > 0).sum(1)[:, None, None, None]
    x = layers.layer_norm(F.embedding(text, layers.weight()) + layers.weight(), 1e-12)
    for _ in range(depth_of(parameters, "qkv.weight")):
        x = layers.layer_norm(x + layers.fc(attention(layers.fc(x), heads, seen=seen)), 1e-12)
        x = layers.layer_norm(x + layers.fc(F.gelu(layers.fc(x))), 1e-12)
    return layers.fc(layers.fc(x[:, 0]).tanh())


def vit(parameters, x, heads, patch=4):
    layers = Layers(parameters)
    x = layers.conv(x, patch).flatten(2).transpose(1, 2)
    has_class_token = any(name.endswith("class.weight") for name in parameters)
    if has_class_token:
        x = torch.cat([layers.weight().expand(len(x), 1, -1), x], 1)
    x = x + layers.weight()
    for _ in range(depth_of(parameters, "attention/norm.weight")):
        x = x + layers.fc(attention(layers.fc(layers.layer_norm(x, 1e-6)), heads))
        x = x + layers.fc(F.gelu(layers.fc(layers.layer_norm(x, 1e-6))))
    x = layers.layer_norm(x, 1e-6)
    return layers.fc(x[:, 0] if has_class_token else x.mean(1))


vit_tiny = functools.partial(vit, heads=3)


def mlp_mixer(parameters, x, patch=4, depth=2):
    layers = Layers(parameters)

    def mlp(x):
        return layers.fc(F.gelu(layers.fc(x)))

    x = layers.conv(x, patch).flatten(2).transpose(1, 2)
    for _ in range(depth):
        x = x + mlp(layers.layer_norm(x).transpose(1, 2)).transpose(1, 2)
        x = x + mlp(layers.layer_norm(x))
    return layers.fc(layers.layer_norm(x).mean(1))


def unet(parameters, x):
    layers = Layers(parameters)

    def double(x):
        for _ in range(2):
            x = F.relu(layers.bn(layers.conv(x, pad=1)))
        return x

    down1 = double(x)
    down2 = double(F.max_pool2d(down1, 2))
    x = double(F.max_pool2d(down2, 2))
    x = double(torch.cat([down2, layers.conv_transpose(x, 2)], 1))
    x = double(torch.cat([down1, layers.conv_transpose(x, 2)], 1))
    return layers.conv(x).permute(0, 2, 3, 1).flatten(0, 2)


def resnet_cifar(n):
    def network(parameters, x):
        layers = Layers(parameters)
        x = F.relu(layers.bn(layers.conv(x, pad=1)), inplace=True)
        for stage, block in itertools.product(range(3), range(n)):
            stride = 2 if stage > 0 and block == 0 else 1
            y = F.relu(layers.bn(layers.conv(x, stride, 1)), inplace=True)
            y = layers.bn(layers.conv(y, 1, 1))
            if stride == 2:
                more = y.shape[1] - x.shape[1]
                x = F.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, more // 2, more - more // 2))
            x = F.relu(y.add_(x), inplace=True)
        return layers.fc(x.mean((2, 3)))

    return network


resnet20, resnet110 = resnet_cifar(3), resnet_cifar(18)


def alexnet(parameters, x):
    layers = Layers(parameters)
    x = F.max_pool2d(F.relu(layers.conv(x, 4, 2)), 3, 2)
    x = F.max_pool2d(F.relu(layers.conv(x, 1, 2)), 3, 2)
    for _ in range(3):
        x = F.relu(layers.conv(x, 1, 1))
    x = F.max_pool2d(x, 3, 2).flatten(1)
    return layers.fc(F.relu(layers.fc(F.relu(layers.fc(x)))))


def vgg(*stages):
    def network(parameters, x):
        layers = Layers(parameters)
        for convolutions in stages:
            for _ in range(convolutions):
                x = F.relu(layers.conv(x, 1, 1))
            x = F.max_pool2d(x, 2)
        return layers.fc(F.relu(layers.fc(F.relu(layers.fc(x.flatten(1))))))

    return network


vgg_a, vgg16 = vgg(1, 1, 2, 2, 2), vgg(2, 2, 3, 3, 3)


def resnet50(parameters, x):
    layers = Layers(parameters)

    def conv_bn(x, stride=1, pad=0):
        return layers.bn(layers.conv(x, stride, pad))

    x = F.max_pool2d(F.relu(conv_bn(x, 2, 3)), 3, 2, 1)
    for stage, blocks in enumerate((3, 4, 6, 3)):
        for block in range(blocks):
            stride = 2 if stage > 0 and block == 0 else 1
            y = F.relu(conv_bn(F.relu(conv_bn(x)), stride, 1))
            y = conv_bn(y)
            x = F.relu(y + (conv_bn(x, stride) if block == 0 else x))
    return layers.fc(x.mean((2, 3)))


def googlenet(parameters, x):
    layers = Layers(parameters)

    def conv_relu(x, stride=1, pad=0):
        return F.relu(layers.conv(x, stride, pad))

    def inception(x):
        a = conv_relu(x)
        b = conv_relu(conv_relu(x), 1, 1)
        c = conv_relu(conv_relu(x), 1, 2)
        return torch.cat([a, b, c, conv_relu(F.max_pool2d(x, 3, 1, 1))], 1)

    def halve(x):
        return F.max_pool2d(x, 3, 2, ceil_mode=True)

    x = F.local_response_norm(halve(conv_relu(x, 2, 3)), 5)
    x = halve(F.local_response_norm(conv_relu(conv_relu(x), 1, 1), 5))
    for stage, blocks in enumerate((2, 5, 2)):
        x = x if stage == 0 else halve(x)
        for _ in range(blocks):
            x = inception(x)
    return layers.fc(x.mean((2, 3)))
