#include "train/report/bench_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "framework/error.h"
#include "framework/formatted.h"
#include "train/report/memory_report.h"
#include "train/report/text_table.h"

namespace lethe {
namespace {

/// The mean of the middle two if their number is even; 0 of none.
double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::vector<double> medians(const std::vector<std::vector<double>>& processes) {
  std::vector<double> each;
  for (const std::vector<double>& ms : processes) each.push_back(median(ms));
  return each;
}

/// Round against round, so that what slows the machine down for a while falls on both sides.
double slowdown(const BenchRow& row, const BenchRow& first) {
  const std::vector<double> after = medians(row.ms), before = medians(first.ms);
  std::vector<double> ratios;
  for (std::size_t round = 0; round < std::min(after.size(), before.size()); ++round)
    if (before[round] > 0) ratios.push_back(after[round] / before[round]);
  return ratios.empty() ? 1 : median(std::move(ratios));
}

bool has_losses_of(const BenchRow& row, const BenchRow& first) {
  return std::all_of(row.losses.begin(), row.losses.end(),
                     [&](const std::vector<std::string>& losses) { return losses == first.losses.front(); });
}

/// Figures computed from a row and the first one.
struct Compared {
  double saved, ms, slowdown;
  bool loss_equal;
};

Compared compared(const BenchRow& row, const BenchRow& first) {
  return {.saved = 1 - static_cast<double>(row.taken) / static_cast<double>(std::max<std::int64_t>(first.taken, 1)),
          .ms = median(medians(row.ms)),
          .slowdown = slowdown(row, first),
          .loss_equal = has_losses_of(row, first)};
}

TextRows cells(const std::vector<BenchRow>& rows) {
  TextRows table = {{"setting", "planned MiB", "taken MiB", "process MiB", "saved", "ms/step", "slow-down", "loss"}};
  for (const BenchRow& row : rows) {
    const Compared c = compared(row, rows.front());
    table.push_back({row.memopt, mib(row.planned), mib(row.taken), mib(row.process),
                     formatted("%.1f %%", 100 * c.saved), formatted("%.2f", c.ms), formatted("%.3f", c.slowdown),
                     c.loss_equal ? "equal" : "differs"});
  }
  return table;
}

std::string head_line(const BenchHead& head) {
  return message(head.network, ": batch ", head.batch, ", ", head.dtype, ", ", head.rounds, " processes of ",
                 head.steps, " steps each, in turns; ms/step: the median but for the first ", kWarmUpSteps,
                 "; slow-down: of each round\n\n");
}

std::string csv(const std::vector<BenchRow>& rows) {
  std::string text = "memopt,planned,taken,process,saved,ms,slowdown,loss_equal\n";
  for (const BenchRow& row : rows) {
    const Compared c = compared(row, rows.front());
    text += message('"', row.memopt, "\",", row.planned, ',', row.taken, ',', row.process, ',', c.saved, ',', c.ms, ',',
                    c.slowdown, ',', c.loss_equal ? "true" : "false", '\n');
  }
  return text;
}

std::string json(const BenchHead& head, const std::vector<BenchRow>& rows) {
  nlohmann::ordered_json all = {{"model", head.network}, {"batch", head.batch},   {"dtype", head.dtype},
                                {"steps", head.steps},   {"rounds", head.rounds}, {"rows", nlohmann::json::array()}};
  for (const BenchRow& row : rows) {
    const Compared c = compared(row, rows.front());
    all["rows"].push_back({{"memopt", row.memopt},
                           {"planned", row.planned},
                           {"taken", row.taken},
                           {"process", row.process},
                           {"saved", c.saved},
                           {"ms", c.ms},
                           {"slowdown", c.slowdown},
                           {"loss_equal", c.loss_equal}});
  }
  return all.dump(2) + "\n";
}

}  // namespace

std::string bench_as(const std::string& form, const BenchHead& head, const std::vector<BenchRow>& rows) {
  if (form == "csv") return csv(rows);
  if (form == "json") return json(head, rows);
  return head_line(head) + (form == "md" ? markdown_table(cells(rows), 1) : text_table(cells(rows), 1));
}

}  // namespace lethe
