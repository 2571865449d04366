// How fast each memory-bound kernel moves memory, beside a plain copy: every op that is one (bandwidth_cases.h), for
// rows of several widths, on random numbers, each kernel run again and again by itself. What is counted is all that it
// reads and writes, in every pass over its vars (Kernel::bytes_again); a row that a block reads again counts once, as
// if a cache had it. Prints a Markdown table as it goes; --json FILE gets the same, an object a line.
//   bench_bandwidth [--device cuda] [--mib 256] [--widths 768,4096,50257,64] [--dtypes bf16,f32] [--only REGEX]
//                   [--seconds N] [--json FILE]
//   bench_bandwidth --ceilings [--device cuda] [--mib 256] [--json FILE]
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <random>
#include <regex>
#include <set>

#include "bench/bandwidth_cases.h"
#include "bench/bench.h"
#include "framework/language/op_def.h"
#include "framework/language/op_facts.h"
#include "framework/run/prepared.h"
#include "kernels/dtypes.h"
#include "train/session/device.h"

using namespace lethe;

namespace {

using testing::Sample, testing::SampleInput;

constexpr int kRuns = 20;
constexpr double kLong = 0.02;  // seconds of a run, of which a few are enough

struct Settings {
  DeviceSetting machine = {};
  std::int64_t mib = 256;
  std::vector<std::int64_t> widths = {768, 4096, 50257, 64};
  std::vector<std::string> dtypes = {"bf16", "f32"};
  std::string only = ".", json;
  double seconds = 1e9;
  bool ceilings = false;
};

/// Random numbers on the device, made once for each range and dtype.
class Randoms {
 public:
  explicit Randoms(Device& device) : device_(device) {}
  void fill(const SampleInput& like, DType dtype, void* to, std::int64_t bytes) {
    Buffer& block = blocks_[{dtype, like.low, like.high}];
    if (!block.data()) block = made(dtype, like.low, like.high);
    for (std::int64_t at = 0; at < bytes; at += block.bytes())
      device_.copy(static_cast<std::byte*>(to) + at, block.data(), std::min(block.bytes(), bytes - at));
  }

 private:
  Buffer made(DType dtype, double low, double high) {
    constexpr std::int64_t kElements = 1 << 20;
    Buffer block(device_, kElements * bytes_of(dtype));
    std::mt19937 random(1);
    std::uniform_real_distribution<double> uniform(low, high);
    for_number(dtype, [&](auto zero) {
      std::vector<decltype(zero)> values(kElements);
      for (auto& value : values) value = static_cast<decltype(zero)>(uniform(random));
      device_.copy_in(block.data(), values.data(), block.bytes());
      device_.synchronize();
    });
    return block;
  }

  Device& device_;
  std::map<std::tuple<DType, double, double>, Buffer> blocks_;
};

struct Rate {
  std::int64_t bytes = 0;
  double flops = 0, seconds = 0;
  double gigabytes() const { return static_cast<double>(bytes) / seconds * 1e-9; }
  double teraflops() const { return flops / seconds * 1e-12; }
};

/// Addresses by var.
struct Memory {
  std::vector<Buffer> owned = {};
  std::vector<void*> at = {};
};

class Bench {
 public:
  explicit Bench(const Settings& settings)
      : settings_(settings), device_(open_device(settings.machine)), prepared_(*device_), randoms_(*device_) {
    if (!settings.json.empty()) {
      json_.open(settings.json, std::ios::trunc);
      check(json_.is_open(), "cannot write ", settings.json);
    }
  }

  /// What the device does at best: a copy, and a product of two square matrices.
  void ceilings() {
    std::printf("| at best | |\n|---|---:|\n");
    const Rate copied = copy();
    say_ceiling("copy, GB/s", copied.gigabytes(), copied);
    const auto side = static_cast<std::int64_t>(std::sqrt(static_cast<double>(bytes()) / 4)) / 64 * 64;
    for (const DType dtype : {DType::bf16, DType::f16, DType::f32}) {
      const Rate rate = alone({.op = "matmul", .in = {{.shape = {side, side}}, {.shape = {side, side}}}}, dtype);
      say_ceiling(message("product of ", side, " x ", side, " in ", name_of(dtype), ", TFLOP/s"), rate.teraflops(),
                  rate);
    }
  }

