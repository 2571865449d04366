// Training or inference steps on one fixed batch, for comparison with peers (bench/*.py): prints one JSON line with
// each step's loss and time, or writes the freshly initialised weights.
#include <cmath>
#include <cstdio>
#include <optional>

#include "bench/bench.h"
#include "framework/autodiff/autodiff.h"
#include "framework/language/op_def.h"
#include "framework/run/executor.h"
#include "kernels/dtypes.h"
#include "memopt/memopt.h"
#include "models/network.h"
#include "optimizer/optimizer.h"
#include "tests/support/gpu_records.h"
#include "train/session/device.h"
#include "train/session/safetensors.h"
#include "train/session/weights.h"

using namespace lethe;

namespace {

struct Settings {
  std::string model, dtype = "f32", memopt = "level=2", optimizer = "momentum", weights, inputs, export_to, save_to,
                     logits;
  std::vector<std::string> sets;
  std::int64_t batch = 128, steps = 20, symbols = 10;
  double rate = 0.1, momentum = 0.9;
  std::optional<double> overhead = {};
  bool inference = false, kernels = false;
  DeviceSetting machine = {};
};

void add_options(CLI::App& app, Settings& o) {
  app.add_option("--model", o.model)->required();
  app.add_option("--set", o.sets, "k=v");
  app.add_option("--batch", o.batch);
  app.add_option("--steps", o.steps);
  app.add_option("--dtype", o.dtype);
  app.add_flag("--inference", o.inference, "forward and loss alone, as evaluation computes them");
  app.add_option("--lr", o.rate);
  app.add_option("--symbols", o.symbols, "without --inputs: labels and tokens are below this (default 10)")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 31));
  app.add_option("--optimizer", o.optimizer, "as of train, without decay");
  app.add_option("--momentum", o.momentum);
  app.add_option("--threads", o.machine.threads);
  app.add_option("--device", o.machine.name);
  app.add_flag("--tf32", o.machine.tf32);
  app.add_flag("--fast-f32", o.machine.fast_f32, "on a CPU with AMX: f32 convolutions as three of bf16");
  app.add_option("--workspace-limit", o.machine.workspace_limit, "of a GPU's convolutions, bytes");
  app.add_flag("--no-winograd", o.machine.no_winograd);
  app.add_flag("--eager", o.machine.eager, "steps launch by launch");
  app.add_flag("--kernels", o.kernels, "of the last step: the time of its kernels, as CUPTI records it");
  app.add_option("--memopt", o.memopt);
  app.add_option("--overhead", o.overhead, "of level=3, a fraction of a step");
  app.add_option("--weights", o.weights, "start from this file");
  app.add_option("--inputs", o.inputs, "tensors named as the network's inputs, in memory order (NHWC)");
  app.add_option("--export", o.export_to, "write the initial weights and stop");
  app.add_option("--save", o.save_to, "write the weights after the last step");
  app.add_option("--logits", o.logits, "write what the loss reads in the last step; without a loss the first output");
}

Sets sets_of(const std::vector<std::string>& words) {
  Sets sets;
  for (const std::string& word : words) sets[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
  return sets;
}

/// Numbers as those of a float dtype.
template <class T>
std::vector<std::byte> rounded(DType dtype, const T* values, std::int64_t count) {
  return for_float(dtype, [&](auto zero) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(count) * sizeof zero);
    auto* to = reinterpret_cast<decltype(zero)*>(bytes.data());
    std::transform(values, values + count, to, [](T value) { return static_cast<decltype(zero)>(value); });
    return bytes;
  });
}

void feed_file(Executor& executor, const Network& network, const std::string& file) {
  SafetensorsReader reader(file);
  for (const VarId v : network.inputs) {
    const TensorEntry* tensor = reader.find(network.program.vars[v].name);
    check(tensor, file, ": no tensor '", network.program.vars[v].name, "'");
    std::vector<std::byte> values = reader.read(*tensor);
    const Var& var = network.program.vars[v];
    if (tensor->dtype == DType::f32 && is_float(var.dtype))
      values = rounded(var.dtype, reinterpret_cast<const float*>(values.data()), elements(var.shape));
    executor.feed(v, values.data(), std::ssize(values));
  }
}

void save_value(const std::string& file, const Executor& executor, const Var& var, VarId id) {
  std::vector<std::byte> value(static_cast<std::size_t>(bytes_of(var)));
  executor.fetch(id, value.data(), std::ssize(value));
  SafetensorsWriter writer(file, {{.name = "logits", .dtype = var.dtype, .shape = var.shape}});
  writer.write(value);
  writer.finish();
}

