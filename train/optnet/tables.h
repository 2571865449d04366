// The published tables of optnet beside the same figures computed here.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "train/data/dataset.h"
#include "train/optnet/measure.h"
#include "train/optnet/published.h"

namespace lethe {

struct MeasuredPair {
  Measured before, after;
};

/// The network at level 2. Training is plain gradient descent by the network's loss.
struct LetheBytes {
  std::int64_t params = 0, states = 0;
  std::int64_t arena = 0, lower_bound = 0;  // gradients of parameters and workspaces of all kernels are in it
  std::int64_t inputs = 0;                  // of the arena: fed, and there throughout; optnet counts none
  bool certified = false;                   // no arena is smaller
  std::int64_t total() const { return params + states + arena - inputs; }
};

/// Bytes of one network in one table, reproduced.
struct TableEntry {
  const PublishedTable* table = nullptr;
  const PublishedRow* row = nullptr;
  OptnetCount count = {};
  std::optional<LetheBytes> lethe = {};
  std::optional<MeasuredPair> measured = {};
};

/// Every network of every table, in their order, or of one table (0: all), or one network ("": all). Builds each
/// network, runs none. Fails if there is no such network.
std::vector<TableEntry> reproduced_tables(int table = 0, const std::string& net = "");

/// Plans each entry's network at level 2 for a device.
void plan_at_level_2(std::vector<TableEntry>& entries, const DeviceInfo& device);

/// Runs each entry's network as Torch and as optnet held it, one after the other. `notify` is told which.
void measure_tables(std::vector<TableEntry>& entries, Device& device, const Notify& notify);

/// What a count holds if each storage is counted once.
std::int64_t distinct_bytes(const OptnetCount& count, bool after);

/// One cell of a printed table: what stands there, what is computed, and how the two agree.
struct Cell {
  double printed = 0, computed = 0;  // MiB or percent
  Agreement agreement = Agreement::Differs;
};

/// A column of an entry, before and after optimisation, and the saving.
struct FigureLine {
  Column column = Column::Total;
  Cell before = {}, after = {}, saving = {};
};
std::vector<FigureLine> figure_lines(const TableEntry& entry);

/// How many cells agree, and how.
struct Score {
  int exact = 0, with_workspace = 0, misprints = 0, differ = 0;
  int all() const { return exact + with_workspace + misprints + differ; }
};
Score score(const std::vector<TableEntry>& entries);

/// `form`: text, md, csv or json (docs/measurements/optnet-tables.md says what they hold).
std::string tables_as(const std::string& form, const std::vector<TableEntry>& entries);

/// What was measured; "" if nothing was.
std::string measured_as_text(const std::vector<TableEntry>& entries, bool markdown);

}  // namespace lethe
