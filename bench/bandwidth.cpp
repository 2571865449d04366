// How fast each memory-bound kernel moves memory, beside a plain copy: one training step through a network of such
// layers on large tensors, each kernel of which is run again and again. Prints a Markdown table.
//   bench_bandwidth [--device cuda] [--mib 256]
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <map>

#include "framework/autodiff.h"
#include "framework/builder.h"
#include "framework/executor.h"
#include "framework/op_def.h"
#include "optimizer/optimizer.h"
#include "train/session/device.h"

using namespace lethe;

namespace {

constexpr int kRuns = 20;
constexpr std::int64_t kSide = 56, kChannels = 64;

/// Bytes that a kernel must move at least, and the seconds that one run of it takes.
struct Rate {
  std::int64_t bytes = 0;
  double seconds = 0;
  double gigabytes() const { return static_cast<double>(bytes) / seconds * 1e-9; }
};

Rate rate_of(const Program& program, const Op& op, const Kernel& kernel, const KernelArgs& args, Device& device) {
  Rate rate{.bytes = bytes_moved(program, op)};
  const auto run = [&](int times) {
    device.compute([&] {
      for (; times > 0; --times) kernel.run(args);
    });
    device.synchronize();
  };
  run(1);
  const auto begin = std::chrono::steady_clock::now();
  run(kRuns);
  rate.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / kRuns;
  return rate;
}

/// The rate of the op of each type that moves most.
class Rates final : public Observer {
 public:
  Rates(const Program& program, Prepared& prepared, Device& device)
      : program_(program), prepared_(prepared), device_(device) {}
  void after(const Op& op, const KernelArgs& args) override {
    if (op.type == "embedding") return;  // reads only the rows that are asked for
    const Rate rate = rate_of(program_, op, prepared_.kernel(program_, op), args, device_);
    if (rate.bytes > by_type[op.type].bytes) by_type[op.type] = rate;
  }
  std::map<std::string, Rate> by_type;

 private:
  const Program& program_;
  Prepared& prepared_;
  Device& device_;
};

/// Layers that give what they take in size, one after the other, on images of `mib` MiB; and a table as large, whose
/// update is an optimizer's.
Network layers(std::int64_t mib) {
  const std::int64_t batch = std::max<std::int64_t>(1, mib * (1 << 20) / (kSide * kSide * kChannels * 4));
  Builder net({.batch = batch, .training = true});
  VarId x = net.layer("bn", net.input("image", {kSide, kSide, kChannels}));
  const VarId first = x;
  for (const char* type : {"relu", "leaky_relu", "sigmoid", "tanh", "gelu", "softplus", "square", "abs", "softmax"})
    x = net.layer(type, x);
  x = net.layer("dropout", net.layer("layer_norm", net.layer("lrn", x)), {{"p", 0.5}});
  for (const char* type : {"add", "sub", "mul"}) x = net.layer(type, {x, first});
  x = net.layer("concat", {x, first});
  x = net.layer("avg_pool", net.layer("max_pool", x, {{"k", 2}}), {{"k", 2}});
  x = net.layer("global_avg_pool", x);
  const std::int64_t rows = mib * (1 << 20) / (kChannels * 4);
  const VarId word = net.layer("embedding", net.input("word", {}, DType::i32), {{"vocab", rows}, {"out", kChannels}});
  x = net.layer("concat", {net.layer("flatten", x), word});
  net.loss("cross_entropy", net.layer("fc", x, {{"out", 10}}), net.input("label", {}, DType::i32));
  return net.finish();
}

/// A copy of `mib` MiB: what all else is compared with.
Rate copy(std::int64_t mib, Prepared& prepared, Device& device) {
  const Shape shape = {mib * (1 << 18)};
  Program program{.vars = {{.name = "from", .shape = shape}, {.name = "to", .shape = shape}},
                  .blocks = {{.ops = {{.type = "assign", .in = {0}, .out = {1}}}}}};
  const Op& op = program.blocks[0].ops[0];
  const Buffer from(device, bytes_of(program.vars[0])), to(device, bytes_of(program.vars[1]));
  void *in = from.data(), *out = to.data();
  return rate_of(program, op, prepared.kernel(program, op), {&in, &out, nullptr, device.stream()}, device);
}

int run(const DeviceSetting& setting, std::int64_t mib) {
  const std::unique_ptr<Device> device = open_device(setting);
  Prepared prepared(*device);
  const Rate reference = copy(mib, prepared, *device);
  std::printf("| kernel | MiB moved | ms | GB/s | of a copy |\n|---|---:|---:|---:|---:|\n");
  const auto row = [&](const std::string& name, const Rate& rate) {
    std::printf("| %s | %.0f | %.3f | %.1f | %.2f |\n", name.c_str(), static_cast<double>(rate.bytes) / (1 << 20),
                rate.seconds * 1e3, rate.gigabytes(), rate.gigabytes() / reference.gigabytes());
  };
  row("copy (assign)", reference);
  std::map<std::string, Rate> all;
  for (const char* optimizer : {"sgd", "momentum", "adam", "rmsprop"}) {
    Network network = layers(mib);
    const auto gradients = append_backward(network.program, network.loss);
    append_updates(network.program, gradients, network.params, optimizer_named(optimizer));
    const Program& program = network.program;
    Store store(*device);
    Executor executor(program, plan_none(program, workspaces_of(program, prepared)), prepared, store);
    for (const VarId input : network.inputs) {
      const std::vector<std::byte> zeros(static_cast<std::size_t>(bytes_of(program.vars[input])));
      executor.feed(input, zeros.data(), bytes_of(program.vars[input]));
    }
    Rates rates(program, prepared, *device);
    executor.observe(&rates);
    executor.run();
    for (const auto& [type, rate] : rates.by_type) all.emplace(type, rate);
  }
  for (const auto& [type, rate] : all)
    if (rate.bytes * 4 >= reference.bytes) row(type, rate);
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  DeviceSetting setting;
  std::int64_t mib = 256;
  CLI::App app{"How fast memory-bound kernels move memory, beside a copy"};
  app.add_option("--device", setting.name);
  app.add_option("--mib", mib, "of each tensor (default 256)");
  CLI11_PARSE(app, argc, argv);
  return run(setting, mib);
} catch (const Error& error) {
  std::fprintf(stderr, "bench_bandwidth: %s\n", error.what());
  return static_cast<int>(error.code);
}