  void run() {
    std::printf("| kernel | width | dtype | MiB moved | ms | GB/s | of a copy |\n|---|---:|---|---:|---:|---:|---:|\n");
    const Rate copied = copy();
    copy_ = copied.gigabytes();
    print("copy (assign)", bytes() / 4, DType::f32, copied);
    for (const std::int64_t width : settings_.widths)
      for (const std::string& dtype : settings_.dtypes) {
        for (const Sample& sample : bandwidth_cases(bytes(), width, dtype_named(dtype)))
          measure(sample, width_of(sample, width), dtype_named(dtype));
        check_nothing_is_missing();
      }
    if (left_out_ > 0) std::printf("\n%d cases are left out: time is up\n", left_out_);
  }

 private:
  std::int64_t bytes() const { return settings_.mib << 20; }

  /// Of the case's own tensors: some ops take only widths that are even, or of three channels.
  static std::int64_t width_of(const Sample& sample, std::int64_t otherwise) {
    for (const SampleInput& in : sample.in)
      if (in.shape.size() > 1) return in.shape.back();
    return otherwise;
  }

  Rate copy() { return alone({.op = "assign", .in = {{.shape = {bytes() / 4}}}}, DType::f32); }
  /// Of a row's op without its gradient.
  Rate alone(Sample sample, DType dtype) {
    sample.gradient = false;
    const CaseProgram made = program_of(sample, dtype);
    return rate_of(made.program, made.program.blocks[0].ops.front(), memory_of(made), kRuns);
  }

  void measure(const Sample& sample, std::int64_t width, DType dtype) {
    if (ms_since(begin_) > 1e3 * settings_.seconds) {
      ++left_out_;
      return;
    }
    const CaseProgram made = program_of(sample, dtype);
    std::set<const Op*> wanted;
    for (const Op& op : made.program.blocks[0].ops)
      if (is_wanted(made.program, op, width, dtype)) wanted.insert(&op);
    if (wanted.empty()) return;
    const Memory memory = memory_of(made);
    for (const Op& op : made.program.blocks[0].ops) {
      if (runs_nothing(op)) continue;
      const bool is_measured = wanted.count(&op) > 0;
      const Rate rate = rate_of(made.program, op, memory, is_measured ? kRuns : 0);
      if (is_measured) print(op.type, width, dtype, rate);
    }
  }

  Memory memory_of(const CaseProgram& made) {
    const Program& program = made.program;
    Memory memory{.at = std::vector<void*>(program.vars.size(), nullptr)};
    const auto take = [&](VarId v) { return memory.owned.emplace_back(*device_, bytes_of(program.vars[v])).data(); };
    for (const auto& [v, like] : made.given) {
      memory.at[v] = take(v);
      randoms_.fill(like, program.vars[v].dtype, memory.at[v], bytes_of(program.vars[v]));
    }
    for (const Op& op : program.blocks[0].ops)
      for (const VarId v : op.out)
        if (!memory.at[v]) memory.at[v] = op_def(op.type).is_view() ? memory.at[op.in[0]] : take(v);
    return memory;
  }

  /// Whether it moves much, and has no row yet.
  bool is_wanted(const Program& program, const Op& op, std::int64_t width, DType dtype) {
    if (runs_nothing(op)) return false;
    if (!std::binary_search(ops_.begin(), ops_.end(), op.type) || 4 * moved(program, op) < bytes()) return false;
    seen_.insert(op.type);
    const bool is_asked_for = std::regex_search(op.type, only_);
    return is_asked_for && measured_.insert({op.type, width, dtype}).second;
  }
  std::int64_t moved(const Program& program, const Op& op) {
    return bytes_moved(program, op) + prepared_.kernel(program, op).bytes_again();
  }

