// Every command with every network of the zoo: what a network file says of its training is no option that was typed.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "kernels/conv/conv.h"
#include "kernels/cuda/device.h"
#include "models/zoo.h"
#include "tests/support/environment.h"
#include "tests/train/run_fixture.h"
#include "train/recipe.h"
#include "train/session/device.h"
#include "train/session/fed_data.h"
#include "train/session/programs.h"

namespace lethe::testing {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kSlow = true;
#else
constexpr bool kSlow = false;
#endif

/// A network of each file: its variants differ in vars alone.
std::vector<std::string> networks() {
  std::map<std::string, std::string> by_file;
  for (const std::string& name : zoo_names()) by_file.emplace(find_model(name).file, name);
  std::vector<std::string> names;
  for (const auto& [file, name] : by_file) names.push_back(name);
  return names;
}

/// Words that the command asks for beside a network.
std::vector<std::string> needs_of(const std::string& command) {
  if (command == "generate") return {"--weights", "w", "--prompt", "the"};
  if (command == "predict") return {"--weights", "w", "a.png"};
  if (command == "eval") return {"--weights", "w"};
  if (command == "export") return {"--weights", "w", "--output", "o"};
  if (command == "timeline") return {"--out", "o"};
  return {};
}

Options decided_of(const std::string& command, const std::string& name, const std::vector<std::string>& more) {
  std::vector<std::string> args = {"--model", name};
  if (!command.empty()) args.insert(args.begin(), command);
  args.insert(args.end(), more.begin(), more.end());
  return decided(parse_options(args));
}

bool has_network(const CommandOptions& all) {
  return std::ranges::any_of(all.options,
                             [](const OptionInfo& one) { return !one.names.empty() && one.names.back() == "--model"; });
}

TEST(ZooCommands, EachTakesEachNetwork) {
  if (kSlow) GTEST_SKIP() << "takes minutes under sanitizers";
  const std::vector<CommandOptions> commands = walk_options();
  for (const std::string& name : networks())
    for (const CommandOptions& all : commands) {
      if (!has_network(all)) continue;
      SCOPED_TRACE(call_of(*all.command) + " --model " + name);
      EXPECT_NO_THROW(decided_of(all.command->word, name, needs_of(all.command->word)));
    }
}

TEST(ZooCommands, WhatExcludesAnOptionTakesANetworkThatSaysIt) {
  const auto takes = [&](const std::string& command, const std::vector<std::string>& more) {
    EXPECT_NO_THROW(decided_of(command, "char_gpt", more)) << more.front();
  };
  for (const char* flag : {"--sweep", "--profile", "--settings=none"}) takes("bench", {flag});
  for (const char* flag : {"--sweep", "--eval", "--csv=c", "--memory-budget=1GiB"}) takes("plan", {flag});
  for (const char* flag : {"--steps=3", "--epochs=2", "--eval-every=0"}) takes("", {flag});
  if (!has_cuda()) return;
  takes("bench", {"--count", "--device", "h200"});
  takes("plan", {"--roofline", "--device", "h200"});
}

TEST(ZooCommands, AMeasurementTakesItsOwnNumberOfSteps) {
  EXPECT_EQ(decided_of("bench", "gpt2", {}).course.steps, 12);
  EXPECT_EQ(decided_of("lr-find", "gpt2", {}).course.steps, 100);
}

TEST(ZooCommands, AMeasurementFindsDataForEachNetwork) {
  if (kSlow) GTEST_SKIP() << "takes minutes under sanitizers";
  for (const std::string& name : networks()) {
    SCOPED_TRACE(name);
    const Options options = decided_for_timing(parse_options({"bench", "--model", name, "--profile", "--batch", "4"}));
    const Network network = build_network(options.program.network, true);
    check_fed(network, *open_data(options.data.spec, 0, network));
  }
}

TEST(ZooCommands, ACountAndAPlanAreOfEachNetwork) {
  if (!has_cuda()) GTEST_SKIP() << "CUDA is not in this build";
  for (const std::string& name : networks())
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"bench", "--count"},
          {"plan", "--eval", "--memopt", takes_all_networks() ? "level=2" : "level=1"}}) {
      std::vector<std::string> args = command;
      args.insert(args.end(), {"--model", name, "--device", "h200", "--batch", "4"});
      const Ended ended = run_train(args);
      EXPECT_EQ(ended.code, 0) << command.front() << ' ' << name << ": " << ended.err;
    }
}

TEST(ZooCommands, EveryOpHasAKernelOnAGpu) {
  if (!has_cuda()) GTEST_SKIP() << "CUDA is not in this build";
  Prepared prepared(device_info({.name = "h200"}));
  const std::vector<std::string> first = networks();
  for (const std::string& name : zoo_names())
    for (const std::string dtype : {"bf16", "f16", "f32"}) {
      if (dtype != "bf16" && !std::ranges::count(first, name) && !takes_all_networks()) continue;
      SCOPED_TRACE(name + ' ' + dtype);
      const Programs programs =
          build_programs(decided_of("plan", name, {"--device", "h200", "--dtype", dtype}).program);
      for (const Program* program : {&programs.training, &programs.evaluation.program}) {
        const Workspaces workspaces = workspaces_of(*program, prepared);
        EXPECT_EQ(workspaces.alignment, kGpuAlignment);
        for (std::size_t b = 0; b < program->blocks.size(); ++b)
          for (std::size_t i = 0; i < program->blocks[b].ops.size(); ++i) {
            if (!program->blocks[b].ops[i].type.starts_with("conv2d")) continue;
            EXPECT_LE(workspaces.bytes[b][i], workspace_limit(prepared.device()));
          }
      }
    }
}

}  // namespace
}  // namespace lethe::testing
