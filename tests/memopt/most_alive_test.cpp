// The lower bound of the arena, asked of a script that has only the program's JSON form (most_alive.py).
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "framework/language/text.h"
#include "memopt/passes/arena.h"
#include "models/network.h"
#include "optimizer/optimizer.h"
#include "tests/support/loop_networks.h"
#include "tests/support/random_control.h"

namespace lethe::testing {
namespace {

bool has_python() { return std::system("python3 -c '' >/dev/null 2>&1") == 0; }

std::int64_t by_script(const Program& program, const std::string& kept) {
  const std::string file = ::testing::TempDir() + "/most_alive_" + std::to_string(::getpid()) + ".json";
  std::ofstream(file) << to_json(program);
  const std::string command = "python3 '" LETHE_SOURCE_DIR "/tests/memopt/most_alive.py' '" + kept + "' <" + file;
  FILE* const pipe = popen(command.c_str(), "r");
  std::array<char, 64> line{};
  const bool read = std::fgets(line.data(), line.size(), pipe) != nullptr;
  const bool done = pclose(pipe) == 0;
  std::remove(file.c_str());
  return read && done ? std::atoll(line.data()) : -1;
}

std::int64_t by_liveness(const Program& program, VarId kept) {
  const Liveness live = liveness(program);
  const Sharing sharing = share_views(program, live, collect_pins(program, {.fetched = {kept}}));
  Workspaces none;
  for (const Block& block : program.blocks) none.bytes.emplace_back(block.ops.size());
  const std::vector<std::int64_t> alive = bytes_alive(live, sharing, none);
  return *std::max_element(alive.begin(), alive.end());
}

void expect_both_agree(const TrainingProgram& made) {
  const Program& program = made.network.program;
  const VarId loss = made.network.loss;
  EXPECT_EQ(by_liveness(program, loss), by_script(program, program.vars[loss].name));
}

TEST(MostAlive, OfTheWholeZooIsWhatAScriptFinds) {
  if (!has_python()) GTEST_SKIP() << "no python3";
  int networks = 0;
  for (const std::string& name : zoo_names()) {
    SCOPED_TRACE(name);
    const Network network = load_network(name, {.batch = 2, .dtype = DType::f32, .training = true}, {});
    if (network.loss == kNone) continue;
    expect_both_agree(with_updates(with_backward(network), "momentum"));
    ++networks;
  }
  EXPECT_GT(networks, 20);
}

TEST(MostAlive, OfLoopsAndRandomProgramsIsWhatAScriptFinds) {
  if (!has_python()) GTEST_SKIP() << "no python3";
  for (const LoopNetwork& network : loop_networks()) {
    SCOPED_TRACE(network.name);
    expect_both_agree(with_updates(with_backward(network.build(DType::f32)), "adam"));
  }
  for (const int seed : random_seeds(15 + random_programs() / 40)) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    expect_both_agree(with_updates(random_control_program(static_cast<std::uint64_t>(seed), DType::f32), "sgd"));
  }
}

}  // namespace
}  // namespace lethe::testing
