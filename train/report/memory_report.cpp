#include "train/report/memory_report.h"

#include "framework/error.h"
#include "train/report/formatted.h"

namespace lethe {

std::string mebibytes(std::int64_t bytes) {
  const auto amount = static_cast<double>(bytes);
  return amount < kMiB / 10 ? formatted("%.1f KiB", amount / 1024) : formatted("%.1f MiB", amount / kMiB);
}

std::string size_text(std::int64_t bytes) {
  constexpr std::int64_t kMi = 1 << 20, kGi = 1 << 30;
  if (bytes % kGi == 0) return message(bytes / kGi, "GiB");
  return bytes % kMi == 0 ? message(bytes / kMi, "MiB") : std::to_string(bytes);
}

std::string mib(std::int64_t bytes) { return formatted("%.2f", static_cast<double>(bytes) / kMiB); }

std::string predicted_line(const Bytes& bytes, bool at_most) {
  return message("memory predicted ", at_most ? "at most " : "", bytes.total(), " bytes (", mebibytes(bytes.total()),
                 "): params ", bytes.params, " state ", bytes.states, " inputs ", bytes.inputs, " temps ", bytes.temps,
                 " workspace ", bytes.workspace);
}

std::string percent_change(std::int64_t without, std::int64_t with) {
  return formatted("%+.0f %%", 100.0 * static_cast<double>(with - without) /
                                   static_cast<double>(std::max<std::int64_t>(without, 1)));
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
    line += formatted(
        "at most %.2f %% above the smallest for this order",
        100.0 * static_cast<double>(facts.bytes - facts.lower_bound) / static_cast<double>(facts.lower_bound));
  return line.append(message("; most live at once ", facts.lower_bound, " bytes, at ", facts.bound_op));
}

std::string recomputed_line(const Recomputed& facts) {
  if (facts.ops == 0) return "memory recompute nothing: all that backward reads is kept";
  return message("memory recompute ", facts.ops, facts.ops == 1 ? " op runs" : " ops run", " once more, ",
                 facts.mult_adds / 1000000, " million multiply-adds: ", formatted("%.1f %%", 100 * facts.overhead),
                 " of a step, predicted");
}

std::string bound_line(const ArenaFacts& facts) {
  return message("memory lower bound ", facts.lower_bound, " bytes (", mebibytes(facts.lower_bound),
                 "): most live at once at level=2, at ", facts.bound_op);
}

std::string taken_line(std::int64_t taken, std::int64_t predicted, bool at_most) {
  if (taken == predicted) return message("memory taken ", taken, " bytes, as predicted");
  if (at_most && taken < predicted) return message("memory taken ", taken, " bytes, at most ", predicted, " predicted");
  return message("memory taken ", taken, " bytes, ", taken > predicted ? "more" : "less", " than the predicted ",
                 predicted);
}

}  // namespace lethe
