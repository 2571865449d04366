#include "train/report/sweep.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "framework/error.h"
#include "framework/formatted.h"
#include "train/report/markup.h"
#include "train/report/memory_report.h"
#include "train/report/text_table.h"

namespace lethe {
namespace {

constexpr double kLeft = 72, kRight = 844, kTop = 40, kBottom = 372;  // of the frame, in a picture of 860 x 420

constexpr const char* kStyle =
    "text { font: 13px sans-serif; fill: #555; } .axis { stroke: #555; } .tick { stroke: #ddd; } .mark { stroke: #999; "
    "stroke-dasharray: 5 4; } .course { fill: none; stroke: #2563eb; stroke-width: 2; } .point { fill: #2563eb; }";

/// The picture ends at a forward pass: the last rungs may cost many, and would press all others against the axis.
bool is_drawn(const PricedBytes& point) { return point.recomputed.overhead <= point.recomputed.forward; }

/// What the picture does not show; "" if nothing.
std::string beyond(const MemorySweep& sweep) {
  const PricedBytes& last = sweep.points.back();
  if (is_drawn(last)) return "";
  return message("; beyond a forward pass down to ", mib(last.bytes.total()), " MiB at ",
                 formatted("%.0f %%", 100 * last.recomputed.overhead));
}

/// Where overheads and bytes lie in the picture.
struct Frame {
  double most_overhead, most_bytes;
  double x(double overhead) const { return kLeft + (kRight - kLeft) * overhead / most_overhead; }
  double y(double bytes) const { return kBottom - (kBottom - kTop) * std::min(bytes / most_bytes, 1.0); }
};

Frame frame_of(const MemorySweep& sweep) {
  double most = 0.01;
  for (const PricedBytes& point : sweep.points)
    if (is_drawn(point)) most = std::max(most, point.recomputed.overhead);
  return {.most_overhead = most, .most_bytes = 1.1 * static_cast<double>(sweep.points.front().bytes.total())};
}

std::string axes(const Frame& frame, const std::string& beyond) {
  std::string svg;
  const double across = tick_step(100 * frame.most_overhead), up = tick_step(frame.most_bytes / kMiB);
  for (double percent = 0; percent <= 100 * frame.most_overhead; percent += across) {
    const double x = frame.x(percent / 100);
    svg += line("tick", x, kTop, x, kBottom) + label("middle", x, kBottom + 18, formatted("%g %%", percent));
  }
  for (double mib = 0; mib <= frame.most_bytes / kMiB; mib += up)
    svg += line("tick", kLeft, frame.y(mib * kMiB), kRight, frame.y(mib * kMiB)) +
           label("end", kLeft - 8, frame.y(mib * kMiB) + 4, formatted("%g", mib));
  return svg + line("axis", kLeft, kBottom, kRight, kBottom) + line("axis", kLeft, kTop, kLeft, kBottom) +
         label("middle", (kLeft + kRight) / 2, kBottom + 40, "predicted overhead, of a step" + beyond) +
         label("start", 8, kTop - 8, "MiB");
}

}  // namespace

MemorySweep sweep_of(const ProgramSetting& setting, const DeviceInfo& device) {
  check(setting.training, "a sweep is of training: evaluation computes nothing again");
  Prepared prepared(device);
  const Programs programs = build_programs(setting);
  MemorySweep sweep{.title = title_of(setting)};
  for (const char* memopt : {"none", "level=0", "level=1", "level=2"})
    sweep.marks.emplace_back(
        memopt,
        plan_programs(programs, setting.evaluated, memory_setting(memopt, setting.memory), prepared).bytes.total());
  sweep.points = sweep_programs(programs, setting.evaluated, setting.memory, prepared);
  return sweep;
}

std::string sweep_text(const MemorySweep& sweep) {
  TextRows rows = {{"overhead, predicted", "MiB", "of all kept", "ops once more"}};
  const auto whole = static_cast<double>(sweep.points.front().bytes.total());
  for (const auto& [bytes, recomputed] : sweep.points)
    rows.push_back({formatted("%.2f %%", 100 * recomputed.overhead), mib(bytes.total()),
                    formatted("%.0f %%", 100 * static_cast<double>(bytes.total()) / whole),
                    std::to_string(recomputed.ops)});
  std::string text = sweep.title + "\n\n" + text_table(rows, 0) + "\n";
  for (const auto& [memopt, bytes] : sweep.marks) text += message(memopt, " takes ", mib(bytes), " MiB\n");
  return text;
}

std::string sweep_json(const MemorySweep& sweep) {
  using Json = nlohmann::ordered_json;
  Json points = Json::array(), marks;
  for (const auto& [bytes, recomputed] : sweep.points)
    points.push_back({{"bytes", bytes.total()},
                      {"overhead", recomputed.overhead},
                      {"recomputed", {{"ops", recomputed.ops}, {"flops", 2 * recomputed.mult_adds}}}});
  for (const auto& [memopt, bytes] : sweep.marks) marks[memopt] = bytes;
  return Json{{"title", sweep.title}, {"points", points}, {"marks", marks}}.dump(2) + "\n";
}

std::string sweep_svg(const MemorySweep& sweep) {
  const Frame frame = frame_of(sweep);
  std::string svg = R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 420" role="img">)";
  svg += message("\n<style>", kStyle, "</style>\n<rect width=\"860\" height=\"420\" fill=\"#fff\"/>\n",
                 label("middle", (kLeft + kRight) / 2, 18, markup("Memory of " + sweep.title)),
                 axes(frame, beyond(sweep)));
  std::string course;
  for (const PricedBytes& point : sweep.points) {
    if (!is_drawn(point)) continue;
    const auto& [bytes, recomputed] = point;
    const double x = frame.x(recomputed.overhead), y = frame.y(static_cast<double>(bytes.total()));
    course += formatted("%.1f,%.1f ", x, y);
    svg += formatted(R"(<circle class="point" cx="%.1f" cy="%.1f" r="3"><title>%.2f %%, %s MiB</title></circle>)", x, y,
                     100 * recomputed.overhead, mib(bytes.total()).c_str());
  }
  svg += "\n<polyline class=\"course\" points=\"" + course + "\"/>\n";
  for (const auto& [memopt, bytes] : sweep.marks) {
    const double y = frame.y(static_cast<double>(bytes));
    const bool outside = static_cast<double>(bytes) > frame.most_bytes;
    if (!outside) svg += line("mark", kLeft, y, kRight, y);
    if (!outside) svg += label("end", kRight - 4, y - 4, memopt);
  }
  return svg + "</svg>\n";
}

}  // namespace lethe
