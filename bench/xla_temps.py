#!/usr/bin/env python3
"""Bytes of temporaries of a training step as XLA compiles it, beside the arenas of level 2 and 3.

    bench/xla_temps.py [--train TRAIN] --python PYTHON [resnet20:128 resnet110:128 resnet50:16 vgg_a:16]

PYTHON is an interpreter that has JAX for CPUs. The step there is the same: softmax cross-entropy, SGD with momentum,
parameters and momentum donated; its figure is memory_analysis().temp_size_in_bytes. Nothing runs on either side."""
import time

import peers
from tables import MIB, Table


def xla_temps(name, batch):
    import jax
    import jax.numpy as jnp
    from jax import lax

    class Layers:
        """Makes parameters in the order in which they are asked for, or reads them."""

        def __init__(self, given=None):
            self.shapes, self.given = [], given

        def weight(self, *shape):
            self.shapes.append(shape)
            return jnp.zeros(shape) if self.given is None else self.given[len(self.shapes) - 1]

        def conv(self, x, out, k=1, stride=1):
            return lax.conv_general_dilated(x, self.weight(k, k, x.shape[-1], out), (stride, stride), [(k // 2, k // 2)] * 2,
                                            dimension_numbers=("NHWC", "HWIO", "NHWC"))

        def conv_bn(self, x, out, k=1, stride=1):
            x = self.conv(x, out, k, stride)
            mean = x.mean((0, 1, 2))
            scale = self.weight(out) * lax.rsqrt(((x - mean) ** 2).mean((0, 1, 2)) + 1e-5)
            return (x - mean) * scale + self.weight(out)

        def fc(self, x, out):
            return x @ self.weight(x.shape[-1], out) + self.weight(out)

    def pool(x, k, stride, padding):
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, k, k, 1), (1, stride, stride, 1),
                                 [(0, 0), (padding, padding), (padding, padding), (0, 0)])
    relu = jax.nn.relu

    def resnet_cifar(layers, x):
        x = relu(layers.conv_bn(x, 16, 3))
        for stage in range(3):
            for block in range((int(name[6:]) - 2) // 6):
                stride, out = 2 if stage > 0 and block == 0 else 1, 16 << stage
                y = layers.conv_bn(relu(layers.conv_bn(x, out, 3, stride)), out, 3)
                if stride == 2:
                    more = out - x.shape[-1]
                    x = jnp.pad(x[:, ::2, ::2], ((0, 0), (0, 0), (0, 0), (more // 2, more - more // 2)))
                x = relu(x + y)
        return layers.fc(x.mean((1, 2)), 10)

    def resnet50(layers, x):
        x = pool(relu(layers.conv_bn(x, 64, 7, 2)), 3, 2, 1)
        for stage, blocks in enumerate((3, 4, 6, 3)):
            for block in range(blocks):
                stride, width = 2 if stage > 0 and block == 0 else 1, 64 << stage
                y = relu(layers.conv_bn(relu(layers.conv_bn(x, width)), width, 3, stride))
                y = layers.conv_bn(y, 4 * width)
                x = relu(y + (layers.conv_bn(x, 4 * width, 1, stride) if block == 0 else x))
        return layers.fc(x.mean((1, 2)), 1000)

    def vgg_a(layers, x):
        for widths in ((64,), (128,), (256, 256), (512, 512), (512, 512)):
            for width in widths:
                x = layers.conv(x, width, 3)
                x = relu(x + layers.weight(width))
            x = pool(x, 2, 2, 0)
        x = x.reshape(x.shape[0], -1)
        return layers.fc(relu(layers.fc(relu(layers.fc(x, 4096)), 4096)), 1000)

    network = {"resnet50": resnet50, "vgg_a": vgg_a}.get(name, resnet_cifar)
    size = 32 if network is resnet_cifar else 224
    images = jax.ShapeDtypeStruct((batch, size, size, 3), jnp.float32)
    first = Layers()
    jax.eval_shape(lambda x: network(first, x), images)
    parameters = [jax.ShapeDtypeStruct(shape, jnp.float32) for shape in first.shapes]

    def step(parameters, momentum, x, label):
        def loss(given):
            scores = jax.nn.log_softmax(network(Layers(given), x))
            return -jnp.take_along_axis(scores, label[:, None], 1).mean()
        value, gradients = jax.value_and_grad(loss)(parameters)
        momentum = [0.9 * m + g for m, g in zip(momentum, gradients)]
        return [p - 0.01 * m for p, m in zip(parameters, momentum)], momentum, value

    begin, labels = time.time(), jax.ShapeDtypeStruct((batch,), jnp.int32)
    compiled = jax.jit(step, donate_argnums=(0, 1)).lower(parameters, parameters, images, labels).compile()
    return {"temps": compiled.memory_analysis().temp_size_in_bytes, "seconds": time.time() - begin, "version": jax.__version__}


def main():
    parser = peers.parser(__doc__, python=True)
    parser.add_argument("networks", nargs="*", default=["resnet20:128", "resnet110:128", "resnet50:16", "vgg_a:16"],
                        metavar="NETWORK:BATCH")
    args = parser.parse_args()
    settings = {"level=2": [], "level=3, 5 %": ["--overhead", "5%"], "level=3": []}
    table = Table("network, batch", ("XLA's temporaries, MiB", "{:.1f}"),
                  *(column for setting in settings for column in ((setting, "{:.1f}"), ("ratio", "{:.2f}"))),
                  ("XLA compiles, s", "{:.1f}"))
    for network, batch in (pair.split(":") for pair in args.networks):
        xla = peers.peer(args.python, xla_temps, network, int(batch))
        arenas = [peers.plan(args.train, network, "--batch", batch, "--memopt", setting.split(",")[0], *more)["arena"]
                  for setting, more in settings.items()]
        table.row(f"{network}, {batch}", xla["temps"] / MIB,
                  *(cell for arena in arenas for cell in (arena / MIB, arena / xla["temps"])), xla["seconds"])
    print(f"\nJAX {xla['version']}")


if __name__ == "__main__":
    peers.start(main)
