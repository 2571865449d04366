// How the tables are written.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "framework/error.h"
#include "train/optnet/tables.h"
#include "train/report/text_table.h"

namespace lethe {
namespace {

using Json = nlohmann::ordered_json;

std::string fixed(double value, int decimals) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

/// As the tables print it: whole, or with one decimal.
std::string printed(double value) { return fixed(value, value == std::floor(value) ? 0 : 1); }

std::string mark_of(Agreement agreement) {
  switch (agreement) {
    case Agreement::Exact:
      return "";
    case Agreement::WithWorkspace:
      return " w";
    case Agreement::Misprint:
      return " m";
    case Agreement::Differs:
      return " !";
  }
  return "";
}

std::string heading(const PublishedTable& table) {
  return message("Table ", table.number, ": batch ", table.batch, ", ", name_of(table.dtype), ", ",
                 table.training ? "training" : "inference", ", ",
                 table.backend == TorchBackend::Nn ? "Torch's own modules on the CPU" : "cudnn's modules", "; MiB");
}

const std::vector<std::string>& titles() {
  static const std::vector<std::string> all = {
      "net",   "figure", "published before", "after", "saved", "reproduced before",
      "after", "saved",  "Lethe level 2",    "saved"};
  return all;
}

/// Lethe's total, and how much less it is than Torch's "before".
std::vector<std::string> lethe_cells(const TableEntry& entry, const FigureLine& line) {
  if (!entry.lethe || line.column != Column::Total) return {"", ""};
  const double mib = static_cast<double>(entry.lethe->total()) / (1 << 20);
  return {fixed(mib, 3) + (entry.lethe->certified ? " c" : ""),
          fixed(100 * (1 - mib / line.before.computed), 1) + " %"};
}

std::vector<std::string> cells_of(const TableEntry& entry, const FigureLine& line) {
  const std::vector<std::string> lethe = lethe_cells(entry, line);
  return {entry.row->net,
          std::string(name_of(line.column)),
          printed(line.before.printed) + mark_of(line.before.agreement),
          printed(line.after.printed) + mark_of(line.after.agreement),
          printed(line.saving.printed) + " %" + mark_of(line.saving.agreement),
          fixed(line.before.computed, 3),
          fixed(line.after.computed, 3),
          fixed(line.saving.computed, 1) + " %",
          lethe[0],
          lethe[1]};
}

std::string summary(const std::vector<TableEntry>& entries) {
  const Score s = score(entries);
  std::string text = message(
      s.exact + s.with_workspace, " of ", s.all(), " published figures reproduced to the printed digit: ", s.exact,
      " from the sources alone, ", s.with_workspace, " totals of table 3 (w) with cudnn's workspace, taken as ",
      kWorkspaceOfTable3, " bytes.\n");
  for (const TableEntry& entry : entries)
    for (const Column column : entry.table->columns)
      for (const bool saving : {false, true}) {
        const std::string why = misprint(entry.table->number, entry.row->net, column, !saving, saving);
        if (!why.empty())
          text +=
              message("Table ", entry.table->number, ", ", entry.row->net, ", ", name_of(column), " (m): ", why, ".\n");
      }
  return text;
}

std::string as_text(const std::vector<TableEntry>& entries, bool markdown) {
  std::string text;
  for (std::size_t e = 0; e < entries.size();) {
    const PublishedTable* table = entries[e].table;
    TextRows rows = {titles()};
    for (; e < entries.size() && entries[e].table == table; ++e)
      for (const FigureLine& line : figure_lines(entries[e])) rows.push_back(cells_of(entries[e], line));
    text += (markdown ? "### " : "") + heading(*table) + "\n\n" +
            (markdown ? markdown_table(rows, 2) : text_table(rows, 2)) + "\n";
  }
  return text + summary(entries) + measured_as_text(entries, markdown);
}

std::string measured_csv(const TableEntry& entry, Column column) {
  if (!entry.measured) return ",";
  return message(share(entry.measured->before.taken.held, column), ',',
                 share(entry.measured->after.taken.held, column));
}

std::string as_csv(const std::vector<TableEntry>& entries) {
  std::string text =
      "table,net,figure,published_before_mib,published_after_mib,published_saving_percent,"
      "reproduced_before_bytes,reproduced_after_bytes,reproduced_saving_percent,agreement,"
      "measured_before_bytes,measured_after_bytes,lethe_bytes\n";
  for (const TableEntry& entry : entries)
    for (const FigureLine& line : figure_lines(entry)) {
      std::string marks;
      for (const Cell* cell : {&line.before, &line.after, &line.saving}) {
        const std::string mark = mark_of(cell->agreement);
        marks += mark.empty() ? '=' : mark.back();
      }
      text += message(entry.table->number, ',', entry.row->net, ',', name_of(line.column), ',',
                      printed(line.before.printed), ',', printed(line.after.printed), ',', printed(line.saving.printed),
                      ',', figure(entry.count.before, line.column, *entry.table), ',',
                      figure(entry.count.after, line.column, *entry.table), ',', fixed(line.saving.computed, 3), ',',
                      marks, ',', measured_csv(entry, line.column), ',',
                      entry.lethe && line.column == Column::Total ? std::to_string(entry.lethe->total()) : "", '\n');
    }
  return text;
}

Json published_json(const TableEntry& entry, const std::vector<double>& values) {
  Json json;
  for (const Column column : {Column::Total, Column::Outputs, Column::GradInputs, Column::Buffers, Column::Params}) {
    const auto& columns = entry.table->columns;
    const auto at = std::find(columns.begin(), columns.end(), column);
    json[std::string(name_of(column))] =
        at == columns.end() ? Json(nullptr) : Json(values[static_cast<std::size_t>(at - columns.begin())]);
  }
  return json;
}

Json bytes_json(const TableEntry& entry, const OptnetBytes& bytes) {
  Json json;
  for (const Column column : {Column::Total, Column::Outputs, Column::GradInputs, Column::Buffers, Column::Params})
    json[std::string(name_of(column))] = figure(bytes, column, *entry.table);
  json["workspace"] = entry.table->training ? kWorkspaceOfTable3 : 0;
  json["all_categories"] = bytes.total();
  return json;
}

Json measured_json(const Measured& measured, std::int64_t distinct) {
  const TakenBytes& taken = measured.taken;
  return {{"total", taken.held.total()},
          {"outputs", taken.held.outputs},
          {"grad_inputs", taken.held.grad_inputs},
          {"buffers", taken.held.buffers},
          {"params", taken.held.params},
          {"distinct", distinct},
          {"kept_apart", taken.kept_apart},
          {"fed", taken.fed},
          {"scratch", taken.scratch},
          {"padding", taken.padding},
          {"seconds", measured.seconds}};
}

Json row_json(const TableEntry& entry) {
  Json row = {
      {"net", entry.row->net},
      {"published",
       {{"before", published_json(entry, entry.row->before)}, {"after", published_json(entry, entry.row->after)}}},
      {"reproduced",
       {{"before", bytes_json(entry, entry.count.before)}, {"after", bytes_json(entry, entry.count.after)}}}};
  if (entry.lethe)
    row["lethe"] = {{"total", entry.lethe->total()},      {"params", entry.lethe->params},
                    {"states", entry.lethe->states},      {"arena", entry.lethe->arena},
                    {"inputs", entry.lethe->inputs},      {"lower_bound", entry.lethe->lower_bound},
                    {"certified", entry.lethe->certified}};
  if (entry.measured)
    row["measured"] = {{"before", measured_json(entry.measured->before, distinct_bytes(entry.count, false))},
                       {"after", measured_json(entry.measured->after, distinct_bytes(entry.count, true))},
                       {"results_equal", entry.measured->before.results == entry.measured->after.results}};
  return row;
}

std::string as_json(const std::vector<TableEntry>& entries) {
  Json tables = Json::array();
  for (const TableEntry& entry : entries) {
    if (tables.empty() || tables.back()["table"] != entry.table->number)
      tables.push_back({{"table", entry.table->number},
                        {"batch", entry.table->batch},
                        {"dtype", name_of(entry.table->dtype)},
                        {"mode", entry.table->training ? "training" : "inference"},
                        {"rows", Json::array()}});
    tables.back()["rows"].push_back(row_json(entry));
  }
  return Json{{"tables", tables}}.dump(1) + "\n";
}

}  // namespace

std::string tables_as(const std::string& form, const std::vector<TableEntry>& entries) {
  if (form == "json") return as_json(entries);
  return form == "csv" ? as_csv(entries) : as_text(entries, form == "md");
}

}  // namespace lethe
