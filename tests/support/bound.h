// Networks as the executor runs them, beside what the interpreter makes of them.
#pragma once
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "framework/builder/network.h"
#include "framework/run/executor.h"
#include "tests/support/counting_device.h"
#include "tests/support/interpreter.h"

namespace lethe::testing {

/// A program bound to a device, its inputs and parameters as an interpreter holds them.
struct Bound {
  Bound(const Network& network, Device& device, const Interpreter& values)
      : network(network),
        store(device),
        prepared(device.info()),
        plan(plan_none(network.program, workspaces_of(network.program, prepared))),
        executor(network.program, plan, prepared, store) {
    for (const ParamInfo& info : network.params)
      store.write(network.program.vars[info.var].name, values.memory(info.var).data(), values.memory(info.var).bytes());
    feed(values);
  }
  void feed(const Interpreter& values) {
    for (const VarId input : network.inputs)
      executor.feed(input, values.memory(input).data(), values.memory(input).bytes());
  }
  std::vector<std::byte> fetched(VarId var) const {
    std::vector<std::byte> bytes(static_cast<std::size_t>(bytes_of(network.program.vars[var])));
    executor.fetch(var, bytes.data(), static_cast<std::int64_t>(bytes.size()));
    return bytes;
  }
  const Network& network;
  Store store;
  Prepared prepared;
  Plan plan;
  Executor executor;
};

inline void expect_same_bits(const Bound& bound, const Interpreter& values, const std::vector<VarId>& vars) {
  for (const VarId v : vars) {
    const Guarded& expected = values.memory(v);
    EXPECT_EQ(std::memcmp(bound.fetched(v).data(), expected.data(), static_cast<std::size_t>(expected.bytes())), 0)
        << "'" << bound.network.program.vars[v].name << "'";
  }
}

inline std::vector<VarId> all_vars(const Program& program) {
  std::vector<VarId> vars(program.vars.size());
  std::iota(vars.begin(), vars.end(), 0);
  return vars;
}

}  // namespace lethe::testing