/// Something to compute on: labels and tokens below `symbols`, all other values between -1 and 1.
void feed_random(Executor& executor, const Network& network, std::int64_t symbols) {
  for (const VarId v : network.inputs) {
    const Var& var = network.program.vars[v];
    std::vector<std::byte> values(static_cast<std::size_t>(bytes_of(var)));
    if (is_float(var.dtype)) {
      std::vector<double> wide(static_cast<std::size_t>(elements(var.shape)));
      fill_initial({.kind = Init::Uniform, .value = 1}, 0, var.name, DType::f64, std::ssize(wide), wide.data());
      values = rounded(var.dtype, wide.data(), std::ssize(wide));
    } else {
      constexpr std::int64_t kMixing = 2654435761;  // a prime by the golden ratio: neighbours lie far apart
      check(var.dtype == DType::i32, "input '", var.name, "' is ", name_of(var.dtype), ": feed it by --inputs");
      auto* numbers = reinterpret_cast<std::int32_t*>(values.data());
      for (std::int64_t i = 0; i < elements(var.shape); ++i)
        numbers[i] = static_cast<std::int32_t>(i * kMixing % symbols);
    }
    executor.feed(v, values.data(), bytes_of(var));
  }
}

/// Appends backward and updates; gives the learning rate.
VarId append_training(Program& program, const Network& network, const Settings& o) {
  OptimizerSettings settings = optimizer_named(o.optimizer);
  settings.momentum = o.momentum;
  const LossScale scale = o.dtype == "f16" ? append_loss_scale(program) : LossScale{};
  const auto gradients = append_backward(program, network.loss, {}, scale.scale);
  return append_updates(program, gradients, network.params, settings, scale).learning_rate;
}

double gflop_of(const Program& program) {
  double mult_adds = 0;
  for (const Block& block : program.blocks)
    for (const Op& op : block.ops) mult_adds += static_cast<double>(mult_adds_of(program, op));
  return 2e-9 * mult_adds;
}

/// Numbers as JSON.
std::string list_of(const std::vector<double>& values, const char* format) {
  std::string list;
  char text[64];
  for (const double value : values) {
    std::snprintf(text, sizeof text, format, value);
    list += (list.empty() ? "" : ", ") + std::string(text);
  }
  return '[' + list + ']';
}

void run(const Settings& o) {
  const std::unique_ptr<Device> device = open_device(o.machine);
  const BuildOptions options{
      .batch = o.batch, .dtype = dtype_named(o.dtype), .training = !o.inference, .logits = !o.logits.empty()};
  const Network network = load_network(o.model, options, sets_of(o.sets));
  Store store(*device);
  store.initialize(network.program, network.params, 0);
  if (!o.weights.empty()) load_weights(o.weights, store, network);
  if (!o.export_to.empty()) {
    save_weights(o.export_to, store, network);
    return;
  }
  const bool has_loss = network.loss != kNone;
  check(has_loss || o.inference, "--model ", o.model, ": a network without a loss is for --inference");
  Program program = network.program;
  const VarId learning_rate = o.inference ? kNone : append_training(program, network, o);
  const double gflop = gflop_of(program);
  std::optional<testing::GpuRecords> records;  // before steps are recorded as graphs
  if (o.kernels) records.emplace();
  Prepared prepared(*device);
  MemoptOptions memopt = parse_memopt(o.memopt);
  const VarId logits = network.prediction != kNone ? network.prediction : network.outputs.at(0);
  if (has_loss) memopt.pins.fetched = {network.loss};
  if (!o.logits.empty()) memopt.pins.fetched.push_back(logits);
  check(!o.overhead || memopt.level == Level::Recompute, "--overhead is of --memopt level=3; this is ", o.memopt);
  memopt.overhead = o.overhead;
  const Planned planned = plan_memory(std::move(program), prepared, suited(memopt, device->info()));
  Executor executor(planned.program, planned.plan, prepared, store);
  if (o.inputs.empty())
    feed_random(executor, network, o.symbols);
  else
    feed_file(executor, network, o.inputs);
  const float rate32 = static_cast<float>(o.rate);
  if (learning_rate != kNone && o.dtype == "f64")
    executor.feed(learning_rate, &o.rate, 8);
  else if (learning_rate != kNone)
    executor.feed(learning_rate, &rate32, 4);
  std::vector<double> losses, seconds;
  for (std::int64_t step = 0; step < o.steps; ++step) {
    seconds.push_back(seconds_of([&] {
      executor.run();
      if (has_loss) losses.push_back(executor.fetch_scalar(network.loss));
    }));
    check(!has_loss || std::isfinite(losses.back()), "the loss is ", losses.back(), " in step ", step);
  }
  check(executor.replays().value_or(true), "the step could not be recorded");
  if (!o.save_to.empty()) save_weights(o.save_to, store, network);
  if (!o.logits.empty()) save_value(o.logits, executor, planned.program.vars[logits], logits);
  std::string kernels;
  if (o.kernels) {
    records->take_kernel_seconds();
    executor.run();
    device->synchronize();
    const double of_kernels = records->take_kernel_seconds();
    check(of_kernels > 0, "no kernel was recorded");
    kernels = message("\"kernel_seconds\": ", of_kernels, ", ");
  }
  std::cout << "{" << kernels << "\"losses\": " << list_of(losses, "%.17g")
            << ", \"seconds\": " << list_of(seconds, "%.6f") << ", \"gflop\": " << gflop
            << ", \"bytes\": " << planned.plan.bytes.total() << "}\n";
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  CLI::App app{"Training or inference steps on one fixed batch", "bench_step"};
  add_options(app, settings);
  return run_program(app, argc, argv, [&] { run(settings); });
}
