#include "train/introduction.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "framework/builder/frozen.h"
#include "framework/builder/network_weights.h"
#include "framework/error.h"
#include "framework/name_pattern.h"
#include "kernels/cpu/bf16_units.h"
#include "kernels/cpu/workers.h"
#include "kernels/provider.h"
#include "train/recipe.h"
#include "train/report/text_table.h"
#include "train/search/step_profile.h"
#include "train/session/device.h"
#include "train/weights_recipe.h"

namespace lethe {
namespace {

/// A resumed run counts its steps in the same epochs.
void check_position(const Start& start, std::int64_t per_epoch) {
  const RunState& state = start.state;
  const bool same_epochs =
      state.step >= 0 && state.epoch == state.step / per_epoch && state.batch_in_epoch == state.step % per_epoch;
  check_as(Exit::Data, same_epochs, start.checkpoint, ": step ", state.step, " is batch ", state.batch_in_epoch,
           " of epoch ", state.epoch, " there, but the data has ", per_epoch,
           " batches an epoch; is it the same data?");
}

/// A curve that follows the length of the run becomes another when that does.
void note_moved_rate(Progress& progress, const Options& options, const Start& start, std::int64_t per_epoch) {
  constexpr double kMoved = 0.1;  // of the rate
  const RunState& state = start.state;
  OptionValues length = {{"model", options.program.network.model}};
  for (const char* name : {"steps", "epochs"})
    if (const auto found = state.options.find(name); found != state.options.end()) length.insert(*found);
  const Options begun = with_values({}, length);
  const RunSetting now = options.course;
  RunSetting before = now;
  before.steps = begun.course.steps, before.epochs = begun.course.epochs;
  const RunLength run = length_of(now, per_epoch), run_before = length_of(before, per_epoch);
  if (state.step == 0 || state.step >= run.total || options.course.schedule_text != state.schedule) return;
  const auto last_rate = [&](const RunLength& of) { return now.schedule.at(state.step - 1, of, state.learning_rate); };
  if (std::abs(last_rate(run) - last_rate(run_before)) <= kMoved * last_rate(run_before)) return;
  progress.note(message("the learning rate goes from ", last_rate(run_before), " to ",
                        now.schedule.at(state.step, run, now.lr), ", since ", state.schedule, " spans ", run.total,
                        " steps now, not ", run_before.total, "; --schedule constant --lr X goes on evenly, --weights ",
                        start.checkpoint, " starts a new run from here"));
}

/// Rates of their own that are others from here on.
void note_other_rates(Progress& progress, const Options& options, const RunState& state) {
  const OptionValues kept = values_to_keep(options);
  const auto value_in = [](const OptionValues& values, const std::string& name) {
    const auto found = values.find(name);
    return found == values.end() ? message("no --", name) : message("--", name, ' ', found->second);
  };
  for (const char* name : {"lr-of", "layer-decay"})
    if (const std::string before = value_in(state.options, name), now = value_in(kept, name); before != now)
      progress.note(message("note: the run had ", before, "; it goes on with ", now));
}

std::int64_t numbers_in(const Network& network, const std::set<VarId>& params) {
  std::int64_t numbers = 0;
  for (const VarId v : params) numbers += elements(network.program.vars[v].shape);
  return numbers;
}

/// Whose modules they are as a library calls them, if it does.
std::string adapters_line(const Network& network) {
  std::vector<std::string> modules;
  std::set<VarId> params;
  for (const Adapter& adapter : network.adapters) modules.push_back(adapter.module);
  for (const std::string& name : adapter_params(network)) params.insert(find_var(network.program, name));
  return message("adapters of ", grouped(numbers_in(network, params)), " numbers train beside ", some_of(modules));
}

/// What is frozen, and what a resumed run changes about that.
void note_frozen(Progress& progress, const Options& options, const Network& network, const Start& start) {
  std::set<VarId> all;
  for (const ParamInfo& info : network.params)
    if (network.program.vars[info.var].kind == Kind::Param) all.insert(info.var);
  if (!network.adapters.empty()) progress.note(adapters_line(network));
  if (!network.frozen.empty())
    progress.note(message("frozen are ", network.frozen.size(), " of ", all.size(), " parameters, ",
                          grouped(numbers_in(network, network.frozen)), " of ", grouped(numbers_in(network, all)),
                          " numbers"));
  else if (options.program.network.frozen.any())
    progress.note("frozen are running statistics alone: batch norm normalises by them and leaves them");
  if (network.frozen.empty() && !options.program.network.frozen.types.empty())
    progress.note("--frozen-dtype changes nothing, since no parameter is frozen");
  if (start.checkpoint.empty()) return;
  const std::vector<std::string> now = frozen_params(network), &before = start.state.frozen;
  std::vector<std::string> gone, came;
  std::ranges::set_difference(now, before, std::back_inserter(gone));
  std::ranges::set_difference(before, now, std::back_inserter(came));
  if (gone.empty() && came.empty()) return;
  const std::string& low = options.program.network.frozen.types;
  progress.note(message("the run goes on with",
                        gone.empty() ? ""
                                     : message(" ", some_of(gone), " frozen", low.empty() ? "" : message(" in ", low),
                                               ", whose states of the optimizer, if any, are dropped"),
                        gone.empty() || came.empty() ? "" : ", and",
                        came.empty() ? "" : message(" ", some_of(came), " trained, whose states begin at zero")));
}

}  // namespace

void introduce(Progress& progress, const Options& options, const Network& network, const Batches& batches,
               const std::vector<std::string>& classes, const Start& start) {
  const RunLength length = length_of(options.course, batches.per_epoch());
  progress.note(message(network.name, ": batch ", options.program.network.batch, ", ", length.total, " steps, ",
                        batches.per_epoch(), " an epoch; ", options.program.update.name, ", learning rate ",
                        options.course.lr, ", ", options.course.schedule_text, ", seed ",
                        options.program.network.seed));
  const DType dtype = options.program.network.dtype;
  if (options.device.name == "cpu" && !multiplies_on_cpu(dtype) && !(dtype == DType::bf16 && has_amx()))
    progress.note(message(name_of(dtype), " saves memory but no time here: products are computed in f32"));
  if (options.device.fast_f32 && !has_amx())
    progress.note("--fast-f32 would save no time here, since this processor has no AMX: f32 is computed exactly");
  if (options.device.name == "cpu" && options.device.threads > processors())
    progress.note(message("--threads ", options.device.threads, " is more than the processors here, ", processors(),
                          ": threads take turns, which is slower than one a processor"));
  if (batches.dropped() > 0)
    progress.note(message("each epoch leaves out ", batches.dropped(), " samples, less than a batch"));
  const Meaning meaning_before = meaning_of(run_of_weights(options.checkpoints.weights.path));
  if (!meaning_before.classes.empty() && meaning_before.classes != classes)
    progress.note(message("note: labels are ", joined(classes), "; to the run beside --weights they were ",
                          joined(meaning_before.classes)));
  note_frozen(progress, options, network, start);
  if (start.checkpoint.empty()) return;
  check_position(start, batches.per_epoch());
  progress.note(message("resumed from ", start.checkpoint));
  note_moved_rate(progress, options, start, batches.per_epoch());
  note_other_rates(progress, options, start.state);
  if (start.save.empty())
    progress.note("one checkpoint was named, so nothing will be saved; --save DIR names where to");
}

void warn_of_slow_steps(const Program& program, const Options& options, Progress& progress) {
  constexpr double kWorthAsking = 5e10;  // ten seconds of a slow processor: the answer takes some milliseconds
  constexpr std::int64_t kSide = 1024;
  const double flops = flops_of(program);
  if (is_gpu(options.device) || flops < kWorthAsking) return;
  const std::unique_ptr<Device> device = open_device(options.device);  // its memory is not that of the run
  if (const std::string line = slow_step_line(flops, product_flops(*device, kSide)); !line.empty()) progress.note(line);
}

}  // namespace lethe
