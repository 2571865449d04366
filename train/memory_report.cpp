#include "train/memory_report.h"

#include <cstdio>

#include "framework/error.h"

namespace lethe {
namespace {

constexpr double kKiB = 1024, kMiB = 1024 * 1024;

template <class... Values>
std::string format(const char* pattern, Values... values) {
  char text[96];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

}  // namespace

std::string mebibytes(std::int64_t bytes) {
  const auto amount = static_cast<double>(bytes);
  return amount < kMiB / 10 ? format("%.1f KiB", amount / kKiB) : format("%.1f MiB", amount / kMiB);
}

std::string mib(std::int64_t bytes) { return format("%.2f", static_cast<double>(bytes) / kMiB); }

std::string predicted_line(const Bytes& bytes) {
  return message("memory predicted ", bytes.total(), " bytes (", mebibytes(bytes.total()), "): params ", bytes.params,
                 " state ", bytes.states, " inputs ", bytes.inputs, " temps ", bytes.temps, " workspace ",
                 bytes.workspace);
}

std::string percent_change(std::int64_t without, std::int64_t with) {
  return format("%+.0f %%",
                100.0 * static_cast<double>(with - without) / static_cast<double>(std::max<std::int64_t>(without, 1)));
}

std::string setting_line(const std::string& setting, std::int64_t without, std::int64_t with) {
  std::string line = "memory none " + mebibytes(without);
  if (setting == "none") return line;
  return line.append(message(" -> ", setting, " ", mebibytes(with), " (", percent_change(without, with), ")"));
}

std::string arena_line(const ArenaFacts& facts) {
  std::string line = message("memory arena ", facts.bytes, " bytes (", mebibytes(facts.bytes), "): ");
  if (facts.certified)
    line += "certified minimal for this order";
  else
    line +=
        format("at most %.2f %% above the smallest for this order",
               100.0 * static_cast<double>(facts.bytes - facts.lower_bound) / static_cast<double>(facts.lower_bound));
  return line.append(message("; most live at once ", facts.lower_bound, " bytes, at ", facts.bound_op));
}

std::string bound_line(const ArenaFacts& facts) {
  return message("memory lower bound ", facts.lower_bound, " bytes (", mebibytes(facts.lower_bound),
                 "): most live at once at level=2, at ", facts.bound_op);
}

std::string taken_line(std::int64_t taken, std::int64_t predicted) {
  if (taken == predicted) return message("memory taken ", taken, " bytes, as predicted");
  return message("memory taken ", taken, " bytes, ", taken > predicted ? "more" : "less", " than the predicted ",
                 predicted);
}

}  // namespace lethe
