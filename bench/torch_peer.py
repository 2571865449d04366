"""PyTorch's side of the measurements: imported in processes of its own alone (peers.peer)."""
import time

import torch
import torch.nn.functional as F

import networks_torch
import safetensors


def adamw(parameters, **settings):
    """The fastest form that there is."""
    try:
        return torch.optim.AdamW(parameters, fused=True, **settings)
    except (TypeError, RuntimeError):
        return torch.optim.AdamW(parameters, foreach=True, **settings)


def parameters_of(weights, place=torch.Tensor.contiguous, training=True):
    """All tensors of a file of weights, by name; and those of them that are trained."""
    p = {name: place(torch.tensor(value)) for name, value in safetensors.read(weights).items()}
    return p, [value.requires_grad_(training) for name, value in p.items() if "running_" not in name]


def batch_of(fed):
    """Inputs and labels: of a file, or random ones of so many classes; images NHWC in the file."""
    if isinstance(fed, str):
        x, t = (torch.tensor(value) for value in safetensors.read(fed).values())
        return (x.permute(0, 3, 1, 2) if x.dim() == 4 else x.long()), t.long().flatten()
    shape, classes = fed
    if len(shape) == 2:
        return tuple(torch.randint(0, classes, count) for count in (shape, (shape[0] * shape[1],)))
    return torch.randn(shape), torch.randint(0, classes, shape[:1])


def stepper(network, weights, fed, way, rate, optimizer, device="cpu", threads=2, keep_gradients=False):
    """A function that makes one step and gives its loss. `way`: words of f32, tf32, bf16 (under autocast), channels_last,
    compile, inference."""
    words = way.split()
    torch.set_num_threads(threads)
    training = networks_torch.Layers.training = "inference" not in words
    torch.set_grad_enabled(training)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = "tf32" in words
    layout = torch.channels_last if "channels_last" in words else torch.contiguous_format

    def place(value):
        value = value.to(device)
        return value.contiguous(memory_format=layout) if value.dim() == 4 else value

    p, trained = parameters_of(weights, place, training)
    x, t = (place(value) for value in batch_of(fed))
    if optimizer == "adamw":
        update = adamw(trained, lr=rate, weight_decay=0)
    else:
        update = torch.optim.SGD(trained, lr=rate, momentum=0.9)

    def compute():
        with torch.autocast(device, torch.bfloat16, enabled="bf16" in words):
            return F.cross_entropy(getattr(networks_torch, network)(p, x).float(), t)

    compute = torch.compile(compute) if "compile" in words else compute

    def once():
        update.zero_grad(set_to_none=not keep_gradients)
        loss = compute()
        if training:
            loss.backward()
            update.step()
        return loss.item()
    return once


def timed(once, steps):
    """Seconds and losses of so many steps."""
    found = {"seconds": [], "losses": [], "version": torch.__version__}
    for _ in range(steps):
        begin = time.perf_counter()
        found["losses"].append(once())
        found["seconds"].append(time.perf_counter() - begin)
    return found


def steps(count, device, *arguments):
    """So many steps of a stepper, and what they reserved of a GPU."""
    torch.manual_seed(0)
    device = "cuda" if device != "cpu" and torch.cuda.is_available() else "cpu"
    found = timed(stepper(*arguments, device=device), count)
    return {**found, "bytes": torch.cuda.max_memory_reserved() if device == "cuda" else 0}
