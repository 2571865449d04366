// What options that several commands have mean to each other.
#include "framework/error.h"
#include "train/option_groups.h"
#include "train/session/device.h"
#include "train/session/few_bits.h"
#include "train/session/memory_guest.h"

namespace lethe {
namespace {

/// Training and evaluation take the memory of what they are; what draws and plans takes no guest's.
void check_guest(const Options& o) {
  const GuestMemory& memory = *o.program.memory.guest;
  const std::string& memopt = o.program.memory.text;
  const PinOptions& pins = o.program.memory.levels.pins;
  check(o.facts.guests, "--memopt ", memopt, ": ", o.command->word, " knows none and the levels; ",
        memory.guest->elsewhere);
  check(memory.training || o.facts.evaluates, "--memopt ", memopt, ": training needs ", memory.guest->for_training);
  check(!memory.training || !o.facts.evaluates, "--memopt ", memopt, ": evaluation needs ",
        memory.guest->for_evaluation);
  check(pins.skip_vars.empty() && !pins.skip_grads && !o.program.memory.levels.clip_passes, "--memopt ", memopt,
        ": --skip-vars, --skip-grads and --clip-passes go with none and the levels");
  check(!o.program.network.logits, "--memopt ", memopt,
        ": --top, --by-class and --confusion go with none and the levels");
}

void check_autotune(const DeviceSetting& device) {
  check(!is_described(device.name), "--autotune tries what a device is fastest with; --device ", device.name,
        " is a description, to plan for");
  check(device.name == "cpu" || !device.deterministic,
        "--autotune does not go with --deterministic on a GPU: another engine may be the fastest in the next run");
}

/// Of a resumed run the parts are those of the checkpoint.
void check_accumulate(const Options& o) {
  check(o.program.training, "--accumulate: evaluation has no gradients");
  check(
      o.program.micro_batch > 0 || o.largest.micro_batch || o.program.shards.parts > 1 || !o.checkpoints.resume.empty(),
      "--accumulate ", name_of(o.program.shards.accumulate),
      " is of a batch in parts: --micro-batch M or --shards V makes them");
}

void check_memopt(const Options& o) {
  check(!o.program.memory.levels.overhead || o.program.memory.levels.level == Level::Recompute,
        "--overhead is of --memopt level=3; this is ", o.program.memory.text);
  check(o.costs.empty() || o.facts.prices || o.program.memory.levels.level == Level::Recompute,
        "--costs is of --memopt level=3; this is ", o.program.memory.text);
  check(!o.program.memory.levels.budget || !o.program.memory.guest,
        "--memory-budget goes with none and the levels, not with ", o.program.memory.text);
  if (o.program.memory.guest) check_guest(o);
}

}  // namespace

void check_together(const Options& o) {
  check_memopt(o);
  check(!o.program.memory.levels.pins.skip_grads || (o.program.training && !o.facts.evaluates),
        "--skip-grads: evaluation has no gradients");
  check(!o.program.memory.levels.clip_passes || o.program.training, "--clip-passes: evaluation has no gradients");
  const bool narrow = keeps_gradients_narrow(o.program.network);
  check(!narrow || o.program.training, "--grad-dtype: evaluation has no gradients");
  check(!narrow || !o.largest.micro_batch,
        "--grad-dtype: --micro-batch auto may cut the batch into parts, whose gradients are summed; --accumulate bf16 "
        "keeps their sums in 16 bits");
  if (o.program.shards.accumulate != DType::f32) check_accumulate(o);
  if (!o.autotune.empty()) check_autotune(o.device);
  // Of a resumed run the device may be that of the checkpoint: opening it checks again.
  if (o.checkpoints.resume.empty()) check_device(o.device, o.facts.runs);
  check(!o.program.network.model.empty() || !o.checkpoints.resume.empty() ||
            (o.facts.takes_run && !o.checkpoints.weights.path.empty()),
        "--model is missing: a name such as lenet or resnet20, or a JSON file",
        o.facts.takes_run ? "; or --weights RUN, which says it" : "");
  check(o.program.training || (o.program.shards.zero == 0 && !o.cheapest_zero),
        "--zero shares out what training alone has; it goes without --eval");
  check(!o.cheapest_zero || (o.program.memory.levels.budget && !o.largest.batch && !o.largest.micro_batch), kZeroAuto);
  check(o.course.patience == 0 || o.program.evaluated, "--patience needs evaluations; --eval-every 0 makes none");
  check(o.course.best == Best::Accuracy || o.program.evaluated, "--best needs evaluations; --eval-every 0 makes none");
}

}  // namespace lethe
