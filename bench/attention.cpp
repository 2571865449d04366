// Attention alone, f32, of one packed input as networks have it: median seconds of the forward part and of the
// gradient, and the bytes that it takes beside inputs and outputs, as JSON. bench/attention.py runs it beside
// PyTorch's.
#include "kernels/attention/attention.h"

#include <cmath>
#include <cstdlib>

#include "bench/bench.h"
#include "kernels/cpu/workers.h"

using namespace lethe;

namespace {

constexpr int kThreads = 2;

std::vector<float> numbers(std::int64_t count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  std::uint32_t state = 1;
  for (float& value : values) value = static_cast<float>((state = state * 1664525U + 1013904223U) >> 8) * 0x1p-23F - 1;
  return values;
}

void run(const AttentionShape& s, int runs) {
  const Workers workers(kThreads);
  const auto forward = prepare_attention_cpu(s, DType::f32, kThreads);
  const auto backward = prepare_attention_grad_cpu(s, DType::f32, kThreads);
  const std::int64_t workspace = std::max(forward->workspace_bytes(), backward->workspace_bytes());
  void* const memory = std::aligned_alloc(64, static_cast<std::size_t>(round_up(workspace, 64)));
  std::vector<float> qkv = numbers(s.rows * s.width_of_q()), dy = numbers(s.rows * s.heads * s.size);
  std::vector<float> y = dy, lse(static_cast<std::size_t>(s.heads * s.rows)), dqkv = qkv;
  void* in[] = {qkv.data(), nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, y.data(), lse.data(), dy.data()};
  void *out[] = {y.data(), lse.data()}, *gradients[] = {dqkv.data()};
  const auto seconds = [&](const Kernel& kernel, void** outputs) {
    return median_seconds(runs, [&] { kernel.run({.inputs = in, .outputs = outputs, .workspace = memory}); });
  };
  const double of_forward = seconds(*forward, out), of_backward = seconds(*backward, gradients);
  std::free(memory);
  std::cout << "{\"forward\": " << of_forward << ", \"backward\": " << of_backward << ", \"workspace\": " << workspace
            << ", \"kept\": " << lse.size() * sizeof(float) << "}\n";
}

}  // namespace

int main(int argc, char** argv) {
  AttentionShape s{.batch = 1, .rows = 4096, .heads = 12, .size = 64, .packed = true};
  int runs = 3;
  CLI::App app{"Attention alone, f32", "bench_attention"};
  app.add_option("--length", s.rows)->check(CLI::PositiveNumber);
  app.add_option("--heads", s.heads)->check(CLI::PositiveNumber);
  app.add_option("--size", s.size)->check(CLI::PositiveNumber);
  app.add_option("--runs", runs)->check(CLI::PositiveNumber);
  app.add_flag("--causal", s.causal, "each row sees no later key");
  return run_program(app, argc, argv, [&] {
    s.keys = s.rows;
    s.kv_heads = s.heads;
    s.scale = 1 / std::sqrt(static_cast<double>(s.size));
    run(s, runs);
  });
}
