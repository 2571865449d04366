// Single convolutions by each algorithm that serves them: time and GFLOP/s, nominal ones of Winograd's.
//   bench_convolutions --only 'weight gradient.*1x1'
#include <cstdio>
#include <cstdlib>

#include "bench/bench.h"
#include "kernels/conv/providers.h"
#include "kernels/cpu/workers.h"

using namespace lethe;

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

std::shared_ptr<float> memory_of(std::int64_t bytes) {
  const auto padded = static_cast<std::size_t>(round_up(bytes + 1, 64));
  std::shared_ptr<float> made(static_cast<float*>(std::aligned_alloc(64, padded)), std::free);
  std::fill_n(made.get(), padded / sizeof(float), 0.5F);
  return made;
}

void measure(const std::string& name, const ConvShape& s, const Kernel& kernel, int runs) {
  const auto most = std::max({x_size(s), y_size(s), weight_size(s)}) * std::int64_t{sizeof(float)};
  const auto a = memory_of(most), b = memory_of(most), c = memory_of(most),
             workspace = memory_of(kernel.workspace_bytes());
  void *in[] = {a.get(), b.get()}, *out = c.get();
  const double seconds =
      median_seconds(runs, [&] { kernel.run({.inputs = in, .outputs = &out, .workspace = workspace.get()}); });
  const double gflop = 2e-9 * static_cast<double>(y_size(s) * s.kernel[0] * s.kernel[1] * s.channels);
  std::printf("| %s | %s | %.3f | %.0f |\n", name.c_str(), kernel.implementation().c_str(), 1e3 * seconds,
              gflop / seconds);
  std::fflush(stdout);
}

/// Those of a case whose names match.
void measure_all(const Case& c, ConvPass pass, const char* name, const std::regex& only, int runs) {
  const ConvShape s = shape_of(c);
  const std::string title = message(name, ' ', c.batch, 'x', c.size, 'x', c.size, 'x', c.channels, '>', c.filters, ' ',
                                    c.kernel, 'x', c.kernel, c.stride > 1 ? "s2" : "");
  if (!std::regex_search(title, only)) return;
  const auto with = [&](const std::shared_ptr<Kernel>& kernel) {
    if (kernel) measure(title, s, *kernel, runs);
  };
  if (has_onednn())
    with(prepare_conv(pass, s, {}, DType::f32, {.threads = kThreads, .winograd = false}, Provider::OneDnn));
  with(prepare_conv_winograd(pass, s, false, DType::f32, kThreads));
  with(prepare_conv_pointwise(pass, s, false, DType::f32, {.threads = kThreads}));
  with(prepare_conv_im2col(pass, s, false, DType::f32, kThreads));
}

}  // namespace

int main(int argc, char** argv) {
  std::string only = ".";
  int runs = 11;
  CLI::App app{"Single convolutions by each algorithm that serves them", "bench_convolutions"};
  app.add_option("--only", only, "a regular expression for the convolutions to measure");
  app.add_option("--runs", runs)->check(CLI::PositiveNumber);
  return run_program(app, argc, argv, [&] {
    const Workers workers(kThreads);
    const std::regex wanted = regex_of(only);
    std::printf("| convolution | kernel | ms | GFLOP/s |\n|---|---|---:|---:|\n");
    for (const Case& c : kCases) {
      measure_all(c, ConvPass::Forward, "forward", wanted, runs);
      measure_all(c, ConvPass::GradInput, "input gradient", wanted, runs);
      measure_all(c, ConvPass::GradWeight, "weight gradient", wanted, runs);
    }
  });
}
