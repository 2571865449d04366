#include "train/report/scaling.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "framework/error.h"
#include "framework/formatted.h"
#include "train/report/markup.h"
#include "train/report/memory_report.h"
#include "train/report/text_table.h"

namespace lethe {
namespace {

/// The setting with so many times as many ranks, each with as many samples as before.
ProgramSetting on_more(ProgramSetting setting, std::int64_t times) {
  setting.network.batch *= times;
  setting.shards.parts *= times;
  setting.shards.rank.of *= times;
  return setting;
}

ScalingRow row_on(const ProgramSetting& setting, Prepared& prepared, const SecondsOf& seconds_of, const Link& link,
                  Exchange exchange) {
  const Plans plans = plan_programs(build_programs(setting), setting.evaluated, setting.memory, prepared);
  const Program& program = plans.training.program;
  return {.ranks = setting.shards.rank.of,
          .batch = setting.network.batch,
          .bytes = plans.bytes.total(),
          .sent = traffic_of(program).bytes,
          .step = simulated_step(program, seconds_of, link, exchange)};
}

const char* word_of(Exchange exchange) {
  return exchange == Exchange::Ring ? "ring" : exchange == Exchange::Tree ? "tree" : "pieces";
}

std::string in_ms(double seconds) { return formatted("%.1f", 1000 * seconds); }

std::string rests_on(const Scaling& scaling) {
  return message("Predicted, not measured: links of ", formatted("%g", 8e-9 * scaling.link.bytes), " Gbit/s and ",
                 formatted("%g", 1e6 * scaling.link.latency), " us; sums by ", word_of(scaling.exchange), "; kernels ",
                 scaling.measured ? "as --costs has it" : "by rule of thumb", "; all ranks alike.");
}

constexpr double kFirstX = 72, kLastX = 788, kHighest = 48, kLowest = 372;  // of the frame, in a picture of 860 x 440

constexpr const char* kCourseStyle =
    "text { font: 13px sans-serif; fill: #555; } .axis { stroke: #555; } .tick { stroke: #ddd; } .time, .bytes { fill: "
    "none; stroke: #2563eb; stroke-width: 2; } .bytes { stroke: #d97706; stroke-dasharray: 6 4; } .of_time { fill: "
    "#2563eb; } .of_bytes { fill: #d97706; }";

/// A figure of each row, drawn from 0 upwards.
class Course {
 public:
  Course(const Scaling& scaling, std::string name, const std::function<double(const ScalingRow&)>& value)
      : name_(std::move(name)) {
    for (const ScalingRow& row : scaling.rows) values_.push_back(value(row));
    most_ = 1.1 * *std::max_element(values_.begin(), values_.end());
  }
  double most() const { return most_; }
  double y(double value) const { return kLowest - (kLowest - kHighest) * value / most_; }
  std::string drawn() const {
    std::string points, svg;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const double x = x_of(i, values_.size()), height = y(values_[i]);
      points += formatted("%.1f,%.1f ", x, height);
      svg += formatted(R"(<circle class="of_%s" cx="%.1f" cy="%.1f" r="3"><title>%.1f</title></circle>)", name_.c_str(),
                       x, height, values_[i]);
    }
    return svg + "\n<polyline class=\"" + name_ + "\" points=\"" + points + "\"/>\n";
  }
  static double x_of(std::size_t row, std::size_t rows) {
    return kFirstX +
           (kLastX - kFirstX) * static_cast<double>(row) / static_cast<double>(std::max<std::size_t>(rows - 1, 1));
  }

