#include "train/report/count_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "framework/error.h"
#include "train/report/formatted.h"
#include "train/report/text_table.h"

namespace lethe {
namespace {

constexpr double kMega = 1e6, kGiga = 1e9;

double least_ms(const CountRow& row, const Roof& roof) {
  return 1e3 * std::max(row.flops / roof.flops, row.bytes / roof.bytes);
}

/// The sum over all rows.
template <class Of>
auto total(const StepCount& count, const Of& of) {
  decltype(of(count.rows.front())) sum = 0;
  for (const CountRow& row : count.rows) sum += of(row);
  return sum;
}

std::int64_t launches_of(const CountRow& row) { return row.launches; }
double bytes_of_row(const CountRow& row) { return row.bytes; }
double own_bytes_of(const CountRow& row) { return row.own_bytes; }

TextRows cells(const StepCount& count, const std::optional<Roof>& roof) {
  TextRows table = {{"op", "by", "calls", "launches", "GFLOP", "MB", "own MB"}};
  if (roof) table[0].emplace_back("at least, ms");
  for (const CountRow& row : count.rows) {
    table.push_back({row.op, row.implementation, std::to_string(row.calls), std::to_string(row.launches),
                     row.flops > 0 ? formatted("%.1f", row.flops / kGiga) : "", formatted("%.1f", row.bytes / kMega),
                     formatted("%.1f", row.own_bytes / kMega)});
    if (roof) table.back().push_back(formatted("%.3f", least_ms(row, *roof)));
  }
  return table;
}

std::string head(const std::string& title, const StepCount& count, const std::optional<Roof>& roof) {
  std::string text = message(title, ": ", grouped(total(count, launches_of)), " launches a step, ",
                             formatted("%.1f MB moved, %.1f of them by own kernels", total(count, bytes_of_row) / kMega,
                                       total(count, own_bytes_of) / kMega));
  if (roof)
    text += formatted("; at least %.3f ms, with %.0f TFLOP/s and %.2f TB/s",
                      total(count, [&](const CountRow& row) { return least_ms(row, *roof); }), 1e-12 * roof->flops,
                      1e-12 * roof->bytes);
  if (count.loops) text += "; what loops and branches hold counts once";
  return text + "\n\n";
}

std::string csv(const StepCount& count, const std::optional<Roof>& roof) {
  std::string text = message("op,implementation,calls,launches,gflop,mb,own_mb", roof ? ",least_ms" : "", "\n");
  for (const CountRow& row : count.rows)
    text += message(row.op, ",\"", row.implementation, "\",", row.calls, ',', row.launches, ',', row.flops / kGiga, ',',
                    row.bytes / kMega, ',', row.own_bytes / kMega,
                    roof ? message(',', least_ms(row, *roof)) : std::string(), '\n');
  return text;
}

std::string json(const std::string& title, const StepCount& count, const std::optional<Roof>& roof) {
  nlohmann::ordered_json all = {{"title", title},
                                {"launches", total(count, launches_of)},
                                {"own_bytes", total(count, own_bytes_of)},
                                {"bytes", total(count, bytes_of_row)},
                                {"rows", nlohmann::json::array()}};
  if (roof) all["least_ms"] = total(count, [&](const CountRow& row) { return least_ms(row, *roof); });
  for (const CountRow& row : count.rows) {
    nlohmann::ordered_json& each =
        all["rows"].emplace_back(nlohmann::ordered_json{{"op", row.op},
                                                        {"implementation", row.implementation},
                                                        {"calls", row.calls},
                                                        {"launches", row.launches},
                                                        {"gflop", row.flops / kGiga},
                                                        {"mb", row.bytes / kMega},
                                                        {"own_mb", row.own_bytes / kMega}});
    if (roof) each["least_ms"] = least_ms(row, *roof);
  }
  return all.dump(2) + "\n";
}

}  // namespace

std::string count_as(const std::string& form, const std::string& title, const StepCount& count,
                     const std::optional<Roof>& roof) {
  if (form == "csv") return csv(count, roof);
  if (form == "json") return json(title, count, roof);
  const TextRows table = cells(count, roof);
  return head(title, count, roof) + (form == "md" ? markdown_table(table, 2) : text_table(table, 2));
}

}  // namespace lethe
