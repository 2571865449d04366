// What kernels take on this processor beside what the rule of thumb says, by kind: the rows of a table of shipped costs
// (train/search/processor_costs.h). Each kernel of the training steps of some networks is measured by itself.
#include <map>

#include "bench/bench.h"
#include "framework/formatted.h"
#include "train/search/kernel_costs.h"
#include "train/search/processor_costs.h"
#include "train/session/device.h"
#include "train/session/programs.h"

using namespace lethe;

namespace {

constexpr int kThreads = 2;
/// Kernels that take less are mostly begun and ended: they say nothing about larger ones.
constexpr double kShort = 20e-6;  // seconds

struct Case {
  const char* model;
  std::int64_t batch;
  Sets sets;
  const char* optimizer;
};
const Case kCases[] = {{"alexnet", 16, {}, "momentum"},
                       {"vgg16", 4, {}, "momentum"},
                       {"googlenet", 8, {}, "momentum"},
                       {"resnet20", 64, {}, "momentum"},
                       {"resnet50", 8, {}, "momentum"},
                       {"se_resnext50", 4, {}, "momentum"},
                       {"unet", 4, {{"size", "128"}, {"w", "32"}}, "adam"},
                       {"mlp_mixer", 64, {}, "adamw"},
                       {"vit_s16", 4, {}, "adamw"},
                       {"bert_base", 4, {}, "adamw"},
                       {"gpt2", 2, {{"length", "512"}}, "adamw"},
                       {"llama", 8, {}, "adamw"}};

struct Seconds {
  double measured = 0, by_rule = 0;
  int kernels = 0;
};

/// Adds what the planner asks for about a network's training step.
void add(const Case& of, DType dtype, const SecondsOf& measured, std::map<KernelKind, Seconds>& sums) {
  ProgramSetting setting;
  setting.network = {.model = of.model, .sets = of.sets, .dtype = dtype, .batch = of.batch};
  setting.update.name = of.optimizer;
  setting.update.rule = optimizer_named(of.optimizer);
  setting.evaluated = false;
  setting.memory = memory_setting("level=3");
  setting.memory.levels.overhead = 0;
  setting.memory.levels.costs.seconds_of = [&, by_rule = seconds_on({})](const Program& program, const Op& op) {
    const double seconds = measured(program, op);
    Seconds& sum = sums[kind_of(program, op)];
    ++sum.kernels;
    sum.measured += seconds;
    sum.by_rule += by_rule(program, op);
    return seconds;
  };
  Prepared prepared(device_info({.threads = kThreads}));
  planned_program(setting, prepared);
}

}  // namespace

int main(int argc, char** argv) {
  std::string file = "costs.json";
  CLI::App app{"Costs of kernels by kind, as rows of a table", "bench_kinds"};
  app.add_option("--file", file, "keeps what was measured, as train plan --costs does");
  return run_program(app, argc, argv, [&] {
    std::map<KernelKind, Seconds> sums;
    const SecondsOf measured = measured_costs({.threads = kThreads}, file);
    for (const Case& of : kCases)
      for (const DType dtype : {DType::f32, DType::bf16}) {
        std::cerr << of.model << ' ' << name_of(dtype) << '\n';
        add(of, dtype, measured, sums);
      }
    for (const auto& [kind, sum] : sums)
      if (sum.by_rule > 0 && sum.measured >= kShort * sum.kernels)
        std::cout << "{\"" << kind.type << "\", DType::" << name_of(kind.dtype) << ", " << kind.density << ", "
                  << formatted("%.2f", sum.measured / sum.by_rule) << "},\n";
  });
}
