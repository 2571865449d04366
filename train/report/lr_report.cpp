#include "train/report/lr_report.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "framework/error.h"
#include "framework/formatted.h"
#include "train/report/markup.h"
#include "train/report/text_table.h"

namespace lethe {
namespace {

constexpr double kLeft = 64, kRight = 844, kTop = 24, kBottom = 372;  // of the frame, in a picture of 860 x 420

/// The decades and losses that the picture shows, and where in it they lie.
class Frame {
 public:
  explicit Frame(const std::vector<SweptRate>& points) {
    if (points.empty()) return;
    first_ = std::log10(points.front().lr);
    last_ = std::max(std::log10(points.back().lr), first_ + 1e-9);
    double low = points.front().loss, high = points.front().smoothed;
    for (const SweptRate& point : points) {
      low = std::min({low, point.loss, point.smoothed});
      high = std::max(high, point.smoothed);
    }
    const double fall = points.front().smoothed - low;  // which takes half of the height at least
    const double top = fall > 0 ? std::min(high, low + 2 * fall) : high;
    const double room = std::max(top - low, 1e-9 + 0.01 * std::abs(top)) * 0.1;
    least_ = low - room;
    most_ = top + room;
  }
  double x(double lr) const { return kLeft + (kRight - kLeft) * (std::log10(lr) - first_) / (last_ - first_); }
  /// Losses above the frame end at it.
  double y(double loss) const {
    return kBottom - (kBottom - kTop) * std::clamp((loss - least_) / (most_ - least_), 0.0, 1.0);
  }
  double first() const { return first_; }
  double last() const { return last_; }
  double least() const { return least_; }
  double most() const { return most_; }

 private:
  double first_ = 0, last_ = 1, least_ = 0, most_ = 1;
};

std::string axes(const Frame& frame) {
  std::string svg;
  for (double decade = std::ceil(frame.first() - 1e-9); decade <= frame.last() + 1e-9; ++decade) {
    const double lr = std::pow(10, decade);
    svg += line("tick", frame.x(lr), kTop, frame.x(lr), kBottom) +
           label("middle", frame.x(lr), kBottom + 18, rate_text(lr));
  }
  const double step = tick_step(frame.most() - frame.least());
  for (double loss = std::ceil(frame.least() / step) * step; loss <= frame.most(); loss += step)
    svg += line("tick", kLeft, frame.y(loss), kRight, frame.y(loss)) +
           label("end", kLeft - 8, frame.y(loss) + 4, formatted("%.4g", std::abs(loss) < step / 2 ? 0 : loss));
  return svg + line("axis", kLeft, kBottom, kRight, kBottom) + line("axis", kLeft, kTop, kLeft, kBottom) +
         label("middle", (kLeft + kRight) / 2, kBottom + 40, "learning rate") + label("start", 8, 14, "loss");
}

std::string course(const char* name, const Frame& frame, const std::vector<SweptRate>& points,
                   double SweptRate::*loss) {
  std::string svg = formatted(R"(<polyline class="%s" points=")", name);
  for (const SweptRate& point : points) svg += formatted("%.1f,%.1f ", frame.x(point.lr), frame.y(point.*loss));
  return svg + "\"/>\n";
}

/// A dot to point at, which tells its numbers.
std::string dot(const char* name, const Frame& frame, const SweptRate& point, double radius) {
  return formatted(R"(<circle class="%s" cx="%.1f" cy="%.1f" r="%g">)", name, frame.x(point.lr),
                   frame.y(point.smoothed), radius) +
         formatted("<title>lr %.3g, loss %.5g, smoothed %.5g</title></circle>\n", point.lr, point.loss, point.smoothed);
}

std::string mark(const Frame& frame, const SweptRate& point) {
  const double x = frame.x(point.lr);
  const bool on_the_right = x < (kLeft + kRight) / 2;
  return line("suggestion", x, kTop, x, kBottom) +
         label(on_the_right ? "start" : "end", on_the_right ? x + 6 : x - 6, kTop + 14, "--lr " + rate_text(point.lr)) +
         dot("chosen", frame, point, 5);
}

/// Axes, the losses, their smoothed course with a text for each point, and a line at the suggestion. The page that it
/// stands in has the classes `axis`, `tick`, `raw`, `smoothed`, `point` and `suggestion`.
std::string lr_chart(const LrSweep& sweep) {
  const std::vector<SweptRate>& points = sweep.points();
  const Frame frame(points);
  std::string svg = axes(frame) + course("raw", frame, points, &SweptRate::loss) +
                    course("smoothed", frame, points, &SweptRate::smoothed);
  for (const SweptRate& point : points) svg += dot("point", frame, point, 4);
  if (const std::optional<std::size_t> at = sweep.steepest()) svg += mark(frame, points[*at]);
  return svg;
}

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

std::string rate_text(double lr) { return formatted("%.3g", lr); }

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
