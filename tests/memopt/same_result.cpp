#include "tests/memopt/same_result.h"

#include <gtest/gtest.h>

#include "tests/memopt/checked_run.h"
#include "tests/support/counting_device.h"

namespace lethe::testing {
namespace {

std::vector<std::byte> initial(const Interpreter& values, VarId var) {
  const auto* const data = static_cast<const std::byte*>(values.memory(var).data());
  return {data, data + values.memory(var).bytes()};
}

void feed(const Network& network, const Interpreter& values, Executor& executor) {
  for (const VarId input : network.inputs)
    executor.feed(input, values.memory(input).data(), values.memory(input).bytes());
}

}  // namespace

const std::vector<std::string>& all_settings() {
  static const std::vector<std::string> settings = {
      "none",    "none,release",    "none,inplace",    "none,release,inplace",
      "level=0", "level=0,release", "level=0,inplace", "level=0,release,inplace",
      "level=1", "level=1,release", "level=1,inplace", "level=1,release,inplace",
      "level=2"};
  return settings;
}

MemoptOptions options_of(const std::string& memopt, bool skip_grads, const Network& network) {
  MemoptOptions options = parse_memopt(memopt);
  options.pins.fetched = {network.loss};
  options.pins.skip_grads = skip_grads;
  options.seconds = 0.01;
  return options;
}

Outcome run_under(const TrainingProgram& made, const MemoptOptions& options, int steps, int threads) {
  const Network& network = made.network;
  CountingDevice device(threads);
  Outcome outcome;
  {
    Prepared prepared(device.info());
    Interpreter values(network.program, device.info());
    fill_network(network, values);
    const Planned planned = plan_memory(network.program, prepared, options);
    Store store(device);
    Executor executor(planned.program, planned.plan, prepared, store);
    for (const std::string& name : store.names()) {
      const std::vector<std::byte> value = initial(values, find_var(network.program, name));
      store.write(name, value.data(), static_cast<std::int64_t>(value.size()));
    }
    CheckedRun checked(planned.program, options.pins.fetched);
    executor.observe(&checked);
    for (int step = 0; step < steps; ++step) {
      if (step > 0) values.fill_uniform(network.inputs.front(), -1, 1, static_cast<std::uint64_t>(100 + step));
      feed(network, values, executor);
      executor.run();
      outcome.hashes.push_back(checked.hashes());
      outcome.losses.push_back(executor.fetch_scalar(network.loss));
    }
    for (const std::string& name : store.names()) outcome.store[name] = store.read(name);
    outcome.bytes = planned.plan.bytes;
    outcome.predicted = outcome.bytes.total();
  }
  outcome.taken = device.peak_bytes();
  return outcome;
}

void expect_same_outcome(const Outcome& outcome, const Outcome& expected) {
  ASSERT_EQ(outcome.hashes.size(), expected.hashes.size());
  for (std::size_t step = 0; step < expected.hashes.size(); ++step) {
    EXPECT_EQ(outcome.hashes[step].size(), expected.hashes[step].size());
    for (const auto& [op, hash] : expected.hashes[step]) {
      const auto found = outcome.hashes[step].find(op);
      EXPECT_TRUE(found != outcome.hashes[step].end() && found->second == hash)
          << "'" << op << "' gives other bits in step " << step;
    }
  }
  EXPECT_EQ(outcome.losses, expected.losses);
  EXPECT_EQ(outcome.store, expected.store);
}

}  // namespace lethe::testing
