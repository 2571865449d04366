// `train eval`: how well weights do.
#include <cmath>

#include "framework/error.h"
#include "train/option_groups.h"
#include "train/report/memory_report.h"
#include "train/report/option_names.h"
#include "train/report/score_report.h"
#include "train/report/streams.h"
#include "train/session/device.h"
#include "train/session/evaluator.h"
#include "train/session/fed_data.h"
#include "train/session/programs.h"
#include "train/session/start.h"
#include "train/weights_recipe.h"

namespace lethe {
namespace {

struct EvalAsked {
  std::int64_t top = 0;  // 0 is none
  bool confusion = false, by_class = false;
};

Planned planned_by_guest(const ProgramSetting& setting, const Network& network, Prepared& prepared) {
  const GuestProgram lowered = setting.memory.guest->lower(network, setting.network.dtype);
  return lowered.plan(lowered.program, prepared);
}

int evaluate(const EvalAsked& asked, const Options& given) {
  check(!given.checkpoints.weights.path.empty(),
        "--weights is missing: the directory of a run or checkpoint, or a safetensors file");
  const std::optional<SavedRun> run = run_of_weights(given.checkpoints.weights.path);
  const Options options = decided_by_run(given, run);
  check_data_known(options, run);
  const ProgramSetting setting = options.program;
  const bool by_guest = setting.memory.guest != nullptr;
  Network network = build_network(setting.network, by_guest);  // a guest takes it as built for training
  check(network.correct != kNone || !options.program.network.logits, network.name,
        ": tells no classes apart, which --top, --by-class and --confusion count");
  check(network.correct != kNone || !by_guest, "--memopt ", setting.memory.text, ": evaluates networks with labels; ",
        network.name, " has none");
  note_other_numbers(options, run, say);
  const std::unique_ptr<Samples> data =
      open_data(options.data, setting.network.seed, network, say, meaning_to_weights(options, run, network, say));
  if (setting.pixels && !by_guest) take_bytes(network, data->pixels());
  const std::unique_ptr<Device> device = open_device(options.device);
  Prepared prepared(*device);
  const Planned planned =
      by_guest ? planned_by_guest(setting, network, prepared) : plan_evaluation(network, setting.memory, prepared);
  print_log(planned);
  device->reserve(reserved_bytes({&planned}, 0, device->info().alignment));
  Store store(*device);
  Evaluator evaluator(network, planned, prepared, store, *data);
  read_weights(options.checkpoints.weights, store, network, say);
  ClassCounts counts(options.program.network.logits ? network.classes : 0, asked.top, asked.confusion);
  const Scores scores = evaluator.run(options.program.network.logits ? &counts : nullptr);
  const ScoreParts parts{.top = asked.top > 0,
                         .by_class = asked.by_class,
                         .confusion = asked.confusion,
                         .iou = data->labels() > 1 && !scores.of_tokens};
  write_result("", scores_as(options.format, scores, counts, data->classes(), parts));
  check_as(Exit::Numeric, std::isfinite(scores.loss), "the loss is ", scores.loss,
           " although all weights are finite: values on the way are too large for ",
           name_of(options.program.network.dtype));
  return 0;
}

Run declare_eval(OptionSet& set, Options& o) {
  const auto own = std::make_shared<EvalAsked>();
  add_setup(set, o);
  add_weights_of_run(set, o);
  add_ignore(set, o);
  add_seed(set, o);
  set.in("Output");
  set.add("--top", own->top, "K", "Also counts labels that are among the K largest logits")->check(whole_number(1));
  set.add_flag("--by-class", own->by_class,
               "Samples, precision, recall and F1 of each class, of masks IoU, and their means over classes");
  set.add_flag("--confusion", own->confusion, "How many samples of each class were taken for which class");
  set.finally([&o, own] { o.program.network.logits = own->top > 0 || own->by_class || own->confusion; });
  add_format(set, o, {"text", "json"});
  return [own](const Options& options) { return evaluate(*own, options); };
}

const RegisterCommand eval_command{
    {.word = "eval",
     .help = "Counts how well weights do on the evaluation data.",
     .examples = {{"train eval --weights runs/lenet", "scores the best checkpoint on the run's data"}},
     .facts = {.runs = true, .takes_run = true, .evaluates = true, .guests = true},
     .declare = declare_eval}};

}  // namespace
}  // namespace lethe
