// A plan as JSON.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "framework/error.h"
#include "train/report/option_names.h"
#include "train/report/plan_report.h"

namespace lethe {
namespace {

/// In JSON: "activation_grads".
std::string key_of(Category category) {
  std::string name(name_of(category));
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

/// Null unless parameters are frozen.
nlohmann::ordered_json unfrozen_json(const PlanReport& report) {
  if (!report.unfrozen) return nullptr;
  nlohmann::ordered_json json = {{"peak", report.unfrozen->bytes()}};
  for (std::size_t c = 0; c < kCategories; ++c) json[key_of(static_cast<Category>(c))] = report.unfrozen->peak.bytes[c];
  return json;
}

nlohmann::ordered_json parts_json(const BytesByPart& bytes) {
  nlohmann::ordered_json json;
  for (std::size_t p = 0; p < kParts; ++p) json[std::string(name_of(static_cast<Part>(p)))] = bytes[p];
  return json;
}

/// Null unless of a network of sequences.
nlohmann::ordered_json tokens_json(const PlanReport& report) {
  if (report.context == 0) return nullptr;
  return {{"context", report.context},
          {"step", report.tokens()},
          {"peak", parts_json(report.parts.peak)},
          {"kept", parts_json(report.parts.kept)}};
}

/// The work that ops do once more; null below level 3 if none does.
nlohmann::ordered_json recomputed_json(const PlanReport& report) {
  const std::optional<Recomputed>& facts = report.planned().recomputed;
  if (!facts) return nullptr;
  nlohmann::ordered_json costs;  // null for the rule of thumb
  if (!facts->costs.empty()) costs = facts->costs;
  return {{"ops", facts->ops}, {"flops", 2 * facts->mult_adds}, {"costs", costs}};
}

/// Null where they were not looked at.
nlohmann::ordered_json stages_json(const PlanReport& report) {
  if (report.stages.empty()) return nullptr;
  nlohmann::ordered_json stages;
  for (const ZeroStage& stage : report.stages) {
    stages.push_back({{"zero", stage.zero}, {"bytes", stage.bytes}, {"sent", stage.sent.bytes}});
    if (report.link) stages.back()["seconds"] = report.link->seconds_of(stage.sent);
  }
  return stages;
}

/// Null unless asked for, or where the setting does not fit.
nlohmann::ordered_json advice_json(const PlanReport& report) {
  nlohmann::ordered_json rows;
  for (const Advice& advice : report.advice.changes)
    rows.push_back({{"change", advice.change},
                    {"what", advice.what},
                    {"bytes", advice.bytes},
                    {"overhead", advice.overhead},
                    {"fits", advice.bytes <= report.budget()}});
  return rows;
}

nlohmann::ordered_json refusals_json(const PlanReport& report) {
  nlohmann::ordered_json rows;
  for (const Refusal& refused : report.advice.refusals)
    rows.push_back({{"change", refused.change}, {"reason", with_options(refused.reason)}});
  return rows;
}

}  // namespace

std::string plan_json(const PlanReport& report) {
  using Json = nlohmann::ordered_json;
  const Planned& planned = report.planned();
  Json bytes;
  for (std::size_t c = 0; c < kCategories; ++c) {
    bytes[key_of(static_cast<Category>(c))] = report.all[c];
  }
  const std::int64_t evaluation = report.row_of("none").evaluation;
  bytes["evaluation"] = evaluation;
  bytes["total"] = std::accumulate(report.all.begin(), report.all.end(), evaluation);
  bytes["peak"] = report.row().bytes();
  const Json none = nullptr;
  const bool recomputes = planned.recomputed && planned.recomputed->least_feasible;
  Json json = {
      {"model", report.network},
      {"batch", report.setting.network.batch},
      {"micro_batch", report.setting.micro_batch > 0 ? Json(report.setting.micro_batch) : none},
      {"tokens", tokens_json(report)},
      {"shards", report.setting.shards.parts},
      {"ranks", report.setting.shards.rank.of},
      {"zero", report.setting.shards.zero},
      {"sent", traffic_of(planned.program).bytes},
      {"zero_stages", stages_json(report)},
      {"cheapest_zero", report.limit && report.cheapest_stage() ? Json(report.cheapest_stage()->zero) : none},
      {"dtype", name_of(report.setting.network.dtype)},
      {"memopt", report.setting.memory.text},
      {"device", report.device.name},
      {"program",
       {{"ops", report.ops()}, {"vars", planned.program.vars.size()}, {"blocks", planned.program.blocks.size()}}},
      {"bytes", bytes},
      {"unfrozen", unfrozen_json(report)},
      {"lower_bound", (planned.arena ? *planned.arena : *report.row_of("level=2").arena).lower_bound},
      {"arena", planned.arena ? Json(planned.arena->bytes) : none},
      {"certified", planned.arena ? Json(planned.arena->certified) : none},
      {"any_order", planned.arena ? Json(planned.arena->any_order) : none},
      {"overhead", planned.recomputed ? Json(planned.recomputed->overhead) : none},
      {"recomputed", recomputed_json(report)},
      {"clip_passes", planned.second_pass ? 2 : 1},
      {"budget", report.limit ? Json(*report.limit) : none},
      {"least_feasible", recomputes ? Json(report.plans.least_feasible()) : none},
      {"staged_from_op", planned.plan.staging.inputs.empty() ? none : Json(planned.plan.staging.op + 1)},
      {"advice", advice_json(report)},
      {"refused", refusals_json(report)},
      {"none_peak", report.row_of("none").bytes()},
      {"ms", {{"kernels", planned.kernels_ms}, {"liveness", planned.liveness_ms}, {"plan", planned.plan_ms}}}};
  return json.dump(2) + "\n";
}

}  // namespace lethe
