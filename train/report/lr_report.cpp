#include "train/report/lr_report.h"

#include <nlohmann/json.hpp>

#include "framework/error.h"
#include "train/report/formatted.h"
#include "train/report/lr_chart.h"
#include "train/report/markup.h"
#include "train/report/pages.h"
#include "train/report/text_table.h"

namespace lethe {
namespace {

std::string end_of(const LrReport& report) {
  const std::size_t made = report.sweep.points().size();
  if (!report.sweep.diverged()) return message("all ", report.steps, " steps made, the loss did not diverge");
  return message("stopped after ", made, " of ", report.steps,
                 " steps: the loss diverged (its smoothed course is above 4 times its least, or it is no number)");
}

std::string suggestion_of(const LrReport& report) {
  const std::optional<std::size_t> at = report.sweep.steepest();
  const std::string rule = message("where the smoothed loss falls steepest over log(lr), the first ", kSkippedFirst,
                                   " points and the last left out");
  if (!at) return "no --lr suggested: there is no point " + rule;
  return message("suggested --lr ", rate_text(report.sweep.points()[*at].lr), ": ", rule);
}

std::string title_of_sweep(const LrReport& report) {
  return message(report.network, ", batch ", report.batch, ", ", report.dtype, ", ", report.optimizer);
}

}  // namespace

std::string lr_text(const LrReport& report) {
  TextRows rows = {{"step", "lr", "loss", "smoothed"}};
  for (const SweptRate& point : report.sweep.points())
    rows.push_back({std::to_string(rows.size()), formatted("%.3e", point.lr), formatted("%.5g", point.loss),
                    formatted("%.5g", point.smoothed)});
  return message(title_of_sweep(report), "; learning rates from ", rate_text(report.min_lr), " to ",
                 rate_text(report.max_lr), "\n\n", text_table(rows, 0), "\n", end_of(report), "\n",
                 suggestion_of(report), "\n");
}

std::string lr_json(const LrReport& report) {
  using LrJson = nlohmann::ordered_json;
  LrJson points = LrJson::array();
  for (const SweptRate& point : report.sweep.points())
    points.push_back({{"lr", point.lr}, {"loss", point.loss}, {"smoothed", point.smoothed}});
  const std::optional<std::size_t> at = report.sweep.steepest();
  const LrJson json = {{"model", report.network},
                       {"batch", report.batch},
                       {"dtype", report.dtype},
                       {"optimizer", report.optimizer},
                       {"steps", report.steps},
                       {"diverged", report.sweep.diverged()},
                       {"suggestion", at ? LrJson(report.sweep.points()[*at].lr) : LrJson()},
                       {"points", std::move(points)},
                       {"memory", {{"predicted", report.predicted}, {"taken", report.taken}}}};
  return json.dump(-1, ' ', false, LrJson::error_handler_t::replace) + "\n";
}

std::string lr_page(const LrReport& report) {
  return filled(kLrFindHtml, {{"title", markup(title_of_sweep(report))},
                              {"summary", markup(suggestion_of(report))},
                              {"end", markup(end_of(report))},
                              {"style", kPageCss},
                              {"chart", lr_chart(report.sweep)}});
}

}  // namespace lethe
