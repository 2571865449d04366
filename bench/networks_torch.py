"""The networks of models/*.json in PyTorch, as functions of a dict of parameters named as ours are."""
import torch
import torch.nn.functional as F


def lenet(p, x):
    x = F.max_pool2d(F.relu(conv(p, "conv1", x, pad=2)), 2)
    x = F.max_pool2d(F.relu(conv(p, "conv2", x)), 2).flatten(1)
    x = F.relu(fc(p, "fc1", x))
    x = F.relu(fc(p, "fc2", x))
    return fc(p, "logits", x)


def conv(p, name, x, stride=1, pad=0, groups=1):
    return F.conv2d(x, p[name + ".weight"], p.get(name + ".bias"), stride, pad, 1, groups)


def fc(p, name, x):
    return F.linear(x, p[name + ".weight"], p.get(name + ".bias"))


def bn(p, name, x):
    return F.batch_norm(x, p[name + ".running_mean"], p[name + ".running_var"], p[name + ".weight"], p[name + ".bias"], True, 0.1, 1e-5)
