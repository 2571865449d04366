#include "train/report/memory_report.h"

#include <cstdio>

#include "framework/error.h"
#include "framework/formatted.h"
#include "kernels/cuda/device.h"
#include "memopt/memory_map.h"
#include "train/report/option_names.h"
#include "train/report/progress.h"
#include "train/report/text_table.h"
#include "train/session/programs.h"

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
    line += facts.any_order ? "certified minimal for any order" : "certified minimal for this order";
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
                 " of a step, predicted", facts.costs.empty() ? "" : " by costs of " + facts.costs);
}

std::string second_pass_line(const Recomputed& second) {
  return message("memory backward in two passes, the first for the norm of all gradients: ", second.ops,
                 " of these ops, ", formatted("%.1f %%", 100 * second.overhead), " of a step");
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

void print_log(const Planned& planned) {
  for (const std::string& line : planned.log) std::puts(with_options(line).c_str());
}

void print_predicted(const std::string& memopt, const Plans& plans, Progress& progress) {
  for (const Planned* planned : {&plans.training, &plans.evaluation}) {
    print_log(*planned);
    for (const std::string& note : planned->notes) progress.note(note);
  }
  std::printf("%s\n%s\n", setting_line(memopt, plans.none, plans.bytes.total()).c_str(),
              predicted_line(plans.bytes, plans.at_most).c_str());
  if (plans.training.recomputed) std::puts(recomputed_line(*plans.training.recomputed).c_str());
  if (plans.training.second_pass) std::puts(second_pass_line(*plans.training.second_pass).c_str());
  if (plans.training.arena) std::puts(arena_line(*plans.training.arena).c_str());
  std::fflush(stdout);
}

std::string decode_plan_text(const std::string& network, std::int64_t context, DType dtype, bool cached,
                             const Planned& planned, const Bytes& bytes) {
  const std::string by = cached ? message("with a cache of ", context, " symbols")
                                : message("reading ", context, " symbols again for each");
  const Peak peak = peak_of(planned);
  const std::int64_t cache = cached ? planned.plan.bytes.states : 0;  // then nothing else lasts from symbol to symbol
  TextRows rows = {{"", "MiB"}};
  for (std::size_t c = 0; c < kCategories; ++c) {
    const bool is_stored = c == static_cast<std::size_t>(Category::Params);
    const std::int64_t held = peak.bytes[c] - (is_stored ? cache : 0);
    if (held > 0) rows.push_back({std::string(name_of(static_cast<Category>(c))), mib(held)});
    if (is_stored && cache > 0) rows.push_back({"cache", mib(cache)});
  }
  if (peak.idle > 0) rows.push_back({"held, not in use", mib(peak.idle)});
  const std::int64_t of_prompt = bytes.total() - planned.plan.bytes.total();
  if (of_prompt > 0) rows.push_back({"to read a prompt", mib(of_prompt)});
  rows.push_back({"total", mib(peak.total() + of_prompt)});
  return message(network, ": text, ", by, ", ", name_of(dtype), "\n\n", text_table(rows, 1), "\n",
                 predicted_line(bytes), "\n");
}

std::string gpu_lines() {
  std::string text;
  try {
    for (int index = 0; index < gpu_count(); ++index) {
      const DeviceInfo info = open_gpu(index, {})->info();
      text.append(info.name).append(": ").append(mebibytes(info.memory)).append(" free\n");
    }
    return text;
  } catch (const Error& error) {
    return text + with_options(error.what()) + "\n";
  }
}

}  // namespace lethe
