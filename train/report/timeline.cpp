#include "train/report/timeline.h"

#include <nlohmann/json.hpp>

#include "train/report/markup.h"
#include "train/report/memory_report.h"
#include "train/report/summary.h"

namespace lethe {
namespace {

using Json = nlohmann::ordered_json;

TimelineSetting setting_of(ProgramSetting program, const std::string& memopt, Prepared& prepared) {
  program.memory = memory_setting(memopt, std::move(program.memory));
  TimelineSetting setting{.memopt = memopt, .planned = planned_program(program, prepared), .values = {}, .peak = {}};
  setting.values = residents(setting.planned);
  setting.peak = peak_of(setting.planned);
  return setting;
}

std::string note_of(const TimelineSetting& setting) {
  const std::optional<ArenaFacts>& arena = setting.planned.arena;
  if (!arena) return setting.memopt == "none" ? "a buffer for each value" : "buffers of dead values are used again";
  if (!arena->certified) return "one arena";
  return arena->any_order ? "one arena, certified minimal for any order of ops"
                          : "one arena, certified minimal for this order of ops";
}

Json ops_of(const Planned& planned) {
  Json ops = Json::array();
  for (const auto& [block, index] : planned.live.at) {
    const Op& op = planned.program.blocks[block].ops[index];
    ops.push_back({op.type, op.out.empty() ? "" : planned.program.vars[op.out[0]].name, static_cast<int>(op.role)});
  }
  return ops;
}

/// Where each buffer begins on the map, and where the last ends.
std::vector<std::int64_t> begins_of(const Plan& plan) {
  std::vector<std::int64_t> begins = {0};
  for (const PlannedBuffer& buffer : plan.buffers) begins.push_back(begins.back() + buffer.bytes);
  return begins;
}

Json json_of(const TimelineSetting& setting) {
  const std::vector<std::int64_t> begins = begins_of(setting.planned.plan);
  Json values = Json::array();
  for (const Resident& r : setting.values) {
    const bool mapped = r.place.buffer >= 0;
    values.push_back({r.var, static_cast<int>(r.category), r.bytes, r.life.born, r.until, r.life.dies,
                      mapped ? begins[static_cast<std::size_t>(r.place.buffer)] + r.place.offset : -1});
  }
  return {{"memopt", setting.memopt},   {"note", note_of(setting)},  {"bytes", setting.planned.plan.bytes.total()},
          {"span", begins.back()},      {"peak", setting.peak.step}, {"ops", ops_of(setting.planned)},
          {"values", std::move(values)}};
}

std::string without_tags(const std::string& json) {
  std::string all;
  for (const char c : json) c == '<' ? all.append("\\u003c") : all.append(1, c);
  return all;
}

std::string summary_of(const Timeline& timeline) {
  const std::int64_t none = timeline.settings.front().planned.plan.bytes.total();
  std::string text;
  for (const TimelineSetting& s : timeline.settings) {
    const std::int64_t bytes = s.planned.plan.bytes.total();
    text.append(text.empty() ? "" : "; ").append(s.memopt).append(" ").append(mebibytes(bytes));
    if (bytes != none) text.append(" (").append(percent_change(none, bytes)).append(")");
  }
  return text;
}

}  // namespace

Timeline timeline_of(const ProgramSetting& program, const DeviceInfo& device) {
  Prepared prepared(device);
  Timeline timeline{.title = title_of(program), .settings = {}};
  for (const char* memopt : {"none", "level=1", "level=2"})
    timeline.settings.push_back(setting_of(program, memopt, prepared));
  return timeline;
}

std::string timeline_json(const Timeline& timeline) {
  Json categories = Json::array(), vars = Json::array(), settings = Json::array();
  for (std::size_t c = 0; c < kCategories; ++c) categories.push_back(name_of(static_cast<Category>(c)));
  // Every setting keeps the vars of the program as they are, and may have more after them.
  for (const TimelineSetting& setting : timeline.settings) {
    const std::vector<Var>& all = setting.planned.program.vars;
    for (std::size_t v = vars.size(); v < all.size(); ++v)
      vars.push_back({all[v].name, layer_of(all[v].name), text_of(all[v])});
  }
  for (const TimelineSetting& setting : timeline.settings) settings.push_back(json_of(setting));
  const Json all = {
      {"categories", std::move(categories)}, {"vars", std::move(vars)}, {"settings", std::move(settings)}};
  return without_tags(all.dump(-1, ' ', true, Json::error_handler_t::replace));
}

std::string timeline_page(const Timeline& timeline) {
  return filled(kTimelineHtml, {{"title", markup(timeline.title)},
                                {"summary", markup(summary_of(timeline))},
                                {"style", std::string(kPageCss) + kTimelineCss},
                                {"script", kTimelineJs},
                                {"data", timeline_json(timeline)}});
}

}  // namespace lethe
