#include "train/report/profile_report.h"

#include <nlohmann/json.hpp>

#include "framework/error.h"
#include "train/report/formatted.h"
#include "train/report/text_table.h"

namespace lethe {
namespace {

/// What follows from a row.
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

}  // namespace

std::string profile_as(const std::string& form, const std::string& title, const StepProfile& profile) {
  if (form == "csv") return csv(profile);
  if (form == "json") return json(title, profile);
  return head(title, profile) + (form == "md" ? markdown_table(cells(profile), 2) : text_table(cells(profile), 2));
}

}  // namespace lethe
