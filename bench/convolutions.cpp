// Single convolutions in each way that serves them, by Google Benchmark: time and GFLOP/s, nominal ones of Winograd's.
//   bench_convolutions --benchmark_filter='weight gradient.*1x1'
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>

#include "framework/error.h"
#include "kernels/conv/providers.h"
#include "kernels/cpu/workers.h"

namespace lethe {
namespace {

constexpr int kThreads = 2;

struct Case {
  std::int64_t batch, size, channels, filters, kernel, stride = 1;
};
/// Of resnet50 and googlenet at batch 16, resnet20 at 128.
constexpr Case kCases[] = {
    {16, 56, 64, 64, 1},      {16, 56, 64, 256, 1},    {16, 56, 256, 64, 1},  {16, 56, 256, 128, 1},
    {16, 28, 128, 512, 1},    {16, 28, 512, 128, 1},   {16, 28, 256, 32, 1},  {16, 28, 512, 256, 1},
    {16, 14, 256, 1024, 1},   {16, 14, 1024, 256, 1},  {16, 14, 512, 24, 1},  {16, 14, 528, 160, 1},
    {16, 14, 1024, 512, 1},   {16, 7, 512, 2048, 1},   {16, 7, 2048, 512, 1}, {16, 7, 832, 256, 1},
    {16, 56, 64, 64, 3},      {16, 28, 128, 128, 3},   {16, 14, 256, 256, 3}, {16, 7, 512, 512, 3},
    {16, 56, 128, 128, 3, 2}, {16, 28, 16, 32, 5},     {128, 32, 3, 16, 3},   {128, 32, 16, 16, 3},
    {128, 16, 32, 32, 3},     {128, 32, 16, 32, 3, 2},
};

ConvShape shape_of(const Case& c) {
  const std::int64_t pad = c.kernel / 2, out = (c.size + 2 * pad - c.kernel) / c.stride + 1;
  return {.batch = c.batch,
          .channels = c.channels,
          .filters = c.filters,
          .in = {c.size, c.size},
          .out = {out, out},
          .kernel = {c.kernel, c.kernel},
          .stride = {c.stride, c.stride},
          .pad = {pad, pad}};
}

void run(benchmark::State& state, const ConvShape& s, const std::shared_ptr<Kernel>& kernel) {
  const Workers workers(kThreads);
  const auto memory = [](std::int64_t bytes) {
    const auto padded = static_cast<std::size_t>(round_up(bytes + 1, 64));
    std::shared_ptr<float> made(static_cast<float*>(std::aligned_alloc(64, padded)), std::free);
    std::fill_n(made.get(), padded / sizeof(float), 0.5F);
    return made;
  };
  const auto most = std::max({x_size(s), y_size(s), weight_size(s)}) * std::int64_t{sizeof(float)};
  const auto a = memory(most), b = memory(most), c = memory(most), workspace = memory(kernel->workspace_bytes());
  void *in[] = {a.get(), b.get()}, *out = c.get();
  for (auto _ : state) kernel->run({.inputs = in, .outputs = &out, .workspace = workspace.get()});
  const double gflop = 2e-9 * static_cast<double>(y_size(s) * s.kernel[0] * s.kernel[1] * s.channels);
  state.SetLabel(kernel->implementation());
  state.counters["GFLOP/s"] = benchmark::Counter(gflop, benchmark::Counter::kIsIterationInvariantRate);
}

void add(const Case& c, ConvPass pass, const char* name) {
  const ConvShape s = shape_of(c);
  const Workers workers(kThreads);
  const auto with = [&](const char* way, std::shared_ptr<Kernel> kernel) {
    if (!kernel) return;
    const std::string title = message(name, '/', c.batch, 'x', c.size, 'x', c.size, 'x', c.channels, '>', c.filters,
                                      ' ', c.kernel, 'x', c.kernel, c.stride > 1 ? "s2" : "", '/', way);
    benchmark::RegisterBenchmark(title.c_str(), [=](benchmark::State& state) { run(state, s, kernel); })
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
  };
  if (has_onednn())
    with("onednn", prepare_conv(pass, s, {}, DType::f32, {.threads = kThreads, .winograd = false}, Provider::OneDnn));
  with("winograd", prepare_conv_winograd(pass, s, false, DType::f32, kThreads));
  with("product", prepare_conv_pointwise(pass, s, false, DType::f32, {.threads = kThreads}));
  with("im2col", prepare_conv_im2col(pass, s, false, DType::f32, kThreads));
}

}  // namespace
}  // namespace lethe

int main(int argc, char** argv) {
  using namespace lethe;
  for (const Case& c : kCases) {
    add(c, ConvPass::Forward, "forward");
    add(c, ConvPass::GradInput, "input gradient");
    add(c, ConvPass::GradWeight, "weight gradient");
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
}
