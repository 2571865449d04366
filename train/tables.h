// The published tables of optnet beside the same figures computed here.
#pragma once
#include <string>
#include <vector>

#include "train/published.h"

namespace lethe {

/// Bytes of one network in one table, reproduced.
struct TableEntry {
  const PublishedTable* table = nullptr;
  const PublishedRow* row = nullptr;
  OptnetCount count = {};
};

/// Every network of every table, in their order. Builds each network, runs none.
std::vector<TableEntry> reproduced_tables();

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

/// `form`: text, md, csv or json (docs/tables.md says what they hold).
std::string tables_as(const std::string& form, const std::vector<TableEntry>& entries);

}  // namespace lethe
