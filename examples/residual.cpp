// A residual network, block by block, that learns to tell bars from squares and discs in noise.
#include <cmath>
#include <cstdio>
#include <vector>

#include "framework/autodiff.h"
#include "framework/builder.h"
#include "framework/executor.h"
#include "framework/random.h"
#include "kernels/cpu/device.h"
#include "optimizer/optimizer.h"

using namespace lethe;

constexpr int kBatch = 32, kSize = 16, kClasses = 3;

/// relu(x + conv(relu(conv(x)))), each with batch norm; where the size halves, zeros fill the new channels.
VarId residual(Builder& net, VarId x, int channels, int stride, const std::string& path) {
  const Attrs first{{"out", channels}, {"k", 3}, {"stride", stride}, {"bias", false}};
  const Attrs second{{"out", channels}, {"k", 3}, {"bias", false}};
  VarId y = net.layer("bn", net.layer("conv", x, first, path + "/conv1"), {}, path + "/bn1");
  y = net.layer("relu", y, {}, path + "/relu1");
  y = net.layer("bn", net.layer("conv", y, second, path + "/conv2"), {}, path + "/bn2");
  if (stride > 1) x = net.layer("pad_channels", x, {{"out", channels}, {"stride", stride}}, path + "/shortcut");
  return net.layer("relu", net.layer("add", {y, x}, {}, path + "/sum"), {}, path + "/relu2");
}

/// An image of one figure (0: a bar, 1: a square, 2: a disc) at a random place, in noise.
void draw(Random& random, std::int32_t figure, float* pixels) {
  const double row = 4 + 8 * random.uniform(), column = 4 + 8 * random.uniform();
  for (int i = 0; i < kSize * kSize; ++i) {
    const double down = std::abs(i / kSize - row), right = std::abs(i % kSize - column);
    const bool inside = figure == 0   ? down < 1.5 && right < 4.5
                        : figure == 1 ? down < 3 && right < 3
                                      : down * down + right * right < 12;
    pixels[i] = static_cast<float>((inside ? 1 : 0) + 0.6 * (random.uniform() - 0.5));
  }
}

int main() {
  Builder net({.batch = kBatch});
  const VarId image = net.input("image", {kSize, kSize, 1}), label = net.input("label", {}, DType::i32);
  VarId x = net.layer("relu", net.layer("conv", image, {{"out", 8}, {"k", 3}}));
  x = residual(net, x, 8, 1, "block1");
  x = residual(net, x, 16, 2, "block2");
  net.loss("cross_entropy", net.layer("fc", net.layer("global_avg_pool", x), {{"out", kClasses}}, "logits"), label);
  Network network = net.finish();
  const auto gradients = append_backward(network.program, network.loss);
  const Updates updates = append_updates(network.program, gradients, network.params, optimizer_named("momentum"));

  const auto device = open_cpu(1);
  Prepared prepared(*device);
  const Plan plan = plan_none(network.program, workspaces_of(network.program, prepared));
  Store store(*device);
  Executor executor(network.program, plan, prepared, store);
  store.initialize(network.program, network.params, 1);

  Random random(1);
  std::vector<float> images(kBatch * kSize * kSize);
  std::vector<std::int32_t> labels(kBatch);
  double loss = 0;
  for (int step = 1; step <= 100; ++step) {
    for (int i = 0; i < kBatch; ++i) draw(random, labels[i] = random.below(kClasses), &images[i * kSize * kSize]);
    const float rate = 0.05f * (1 - step / 101.0f);
    executor.feed(image, images.data(), images.size() * sizeof(float));
    executor.feed(label, labels.data(), kBatch * sizeof(std::int32_t));
    executor.feed(updates.learning_rate, &rate, sizeof rate);
    executor.run();
    loss = 0.9 * loss + 0.1 * executor.fetch_scalar(network.loss);
    if (step % 25 == 0) std::printf("step %3d  loss %.4f\n", step, loss);
  }
  return loss < 0.3 ? 0 : 1;
}
