// The tables once more, as bytes that a device handed out.
#include <cstdio>

#include "framework/error.h"
#include "train/optnet/tables.h"
#include "train/optnet/torch_notes.h"
#include "train/report/text_table.h"

namespace lethe {
namespace {

Measured measure_one(const TableEntry& entry, const Network& network, bool after, Device& device) {
  const OptnetOptions options{.training = entry.table->training};
  const TorchProgram torch = torch_program(
      network, torch_notes(entry.row->model),
      {.backend = entry.table->backend, .training = options.training, .inplace = after, .keep_grads = !after});
  Prepared prepared(device);
  const Workspaces workspaces = workspaces_of(torch.program, prepared);
  const OptnetPlan planned = after ? plan_optnet(torch, options, workspaces) : plan_as_defined(torch, workspaces);
  return measure(network, torch, planned, prepared, device);
}

std::vector<std::string> cells_of(const TableEntry& entry, bool after) {
  const Measured& measured = after ? entry.measured->after : entry.measured->before;
  const TakenBytes& taken = measured.taken;
  const OptnetBytes& counted = after ? entry.count.after : entry.count.before;
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.2f", measured.seconds);
  std::vector<std::string> cells = {entry.row->net, after ? "after" : "before"};
  for (const std::int64_t bytes :
       {counted.total(), distinct_bytes(entry.count, after), taken.held.total(), taken.held.outputs,
        taken.held.grad_inputs, taken.held.buffers, taken.held.params, taken.fed, taken.scratch, taken.padding})
    cells.push_back(std::to_string(bytes));
  cells.push_back(seconds);
  return cells;
}

std::string verdict(const std::vector<TableEntry>& entries) {
  int runs = 0, exact = 0, networks = 0, equal = 0;
  std::int64_t apart = 0;
  for (const TableEntry& entry : entries) {
    if (!entry.measured) continue;
    for (const bool after : {false, true}) {
      const TakenBytes& taken = (after ? entry.measured->after : entry.measured->before).taken;
      ++runs;
      exact += taken.held.total() == distinct_bytes(entry.count, after);
      apart += taken.kept_apart;
    }
    ++networks;
    equal += entry.measured->before.results == entry.measured->after.results;
  }
  return message("In ", exact, " of ", runs, " runs the bytes taken from the device are the distinct bytes. In ", equal,
                 " of ", networks, " networks every result is the same before and after, to the bit. ", apart,
                 " bytes were kept apart because sharing them would not have been sound.\n");
}

}  // namespace

std::int64_t distinct_bytes(const OptnetCount& count, bool after) {
  return (after ? count.after : count.before).total() - count.counted_twice;
}

void measure_tables(std::vector<TableEntry>& entries, Device& device, const Notify& notify) {
  for (TableEntry& entry : entries) {
    notify(message("table ", entry.table->number, ", ", entry.row->net));
    const Network network =
        load_network(entry.row->model, {.batch = entry.table->batch, .dtype = entry.table->dtype}, entry.table->sets);
    entry.measured = {measure_one(entry, network, false, device), measure_one(entry, network, true, device)};
  }
}

std::string measured_as_text(const std::vector<TableEntry>& entries, bool markdown) {
  std::string text;
  for (std::size_t e = 0; e < entries.size();) {
    const PublishedTable* table = entries[e].table;
    TextRows rows = {{"net", "", "counted", "distinct", "taken", "outputs", "grad_inputs", "buffers", "params", "fed",
                      "scratch", "padding", "seconds"}};
    for (; e < entries.size() && entries[e].table == table; ++e)
      if (entries[e].measured)
        for (const bool after : {false, true}) rows.push_back(cells_of(entries[e], after));
    if (rows.size() == 1) continue;
    text += message("\n", markdown ? "### " : "", "Table ", table->number, ", measured; bytes\n\n") +
            (markdown ? markdown_table(rows, 2) : text_table(rows, 2));
  }
  return text.empty() ? text : text + "\n" + verdict(entries);
}

}  // namespace lethe