 private:
  std::string name_;
  std::vector<double> values_;
  double most_;
};

std::string axes_of_ranks(const Scaling& scaling, const Course& time, const Course& bytes) {
  std::string svg;
  for (std::size_t i = 0; i < scaling.rows.size(); ++i) {
    const double x = Course::x_of(i, scaling.rows.size());
    svg +=
        line("tick", x, kHighest, x, kLowest) + label("middle", x, kLowest + 18, std::to_string(scaling.rows[i].ranks));
  }
  for (double at = 0, step = tick_step(time.most()); at <= time.most(); at += step)
    svg += line("tick", kFirstX, time.y(at), kLastX, time.y(at)) +
           label("end", kFirstX - 8, time.y(at) + 4, formatted("%g", at));
  for (double at = 0, step = tick_step(bytes.most()); at <= bytes.most(); at += step)
    svg += label("start", kLastX + 8, bytes.y(at) + 4, formatted("%g", at));
  return svg + line("axis", kFirstX, kLowest, kLastX, kLowest) + line("axis", kFirstX, kHighest, kFirstX, kLowest) +
         line("axis", kLastX, kHighest, kLastX, kLowest) +
         label("middle", (kFirstX + kLastX) / 2, kLowest + 38, "ranks, each with as many samples") +
         label("start", 8, kHighest - 10, "ms a step, solid") + label("end", 852, kHighest - 10, "MiB a rank, dashed");
}

}  // namespace

double Scaling::efficiency(const ScalingRow& row) const { return rows.front().step.total() / row.step.total(); }

Scaling scaling_of(const ProgramSetting& setting, const DeviceInfo& device, std::int64_t most, const Link& link,
                   Exchange exchange) {
  check(setting.training, "a prediction for many ranks is of training: evaluation sends nothing in its steps");
  const SecondsOf measured = setting.memory.levels.costs.seconds_of;
  Prepared prepared(device);
  Scaling scaling{.title = title_of(setting), .link = link, .exchange = exchange, .measured = measured != nullptr};
  for (std::int64_t times = 1; times * setting.shards.rank.of <= most; times *= 2)
    scaling.rows.push_back(
        row_on(on_more(setting, times), prepared, measured ? measured : seconds_on(device), link, exchange));
  return scaling;
}

std::string scaling_text(const Scaling& scaling) {
  TextRows rows = {{"ranks", "batch", "MiB a rank", "MiB sent", "ms computing", "ms waiting", "ms a step", "samples/s",
                    "of the first"}};
  for (const ScalingRow& row : scaling.rows)
    rows.push_back({std::to_string(row.ranks), std::to_string(row.batch), mib(row.bytes), mib(row.sent),
                    in_ms(row.step.computing), in_ms(row.step.waiting), in_ms(row.step.total()),
                    formatted("%.0f", row.samples_a_second()), formatted("%.0f %%", 100 * scaling.efficiency(row))});
  return scaling.title + "\n\n" + text_table(rows, 0) + "\n" + rests_on(scaling) + "\n";
}

std::string scaling_json(const Scaling& scaling) {
  using Json = nlohmann::ordered_json;
  Json rows = Json::array();
  for (const ScalingRow& row : scaling.rows)
    rows.push_back({{"ranks", row.ranks},
                    {"batch", row.batch},
                    {"bytes", row.bytes},
                    {"sent", row.sent},
                    {"seconds",
                     {{"computing", row.step.computing},
                      {"waiting", row.step.waiting},
                      {"sending", row.step.sending},
                      {"step", row.step.total()}}},
                    {"samples_a_second", row.samples_a_second()},
                    {"efficiency", scaling.efficiency(row)}});
  return Json{{"title", scaling.title},
              {"link", {{"bytes_a_second", scaling.link.bytes}, {"latency", scaling.link.latency}}},
              {"exchange", word_of(scaling.exchange)},
              {"measured_kernels", scaling.measured},
              {"rows", rows}}
             .dump(2) +
         "\n";
}

std::string scaling_svg(const Scaling& scaling) {
  const Course time(scaling, "time", [](const ScalingRow& row) { return 1000 * row.step.total(); });
  const Course bytes(scaling, "bytes", [](const ScalingRow& row) { return static_cast<double>(row.bytes) / kMiB; });
  return message(R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 440" role="img">)", "\n<style>",
                 kCourseStyle, "</style>\n<rect width=\"860\" height=\"440\" fill=\"#fff\"/>\n",
                 label("middle", (kFirstX + kLastX) / 2, 18, markup("Ranks: " + scaling.title)),
                 axes_of_ranks(scaling, time, bytes), time.drawn(), bytes.drawn(),
                 label("middle", (kFirstX + kLastX) / 2, 432, markup(rests_on(scaling))), "</svg>\n");
}

}  // namespace lethe
