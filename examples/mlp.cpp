// Two interleaved spirals told apart by a small network: the whole way from layers to a trained model.
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

constexpr int kBatch = 128;

struct Samples {
  std::vector<float> points;         // [kBatch, 2]
  std::vector<std::int32_t> labels;  // [kBatch]: which spiral
};

Samples draw_spirals(Random& random) {
  Samples samples;
  for (int i = 0; i < kBatch; ++i) {
    const int spiral = static_cast<int>(random.below(2));
    const double along = random.uniform(), angle = 3.14159265 * (2.5 * along + spiral);
    samples.points.push_back(static_cast<float>(2 * along * std::cos(angle)));
    samples.points.push_back(static_cast<float>(2 * along * std::sin(angle)));
    samples.labels.push_back(spiral);
  }
  return samples;
}

int main() {
  // The network: layers by name, with the settings that network files have.
  Builder net({.batch = kBatch});
  const VarId point = net.input("point", {2});
  VarId x = point;
  for (int i = 0; i < 2; ++i) x = net.layer("relu", net.layer("fc", x, {{"out", 64}}));
  const VarId label = net.input("label", {}, DType::i32);
  net.loss("cross_entropy", net.layer("fc", x, {{"out", 2}}, "logits"), label);
  Network network = net.finish();

  // Gradients and updates are ops of the same program.
  const auto gradients = append_backward(network.program, network.loss);
  const Updates updates = append_updates(network.program, gradients, network.params, optimizer_named("adam"));

  // Kernels are chosen, memory is planned, addresses are bound: once.
  const auto device = open_cpu(1);
  Prepared prepared(*device);
  const Plan plan = plan_none(network.program, workspaces_of(network.program, prepared));
  Store store(*device);
  Executor executor(network.program, plan, prepared, store);
  store.initialize(network.program, network.params, 1);

  Random random(1);
  const float rate = 0.01f;
  double right = 0;
  for (int step = 1; step <= 600; ++step) {
    const Samples samples = draw_spirals(random);
    executor.feed(point, samples.points.data(), kBatch * 2 * sizeof(float));
    executor.feed(label, samples.labels.data(), kBatch * sizeof(std::int32_t));
    executor.feed(updates.learning_rate, &rate, sizeof rate);
    executor.run();
    std::vector<std::uint8_t> correct(kBatch);
    executor.fetch(network.correct, correct.data(), kBatch);
    for (const std::uint8_t one : correct) right += one / (50.0 * kBatch);
    if (step % 50 != 0) continue;
    std::printf("step %3d  loss %.4f  right %.1f %%\n", step, executor.fetch_scalar(network.loss), 100 * right);
    if (step < 600) right = 0;
  }
  return right > 0.97 ? 0 : 1;
}
