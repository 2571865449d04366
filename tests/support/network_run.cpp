#include "tests/support/network_run.h"

namespace lethe::testing {

NetworkRun::NetworkRun(Device& device, std::uint64_t seed)
    : made_(with_updates(random_program(seed, DType::f32), "momentum")),
      prepared_(device),
      store_(device),
      executor_(made_.network.program,
                plan_none(made_.network.program, workspaces_of(made_.network.program, prepared_)), prepared_, store_) {
  const Network& network = made_.network;
  Interpreter values(network.program);
  fill_network(network, values);
  store_.initialize(network.program, network.params, seed);
  for (const VarId input : network.inputs)
    executor_.feed(input, values.memory(input).data(), bytes_of(network.program.vars[input]));
}

void NetworkRun::step() { executor_.run(); }

std::map<std::string, std::vector<std::byte>> NetworkRun::trained() const {
  std::map<std::string, std::vector<std::byte>> all;
  for (const std::string& name : store_.names()) all[name] = store_.read(name);
  return all;
}

std::map<std::string, std::vector<std::byte>> trained_alone(Device& device, std::uint64_t seed, int steps) {
  NetworkRun run(device, seed);
  for (int step = 0; step < steps; ++step) run.step();
  return run.trained();
}

}  // namespace lethe::testing
