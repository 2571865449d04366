// Every command with every network of the zoo: what a network file says of its training is no option that was typed.
#include <gtest/gtest.h>

#include <map>

#include "kernels/cuda/device.h"
#include "models/zoo.h"
#include "tests/train/run_fixture.h"
#include "train/command_table.h"
#include "train/option_table.h"
#include "train/recipe.h"
#include "train/session/fed_data.h"
#include "train/session/programs.h"
#include "train/settings_of_options.h"

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

/// What the command asks for beside a network.
std::vector<std::string> needs_of(Command command) {
  if (command == Command::Generate) return {"--weights", "w", "--prompt", "the"};
  if (command == Command::Predict) return {"--weights", "w", "a.png"};
  if (command == Command::Eval) return {"--weights", "w"};
  if (command == Command::Export) return {"--weights", "w", "--output", "o"};
  if (command == Command::Timeline) return {"--out", "o"};
  return {};
}

Options decided_of(Command command, const std::string& name, const std::vector<std::string>& more) {
  std::vector<std::string> args = {"--model", name};
  if (*info_of(command).word) args.insert(args.begin(), info_of(command).word);
  args.insert(args.end(), more.begin(), more.end());
  return decided(parse_options(args));
}

TEST(ZooCommands, EachTakesEachNetwork) {
  if (kSlow) GTEST_SKIP() << "takes minutes under sanitizers";
  for (const std::string& name : networks())
    for (const CommandInfo& info : command_table()) {
      if (!has_network(info.command)) continue;
      SCOPED_TRACE(call_of(info) + " --model " + name);
      EXPECT_NO_THROW(decided_of(info.command, name, needs_of(info.command)));
    }
}

TEST(ZooCommands, WhatExcludesAnOptionTakesANetworkThatSaysIt) {
  const auto takes = [&](Command command, const std::vector<std::string>& more) {
    EXPECT_NO_THROW(decided_of(command, "char_gpt", more)) << more.front();
  };
  for (const char* flag : {"--sweep", "--profile", "--settings=none"}) takes(Command::Bench, {flag});
  for (const char* flag : {"--sweep", "--eval", "--csv=c", "--memory-budget=1GiB"}) takes(Command::Plan, {flag});
  for (const char* flag : {"--steps=3", "--epochs=2", "--eval-every=0"}) takes(Command::Train, {flag});
  if (!has_cuda()) return;
  takes(Command::Bench, {"--count", "--device", "h200"});
  takes(Command::Plan, {"--roofline", "--device", "h200"});
}

TEST(ZooCommands, AMeasurementTakesItsOwnNumberOfSteps) {
  EXPECT_EQ(decided_of(Command::Bench, "gpt2", {}).steps, 12);
  EXPECT_EQ(decided_of(Command::LrFind, "gpt2", {}).steps, 100);
}

TEST(ZooCommands, AMeasurementFindsDataForEachNetwork) {
  if (kSlow) GTEST_SKIP() << "takes minutes under sanitizers";
  for (const std::string& name : networks()) {
    SCOPED_TRACE(name);
    const Options options = decided_for_timing(parse_options({"bench", "--model", name, "--profile", "--batch", "4"}));
    const Network network = build_network(network_setting(options), true);
    check_fed(network, *open_data(options.data, 0, network));
  }
}

TEST(ZooCommands, ACountAndAPlanAreOfEachNetwork) {
  if (!has_cuda()) GTEST_SKIP() << "CUDA is not in this build";
  for (const std::string& name : networks())
    for (const std::vector<std::string>& command : {std::vector<std::string>{"bench", "--count"}, {"plan", "--eval"}}) {
      std::vector<std::string> args = command;
      args.insert(args.end(), {"--model", name, "--device", "h200", "--batch", "4"});
      const Ended ended = run_train(args);
      EXPECT_EQ(ended.code, 0) << command.front() << ' ' << name << ": " << ended.err;
    }
}

}  // namespace
}  // namespace lethe::testing
