// The same networks at level 2.
#include "framework/autodiff/autodiff.h"
#include "memopt/memopt.h"
#include "optimizer/optimizer.h"
#include "train/optnet/tables.h"

namespace lethe {
namespace {

/// A step of plain gradient descent, or the network as it is evaluated.
Program program_of(const Network& network, bool training) {
  Program program = network.program;
  if (training) append_updates(program, append_backward(program, network.loss), network.params, optimizer_named("sgd"));
  return program;
}

std::int64_t input_bytes(const Program& program) {
  std::int64_t sum = 0;
  for (const Var& var : program.vars)
    if (var.kind == Kind::Input) sum += bytes_of(var);
  return sum;
}

LetheBytes plan_one(const TableEntry& entry, const DeviceInfo& device) {
  const PublishedTable& table = *entry.table;
  const Network network = load_network(
      entry.row->model, {.batch = table.batch, .dtype = table.dtype, .training = table.training}, table.sets);
  MemoptOptions options = suited(parse_memopt("level=2"), device);
  options.pins.fetched = table.training ? std::vector{network.loss} : network.outputs;
  Prepared prepared(device);
  const Planned planned = plan_memory(program_of(network, table.training), prepared, options);
  return {.params = planned.plan.bytes.params,
          .states = planned.plan.bytes.states,
          .arena = planned.arena->bytes,
          .lower_bound = planned.arena->lower_bound,
          .inputs = input_bytes(planned.program),
          .certified = planned.arena->certified};
}

}  // namespace

void plan_at_level_2(std::vector<TableEntry>& entries, const DeviceInfo& device) {
  for (TableEntry& entry : entries) entry.lethe = plan_one(entry, device);
}

}  // namespace lethe
