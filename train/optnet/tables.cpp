#include "train/optnet/tables.h"

#include "framework/error.h"
#include "train/optnet/torch_notes.h"
#include "train/report/memory_report.h"

namespace lethe {
namespace {

double saving(std::int64_t before, std::int64_t after) {
  return before == 0 ? 0 : 100 * (1 - static_cast<double>(after) / static_cast<double>(before));
}

void count_in(Score& score, Agreement agreement) {
  switch (agreement) {
    case Agreement::Exact:
      ++score.exact;
      return;
    case Agreement::WithWorkspace:
      ++score.with_workspace;
      return;
    case Agreement::Misprint:
      ++score.misprints;
      return;
    case Agreement::Differs:
      ++score.differ;
      return;
  }
}

}  // namespace

std::vector<TableEntry> reproduced_tables(int number, const std::string& net) {
  std::vector<TableEntry> entries;
  for (const PublishedTable& table : published_tables())
    for (const PublishedRow& row : table.rows) {
      if ((number != 0 && table.number != number) || (!net.empty() && row.net != net)) continue;
      const Network network = load_network(row.model, {.batch = table.batch, .dtype = table.dtype}, table.sets);
      const OptnetOptions options{.training = table.training};
      entries.push_back({&table, &row, optnet_count(network, torch_notes(row.model), table.backend, options)});
    }
  check(!entries.empty(), "--net: the tables have no '", net, "'; known: alexnet, vgg-A, googlenet, resnet110");
  return entries;
}

std::vector<FigureLine> figure_lines(const TableEntry& entry) {
  std::vector<FigureLine> lines;
  const PublishedTable& table = *entry.table;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const Column column = table.columns[c];
    const std::int64_t before = figure(entry.count.before, column, table);
    const std::int64_t after = figure(entry.count.after, column, table);
    const std::int64_t workspace = column == Column::Total && table.training ? kWorkspaceOfTable3 : 0;
    const auto cell = [&](double printed, double value, double without, bool is_before, bool is_saving) {
      const bool known = !misprint(table.number, entry.row->net, column, is_before, is_saving).empty();
      return Cell{printed, value, agreement(printed, value, without, known)};
    };
    const auto mib = [](std::int64_t bytes) { return static_cast<double>(bytes) / kMiB; };
    lines.push_back({.column = column,
                     .before = cell(entry.row->before[c], mib(before), mib(before - workspace), true, false),
                     .after = cell(entry.row->after[c], mib(after), mib(after - workspace), false, false),
                     .saving = cell(entry.row->saving[c], saving(before, after),
                                    saving(before - workspace, after - workspace), false, true)});
  }
  return lines;
}

Score score(const std::vector<TableEntry>& entries) {
  Score score;
  for (const TableEntry& entry : entries)
    for (const FigureLine& line : figure_lines(entry))
      for (const Cell* cell : {&line.before, &line.after, &line.saving}) count_in(score, cell->agreement);
  return score;
}

}  // namespace lethe
