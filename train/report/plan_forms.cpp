// How a plan is written.
#include <algorithm>
#include <utility>

#include "framework/error.h"
#include "framework/formatted.h"
#include "framework/language/text.h"
#include "train/report/memory_report.h"
#include "train/report/option_names.h"
#include "train/report/pack_csv.h"
#include "train/report/plan_report.h"
#include "train/report/summary.h"
#include "train/report/text_table.h"

namespace lethe {
namespace {

constexpr std::size_t kLargest = 10;

std::string work_of(const ProgramSetting& setting) {
  if (!setting.training) return "evaluation";
  return message("training with ", setting.update.name, setting.evaluated ? ", evaluation between" : "");
}

std::string head(const PlanReport& report) {
  const NetworkSetting& of = report.setting.network;
  const Program& program = report.planned().program;
  const std::string tokens =
      report.context == 0 ? ""
                          : message(" of ", grouped(report.context), " tokens, ", grouped(report.tokens()), " a step");
  return message(report.network, ": batch ", batch_text(report.setting), tokens, ", ", name_of(of.dtype), ", ",
                 work_of(report.setting), "; ", grouped(report.ops()), " ops, ",
                 grouped(static_cast<std::int64_t>(program.vars.size())), " vars, ", program.blocks.size(),
                 program.blocks.size() == 1 ? " block" : " blocks", "\n\n");
}

/// Says of a GPU what the plan rests on, and what it does not hold.
std::string device_text(const DeviceInfo& device) {
  if (device.kind == DeviceKind::Cpu) return "";
  const bool described = !device.properties.empty();
  return message("on ", device.name, described ? " by description: predicted, not seen on one" : "", "; of its ",
                 mebibytes(device.memory), described ? "" : " that are free",
                 ", what the CUDA context and the libraries' code take is outside our control and comes on top\n");
}

std::string categories_text(const PlanReport& report) {
  TextRows rows = {{"MiB, at each setting's peak"}};
  for (std::size_t c = 0; c < kCategories; ++c) rows.push_back({std::string(name_of(static_cast<Category>(c)))});
  rows.push_back({"held, not in use"});
  rows.push_back({"evaluation's own"});
  rows.push_back({"total"});
  for (const PlanRow& row : report.rows) {
    rows[0].push_back(row.memopt);
    for (std::size_t c = 0; c < kCategories; ++c) rows[c + 1].push_back(mib(row.peak.bytes[c]));
    rows[kCategories + 1].push_back(mib(row.peak.idle));
    rows[kCategories + 2].push_back(mib(row.evaluation));
    rows[kCategories + 3].push_back(mib(row.bytes()));
  }
  if (!report.setting.training) rows.erase(rows.end() - 2);
  const NetworkSetting& of = report.setting.network;
  const auto row_of = [&](Category category) { return rows.begin() + 1 + static_cast<int>(category); };
  if (wide_of(of.dtype) == of.dtype && of.frozen.types.empty() && !of.param_dtype)
    rows.erase(row_of(Category::ParamCopies));
  constexpr auto kFrozen = static_cast<std::size_t>(Category::Frozen);
  if (std::ranges::all_of(report.rows, [](const PlanRow& row) { return row.peak.bytes[kFrozen] == 0; }))
    rows.erase(row_of(Category::Frozen));
  return text_table(rows, 1);
}

std::string frozen_text(const PlanReport& report) {
  if (!report.unfrozen) return "";
  // Other categories are those of another moment: each plan has its own peak.
  constexpr auto kStates = static_cast<std::size_t>(Category::Optimizer);
  const std::int64_t all = report.unfrozen->bytes() - report.row().bytes();
  return message(report.setting.network.lora.any() ? "LoRA" : "freezing", " saves ", all, " bytes (", mebibytes(all),
                 ") of ", report.unfrozen->bytes(), ", ",
                 mebibytes(report.unfrozen->peak.bytes[kStates] - report.row().peak.bytes[kStates]),
                 " of them states of the optimizer\n");
}

/// Says whose the activations of a network of sequences are.
std::string parts_text(const PlanReport& report) {
  if (report.context == 0) return "";
  TextRows rows = {{"MiB of activations, their gradients and workspaces"}, {"at the peak of " + report.row().memopt}};
  if (report.setting.training) rows.push_back({"kept for backward"});
  for (std::size_t p = 0; p < kParts; ++p) {
    rows[0].emplace_back(name_of(static_cast<Part>(p)));
    rows[1].push_back(mib(report.parts.peak[p]));
    if (report.setting.training) rows[2].push_back(mib(report.parts.kept[p]));
  }
  return "\n" + text_table(rows, 1);
}

/// Says from which op on a GPU copies the inputs of the next step.
std::string staging_text(const DeviceInfo& device, const Planned& planned) {
  const Staging& staging = planned.plan.staging;
  if (device.kind == DeviceKind::Cpu) return "";
  if (staging.inputs.empty()) return "inputs are copied between the steps\n";
  return message("inputs of the next step are copied from op ", staging.op + 1, " of ",
                 planned.program.blocks[0].ops.size(), " on, into memory that is idle by then\n");
}

std::string op_text(const Planned& planned, Tick step) {
  const auto [block, index] = planned.live.at[step];
  return text_of(planned.program, planned.program.blocks[block].ops[index]);
}

/// The largest values at the peak; of a plan that does not fit all, to the byte.
std::string largest_text(const PlanReport& report) {
  const PlanRow& row = report.row();
  const Planned& planned = report.planned();
  const Program& program = planned.program;
  const bool fits = row.bytes() <= report.budget();
  const auto amount = [&](std::int64_t bytes) { return fits ? mib(bytes) : grouped(bytes); };
  std::string text = message("\nIn memory at the peak of ", row.memopt, ", step ", row.peak.step, " of ",
                             planned.live.ticks(), ", ", op_text(planned, row.peak.step), ":\n\n");
  TextRows rows = {{"var", "type", "layer", "born", "dies", fits ? "MiB" : "bytes"}};
  std::int64_t rest = row.peak.total() - row.peak.idle;
  const std::size_t shown = fits ? std::min(kLargest, row.peak.living.size()) : row.peak.living.size();
  for (std::size_t i = 0; i < shown; ++i) {
    const Resident& r = row.peak.living[i];
    const std::string life[] = {std::to_string(r.life.born), std::to_string(r.life.dies)};
    if (r.var == kNone) {
      rows.push_back({"(workspace)", "", op_text(planned, r.op.first), life[0], life[1], amount(r.bytes)});
    } else {
      const Var& var = program.vars[r.var];
      rows.push_back({var.name, text_of(var), layer_of(var.name), life[0], life[1], amount(r.bytes)});
    }
    rest -= r.bytes;
  }
  if (fits) rows.push_back({message(row.peak.living.size() - shown, " others"), "", "", "", "", amount(rest)});
  rows.push_back({"held, not in use", "", "", "", "", amount(row.peak.idle + (fits ? 0 : rest))});
  if (report.setting.training) rows.push_back({"evaluation's own", "", "", "", "", amount(row.evaluation)});
  rows.push_back({"total", "", "", "", "", amount(row.bytes())});
  return text + text_table(rows, 3);
}

/// Seconds that the link takes for it, if one is given.
std::string time_text(const PlanReport& report, const Traffic& traffic) {
  if (!report.link) return "";
  return message(", predicted ", formatted("%.2f", 1000 * report.link->seconds_of(traffic)), " ms");
}

/// Says what one of several ranks sends.
std::string ranks_text(const PlanReport& report) {
  const std::int64_t ranks = report.setting.shards.rank.of;
  if (ranks == 1 || !report.setting.training) return "";
  const Traffic traffic = traffic_of(report.planned().program);
  return message("each of ", ranks, " ranks sends ", traffic.bytes, " bytes (", mebibytes(traffic.bytes),
                 ") a step in ", traffic.exchanges, " exchanges", time_text(report, traffic), "\n");
}

/// Says which stage fits, if there is a budget and no stage above 0 was asked for.
std::string cheapest_stage_text(const PlanReport& report) {
  if (report.stages.empty() || !report.limit || report.setting.shards.zero > 0) return "";
  const ZeroStage* const stage = report.cheapest_stage();
  if (!stage) return with_options(none_fits(report.stages, report.budget())) + "\n";
  return message("--zero ", stage->zero, " is the cheapest stage that fits into ", report.budget(), " bytes: takes ",
                 stage->bytes, " bytes (", mebibytes(stage->bytes), "), sends ", stage->sent.bytes, " bytes (",
                 mebibytes(stage->sent.bytes), ") a step", time_text(report, stage->sent), "\n");
}

std::string remedies_text(const PlanReport& report) {
  if (report.remedies.empty()) return "";
  TextRows rows;
  for (const Remedy& remedy : report.remedies)
    rows.push_back({remedy.change, remedy.what, mib(remedy.bytes), percent_change(report.row().bytes(), remedy.bytes)});
  return "\nWhat would take less, in MiB:\n\n" + text_table(rows, 2);
}

/// "fits", "fits, computing again 4.2 % of a step", "does not fit".
std::string fit_text(const PlanReport& report, const Advice& advice) {
  if (advice.bytes > report.budget()) return "does not fit";
  return advice.overhead > 0 ? formatted("fits, computing again %.1f %% of a step", 100 * advice.overhead) : "fits";
}

std::string advice_text(const PlanReport& report) {
  TextRows rows;
  for (const Advice& advice : report.advice.changes) {
    rows.push_back({advice.change, advice.what, mib(advice.bytes), percent_change(report.row().bytes(), advice.bytes)});
    if (report.limit || report.row().bytes() > report.budget()) rows.back().push_back(fit_text(report, advice));
  }
  std::string text;
  if (!rows.empty()) text = "\nTrained otherwise, the least change first, in MiB:\n\n" + text_table(rows, 2);
  for (std::string before = "\n"; const Refusal& refused : report.advice.refusals)
    text += std::exchange(before, "") + refused.change + " is not possible: " + with_options(refused.reason) + "\n";
  return text;
}

}  // namespace

std::string plan_text(const PlanReport& report) {
  std::string text = head(report) + categories_text(report) + parts_text(report) + "\n";
  const Planned& planned = report.planned();
  text += (planned.arena ? arena_line(*planned.arena) : bound_line(*report.row_of("level=2").arena)) + "\n";
  if (planned.recomputed) text += recomputed_line(*planned.recomputed) + "\n";
  if (planned.second_pass) text += second_pass_line(*planned.second_pass) + "\n";
  for (const std::string& note : planned.notes) text += with_options(note) + "\n";
  text += staging_text(report.device, planned);
  text += predicted_line(report.plans.bytes, report.plans.at_most) + "\n" + frozen_text(report) + ranks_text(report);
  text += cheapest_stage_text(report);
  text += device_text(report.device);
  return text + largest_text(report) + remedies_text(report) + advice_text(report);
}

std::string plan_csv(const PlanReport& report) {
  const Planned& planned = report.planned();
  check(planned.arena.has_value(), "--csv: only level=2 packs an arena, not ", report.setting.memory.text);
  PackTable table;
  std::vector<std::int64_t> offsets;
  const auto add = [&](std::string id, const Life& life, std::int64_t bytes, Place place) {
    table.ids.push_back(std::move(id));
    table.items.push_back({.lower = life.born,
                           .upper = std::min(life.dies, planned.live.ticks()),
                           .size = round_up(bytes, planned.workspaces.alignment)});
    offsets.push_back(place.offset);
  };
  for (const Storage& s : planned.sharing.storages)
    if (s.pin != Pin::Persistable && !s.life.is_empty())
      add(planned.program.vars[s.root].name, s.life, s.bytes, planned.plan.vars[s.root]);
  for (const Resident& r : residents(planned))
    if (r.var == kNone) add(message("workspace of op ", r.op.first), r.life, r.bytes, r.place);
  return pack_csv(table, offsets);
}

}  // namespace lethe
