#include "train/report/step_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "framework/error.h"
#include "framework/formatted.h"
#include "train/report/text_table.h"

namespace lethe {
namespace {

/// Figures that follow from a row.
struct Rates {
  Rates(const ProfileRow& row, const StepProfile& of)
      : share(row.seconds / of.seconds),
        flops(row.flops / row.seconds),
        of_peak(flops / of.peak_flops),
        bytes(row.bytes / row.seconds),
        of_copy(bytes / of.peak_bytes) {}
  double share, flops, of_peak, bytes, of_copy;
};

double seconds_in_kernels(const StepProfile& profile) {
  double seconds = 0;
  for (const ProfileRow& row : profile.rows) seconds += row.seconds;
  return seconds;
}

TextRows cells(const StepProfile& profile) {
  TextRows table = {{"op", "by", "calls", "ms", "share", "GFLOP/s", "of peak", "GB/s", "of copy"}};
  for (const ProfileRow& row : profile.rows) {
    const Rates rates(row, profile);
    const bool computes = row.flops > 0;
    table.push_back({row.op, row.implementation, formatted("%.0f", row.calls), formatted("%.2f", 1e3 * row.seconds),
                     formatted("%.1f %%", 100 * rates.share), computes ? formatted("%.1f", 1e-9 * rates.flops) : "",
                     computes ? formatted("%.0f %%", 100 * rates.of_peak) : "", formatted("%.1f", 1e-9 * rates.bytes),
                     formatted("%.0f %%", 100 * rates.of_copy)});
  }
  return table;
}

std::string head(const std::string& title, const StepProfile& profile) {
  return message(title, ": ", formatted("%.2f", 1e3 * profile.seconds), " ms a step, ",
                 formatted("%.2f", 1e3 * seconds_in_kernels(profile)), " of them in kernels; at best ",
                 formatted("%.1f", 1e-9 * profile.peak_flops), " GFLOP/s (a product of 2048 x 2048), ",
                 formatted("%.1f", 1e-9 * profile.peak_bytes), " GB/s (a copy of 128 MiB)\n\n");
}

std::string csv(const StepProfile& profile) {
  std::string text = "op,implementation,calls,ms,share,gflops,gb_per_s\n";
  for (const ProfileRow& row : profile.rows) {
    const Rates rates(row, profile);
    text += message(row.op, ",\"", row.implementation, "\",", row.calls, ',', 1e3 * row.seconds, ',', rates.share, ',',
                    1e-9 * rates.flops, ',', 1e-9 * rates.bytes, '\n');
  }
  return text;
}

std::string json(const std::string& title, const StepProfile& profile) {
  nlohmann::ordered_json all = {
      {"title", title},
      {"ms", 1e3 * profile.seconds},
      {"peak", {{"gflops", 1e-9 * profile.peak_flops}, {"gb_per_s", 1e-9 * profile.peak_bytes}}},
      {"rows", nlohmann::json::array()}};
  for (const ProfileRow& row : profile.rows) {
    const Rates rates(row, profile);
    all["rows"].push_back({{"op", row.op},
                           {"implementation", row.implementation},
                           {"calls", row.calls},
                           {"ms", 1e3 * row.seconds},
                           {"share", rates.share},
                           {"gflop", 1e-9 * row.flops},
                           {"gflops", 1e-9 * rates.flops},
                           {"of_peak", rates.of_peak},
                           {"mb", 1e-6 * row.bytes},
                           {"gb_per_s", 1e-9 * rates.bytes},
                           {"of_copy", rates.of_copy}});
  }
  return all.dump(2) + "\n";
}

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

std::string profile_as(const std::string& form, const std::string& title, const StepProfile& profile) {
  if (form == "csv") return csv(profile);
  if (form == "json") return json(title, profile);
  return head(title, profile) + (form == "md" ? markdown_table(cells(profile), 2) : text_table(cells(profile), 2));
}

std::string count_as(const std::string& form, const std::string& title, const StepCount& count,
                     const std::optional<Roof>& roof) {
  if (form == "csv") return csv(count, roof);
  if (form == "json") return json(title, count, roof);
  const TextRows table = cells(count, roof);
  return head(title, count, roof) + (form == "md" ? markdown_table(table, 2) : text_table(table, 2));
}

}  // namespace lethe