  /// Of a run of the kernel, the mean of so many after a first one; 0: of the first one.
  Rate rate_of(const Program& program, const Op& op, const Memory& memory, int runs) {
    const Kernel& kernel = prepared_.kernel(program, op);
    const Buffer workspace(*device_, kernel.workspace_bytes());
    std::vector<void*> in, out;
    for (const VarId v : op.in) in.push_back(v == kNone ? nullptr : memory.at[v]);
    for (const VarId v : op.out) out.push_back(memory.at[v]);
    const KernelArgs args{in.data(), out.data(), workspace.data(), device_->stream(), device_->tickets()};
    const auto mean_of = [&](int times) {
      device_->synchronize();
      return seconds_of([&] {
               device_->compute([&] {
                 for (int i = 0; i < times; ++i) kernel.run(args);
               });
               device_->synchronize();
             }) /
             times;
    };
    const double first = mean_of(1);
    if (runs > 0 && first > kLong) runs = 2;
    return {.bytes = moved(program, op),
            .flops = 2 * static_cast<double>(mult_adds_of(program, op)),
            .seconds = runs > 0 ? mean_of(runs) : first};
  }

  void print(const std::string& op, std::int64_t width, DType dtype, const Rate& rate) {
    const double of_copy = rate.gigabytes() / copy_;
    const std::string type(name_of(dtype));
    std::printf("| %s | %lld | %s | %.0f | %.3f | %.1f | %.2f |\n", op.c_str(), static_cast<long long>(width),
                type.c_str(), static_cast<double>(rate.bytes) / (1 << 20), rate.seconds * 1e3, rate.gigabytes(),
                of_copy);
    std::fflush(stdout);
    json_ << "{\"op\": \"" << op << "\", \"width\": " << width << ", \"dtype\": \"" << type
          << "\", \"bytes\": " << rate.bytes << ", \"ms\": " << rate.seconds * 1e3
          << ", \"gb_per_s\": " << rate.gigabytes() << ", \"of_copy\": " << of_copy << "}" << std::endl;
  }
  void say_ceiling(const std::string& what, double value, const Rate& rate) {
    std::printf("| %s | %.1f |\n", what.c_str(), value);
    std::fflush(stdout);
    json_ << "{\"at_best\": \"" << what << "\", \"value\": " << value << ", \"ms\": " << rate.seconds * 1e3 << "}"
          << std::endl;
  }

  void check_nothing_is_missing() const {
    for (const std::string& name : ops_)
      check_as(Exit::Internal, left_out_ > 0 || seen_.count(name) > 0, "op '", name,
               "' is memory-bound and in no case: bench/bandwidth_cases.cpp needs one");
  }

  const Settings& settings_;
  const std::unique_ptr<Device> device_;
  Prepared prepared_;
  Randoms randoms_;
  const std::regex only_ = regex_of(settings_.only);
  const std::vector<std::string> ops_ = bandwidth_ops();
  std::ofstream json_;
  const Clock::time_point begin_ = Clock::now();
  double copy_ = 0;  // GB/s
  int left_out_ = 0;
  std::set<std::tuple<std::string, std::int64_t, DType>> measured_;
  std::set<std::string> seen_;
};

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  CLI::App app{"How fast memory-bound kernels move memory, beside a copy", "bench_bandwidth"};
  app.add_option("--device", settings.machine.name);
  app.add_option("--threads", settings.machine.threads, "of a CPU");
  app.add_option("--mib", settings.mib, "of each tensor (default 256)")->check(CLI::PositiveNumber);
  app.add_option("--widths", settings.widths, "elements of a row (default 768,4096,50257,64)")
      ->delimiter(',')
      ->check(CLI::PositiveNumber);
  app.add_option("--dtypes", settings.dtypes, "default bf16,f32")->delimiter(',');
  app.add_option("--only", settings.only, "a regular expression for the ops to measure");
  app.add_flag("--ceilings", settings.ceilings, "instead: what the device does at best, copies and products");
  app.add_option("--seconds", settings.seconds, "no case begins after so many");
  app.add_option("--json", settings.json, "writes the rows here too, an object a line");
  return run_program(app, argc, argv, [&] {
    Bench bench(settings);
    settings.ceilings ? bench.ceilings() : bench.run();
  });
}
