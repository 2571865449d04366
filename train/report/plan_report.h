// What `train plan` finds out: what a network would take under each memory setting, and what would make it less.
#pragma once
#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/ranks/traffic.h"
#include "memopt/memory_map.h"
#include "train/report/advice.h"
#include "train/search/what_fits.h"
#include "train/session/programs.h"

namespace lethe {

/// The owners of activations in a network of sequences.
enum class Part : std::uint8_t {
  Attention,  // what ops of attention read and write, and their workspaces: packed rows, outputs, logarithms of sums
  Head,       // the same of the ops of the loss: their rows, the logits if there are any, losses
  Others
};
inline constexpr std::size_t kParts = 3;
/// "attention".
std::string_view name_of(Part part);

using BytesByPart = std::array<std::int64_t, kParts>;  // of activations, their gradients and workspaces

struct PlanParts {
  BytesByPart peak = {};  // in memory then
  BytesByPart kept = {};  // by the forward ops for those of backward; nothing of evaluation
};
/// `peak`: of `planned`.
PlanParts parts_of(const Planned& planned, const Peak& peak);

/// A memory setting. Where training and evaluation take turns, the peak is that of training.
struct PlanRow {
  std::string memopt;
  Peak peak;
  std::int64_t evaluation = 0;           // bytes that evaluation between steps of training takes beside it
  std::optional<ArenaFacts> arena = {};  // of level=2
  std::int64_t bytes() const { return peak.total() + evaluation; }
};

/// A change of the command line, and the bytes that the peak would then have.
struct Remedy {
  std::string change, what;  // "--batch 64", "half the batch"
  std::int64_t bytes = 0;
};

/// Level 3 within the budget at any price, or if that cannot be the least there is.
struct LevelThree {
  std::string change;                          // "--memopt level=3 --memory-budget 12GiB"
  double overhead = 0;                         // what computing again takes of a step
  std::int64_t bytes = 0, least_feasible = 0;  // the second of the least there is at any price
};

struct PlanReport {
  ProgramSetting setting;
  std::optional<std::int64_t> limit;  // of memory, in bytes
  std::string network;
  DeviceInfo device;
  Plans plans;       // under the setting that was asked for
  BytesBy all = {};  // of all vars of planned(), before anything is shared
  // none, level=0, level=1, level=2, and the setting that was asked for if it is another
  std::vector<PlanRow> rows = {};
  std::size_t asked = 0;                  // its row
  std::vector<Remedy> remedies = {};      // those that help: what fits first, then the cheapest first
  std::optional<Link> link = {};          // between ranks
  std::optional<LevelThree> priced = {};  // where the setting does not fit: what computing again would do about it
  Advised advice = {};                    // where that is asked for, or the setting does not fit
  // The setting's stage of ZeRO and those above, for one of several ranks with a budget or if something takes less
  std::vector<ZeroStage> stages = {};
  std::int64_t context = 0;              // symbols of a sample that is a sequence; else 0
  PlanParts parts = {};                  // of a network of sequences
  std::optional<PlanRow> unfrozen = {};  // where parameters are frozen: what the asked setting takes if all train
  std::int64_t tokens() const { return setting.network.batch * context; }  // of a step
  const Planned& planned() const { return setting.training ? plans.training : plans.evaluation; }
  std::int64_t ops() const;  // of planned(), in all blocks
  const PlanRow& row() const { return rows[asked]; }
  const PlanRow& row_of(const std::string& memopt) const;  // one of the rows
  std::int64_t budget() const;                             // budget_on() the device
  std::int64_t smallest_budget() const;                    // of all settings, level 3 at any price among them
  /// The cheapest of `stages` that fits into the budget; null if none does, or if there are none.
  const ZeroStage* cheapest_stage() const { return cheapest_that_fits(stages, budget(), link); }
  /// The first change of `advice` that fits into the budget; null if none does.
  const Advice* least_change() const { return least_change_that_fits(advice.changes, budget()); }
};

/// Needs no data, takes no memory of a device: networks may be larger than the machine. `busy` is told what is looked
/// at where the setting does not fit, or with `advise`, which may take a while.
PlanReport report_plan(const ProgramSetting& setting, const DeviceInfo& device,
                       const std::function<void(const std::string&)>& busy = {}, bool advise = false);

std::string plan_text(const PlanReport& report);
std::string plan_json(const PlanReport& report);
/// What the arena packs, with offsets, as `train pack` reads it: id,lower,upper,size,offset. Fails unless level=2.
std::string plan_csv(const PlanReport& report);

}  // namespace lethe
