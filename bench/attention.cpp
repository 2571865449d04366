// Attention alone, f32, of one packed input as networks have it: median seconds of the forward part and of the
// gradient, and the bytes that it takes beside inputs and outputs, as JSON. bench/attention.py runs it beside
// PyTorch's.
//   bench_attention LENGTH HEADS SIZE CAUSAL [RUNS]
#include "kernels/attention/attention.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <vector>

#include "kernels/cpu/workers.h"

namespace lethe {
namespace {

constexpr int kThreads = 2;

std::vector<float> numbers(std::int64_t count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  std::uint32_t state = 1;
  for (float& value : values) value = static_cast<float>((state = state * 1664525U + 1013904223U) >> 8) * 0x1p-23F - 1;
  return values;
}

double seconds(const Kernel& kernel, const KernelArgs& args) {
  const auto begin = std::chrono::steady_clock::now();
  kernel.run(args);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void run(const AttentionShape& s, int runs) {
  const Workers workers(kThreads);
  const auto forward = prepare_attention_cpu(s, DType::f32, kThreads);
  const auto backward = prepare_attention_grad_cpu(s, DType::f32, kThreads);
  const std::int64_t workspace = std::max(forward->workspace_bytes(), backward->workspace_bytes());
  void* const memory = std::aligned_alloc(64, static_cast<std::size_t>(round_up(workspace, 64)));
  std::vector<float> qkv = numbers(s.rows * s.width_of_q()), dy = numbers(s.rows * s.heads * s.size);
  std::vector<float> y = dy, lse(static_cast<std::size_t>(s.heads * s.rows)), dqkv = qkv;
  void* in[] = {qkv.data(), nullptr, nullptr, nullptr, nullptr, y.data(), lse.data(), dy.data()};
  void *out[] = {y.data(), lse.data()}, *gradients[] = {dqkv.data()};
  std::vector<double> of_forward, of_backward;
  for (int i = 0; i <= runs; ++i) {  // the first warms up
    const double first = seconds(*forward, {.inputs = in, .outputs = out, .workspace = memory});
    const double second = seconds(*backward, {.inputs = in, .outputs = gradients, .workspace = memory});
    if (i > 0) of_forward.push_back(first), of_backward.push_back(second);
  }
  std::free(memory);
  std::cout << "{\"forward\": " << median(of_forward) << ", \"backward\": " << median(of_backward)
            << ", \"workspace\": " << workspace << ", \"kept\": " << lse.size() * sizeof(float) << "}\n";
}

}  // namespace
}  // namespace lethe

int main(int count, char** words) {
  if (count < 5) return std::cerr << "bench_attention LENGTH HEADS SIZE CAUSAL [RUNS]\n", 2;
  const auto number = [&](int i) { return std::atoll(words[i]); };
  const std::int64_t length = number(1), heads = number(2), size = number(3);
  lethe::run({.batch = 1,
              .rows = length,
              .keys = length,
              .heads = heads,
              .kv_heads = heads,
              .size = size,
              .scale = 1 / std::sqrt(static_cast<double>(size)),
              .causal = number(4) != 0,
              .packed = true},
             count > 5 ? static_cast<int>(number(5)) : 3);
  return 0;
}
