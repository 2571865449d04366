// `train`: from a network file to trained weights. Read me first.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <numeric>

#include "framework/error.h"
#include "framework/formatted.h"
#include "kernels/cpu/workers.h"
#include "kernels/cuda/device.h"
#include "train/failure.h"
#include "train/introduction.h"
#include "train/option_groups.h"
#include "train/ranks/collectives.h"
#include "train/ranks/mpi.h"
#include "train/recipe.h"
#include "train/report/memory_report.h"
#include "train/report/progress.h"
#include "train/run_files.h"
#include "train/search/kernel_costs.h"
#include "train/search/what_fits.h"
#include "train/session/agreement.h"
#include "train/session/device.h"
#include "train/session/session.h"
#include "train/session/start.h"
#include "train/session/trainer.h"
#include "train/signals.h"
#include "train/weights_recipe.h"

namespace lethe {
namespace {

/// What the command line alone says.
struct TrainAsked {
  RunFiles files = {};
  std::int64_t timeout = 120;  // seconds that ranks wait for each other
};

/// A run that signals stop or make save.
template <class Report>
class AttendedRun final : public Report {
 public:
  using Report::Report;
  bool stop_wanted() override { return signals_.stop_wanted(); }
  bool take_save_wanted() override { return signals_.take_save_wanted(); }

 private:
  SignalWatch signals_;
};

Notify note_in(Progress& progress) {
  return [&progress](const std::string& line) { progress.note(line); };
}

std::string percent(double share) { return formatted("%.1f %%", 100 * share); }

/// What ranks need not be told: shards for all of them, processors of their own, and a GPU.
Options for_ranks(const Options& given, const Start& start, Rank rank, const MpiWorld& world) {
  check(rank.of == 1 || (given.autotune.empty() && (given.costs.empty() || is_processor(given.costs))),
        "--autotune and --costs FILE go with one process: each rank would measure for itself and choose otherwise; "
        "costs of a kind of processors, as --costs avx512, are the same on all");
  std::int64_t shards = std::max<std::int64_t>(8, rank.of);
  while (shards > rank.of && given.program.network.batch % shards != 0) shards /= 2;
  const bool is_known = given.given.contains("shards") || !start.checkpoint.empty();
  Options options = is_known ? given : decided_with(given, "shards", std::to_string(shards));
  if (options.device.threads == 0)
    options.device.threads = static_cast<int>(std::max<std::int64_t>(processors() / world.sharers(), 1));
  if (options.device.name == "cuda") options.device.name = message("cuda:", world.number_on_host() % gpu_count());
  return options;
}

/// For `--zero auto`. All ranks find the same, by plans of equally many bytes; one that does not, as its GPU has less
/// memory left, differs in its options.
void take_cheapest_stage(Options& options, Rank rank) {
  ProgramSetting setting = options.program;
  setting.shards.rank = rank;
  options.program.shards.zero = cheapest_stage(setting, device_info(options.device), {});
}

/// Ranks that differ in something would train different networks, or wait for each other for ever.
void check_ranks_agree(Peers& peers, Session& session, const Options& options, const Start& start) {
  check_agreed(peers, "their version", LETHE_VERSION);
  check_agreed(peers, "the checkpoint to go on from", message(start.checkpoint, " ", start.state.step));
  std::string values;
  for (const auto& [name, value] : options.given) values += message(name, "=", value, "\n");
  values += message("zero that was found: ", options.program.shards.zero);
  check_agreed(peers, "their options", values);
  check_agreed(peers, "the number of threads", std::to_string(options.device.threads));
  check_agreed(peers, "what they compute with (GPU and cuDNN, or instructions of a CPU)",
               what_computes(options.device));
  check_agreed(peers, "the network", network_id(options.program.network));
  const Plans& plans = session.plan();
  const Bytes& bytes = plans.bytes;
  check_agreed(peers, "the plan", message(bytes.params, " ", bytes.states, " ", bytes.temps, " ", bytes.workspace));
  // A search that is ended by the clock may come to other programs of equally many bytes.
  check_agreed(peers, "the order of what they exchange",
               exchanges_of(plans.training.program) + exchanges_of(plans.evaluation.program));
  const VarId samples = fed_inputs(session.network()).samples;
  check_agreed(peers, "the data", fingerprint(session.data(), session.network().program.vars[samples].dtype));
}

/// Trains, and among several ranks on CPUs says what part of the time they have waited for each other.
void train_with(Session& session, const Options& options, Listener& listener, Checkpoints* checkpoints,
                Collectives* peers) {
  const auto begin = std::chrono::steady_clock::now();
  const double before = peers ? peers->waited() : 0;
  session.train(options.course, listener, checkpoints);
  if (!peers || is_gpu(options.device)) return;
  const std::chrono::duration<double> all = std::chrono::steady_clock::now() - begin;
  const Rank rank = peers->rank();
  std::vector<double> shares(static_cast<std::size_t>(rank.of));
  shares[static_cast<std::size_t>(rank.number)] = (peers->waited() - before) / all.count();
  peers->gather(shares.data(), sizeof(double));
  const double mean = std::accumulate(shares.begin(), shares.end(), 0.0) / static_cast<double>(rank.of);
  const auto most = std::max_element(shares.begin(), shares.end());
  listener.note(message("ranks waited for each other ", percent(mean), " of the time; rank ", most - shares.begin(),
                        " most, ", percent(*most)));
}

/// `world` is null, as `peers` is, if nobody has started several ranks.
int train_on(const TrainAsked& asked, const Options& given, const std::shared_ptr<Collectives>& peers,
             const MpiWorld* world) {
  const bool leads = !peers || peers->rank().number == 0;
  std::unique_ptr<RunLock> lock;  // taken before files of a run are read that another may be about to replace
  if (const std::string run = goes_on_in(given.checkpoints.save, given.checkpoints.resume); leads && !run.empty())
    lock = std::make_unique<RunLock>(run);
  const Start start = find_start(given.checkpoints.save, given.checkpoints.resume);
  check(!peers || peers->rank().of == 1 || !(given.largest.batch || given.largest.micro_batch),
        "a batch of auto is found before ranks start: `train plan --ranks R --shards V --batch auto` says it");
  Options options = decided(given, options_in(start.checkpoint, start.state));
  if (peers) options = for_ranks(options, start, peers->rank(), *world);
  Progress progress(stderr, options.quiet || !leads);
  const Notify notify = note_in(progress);
  if (options.cheapest_zero) {
    take_cheapest_stage(options, peers->rank());
    progress.note(message("--zero auto is ", options.program.shards.zero, " here: the cheapest stage that fits"));
  }

  // Programs of training, with its backward and update ops, and of evaluation.
  const std::chrono::seconds patience(asked.timeout);
  DataSetting data = data_beside_weights(options, notify);
  if (!start.checkpoint.empty()) data.known = start.state.meaning;
  Session session({options.program, data, options.device, peers, patience}, notify);
  const std::string id = network_id(options.program.network);
  check_fits(start, values_to_keep(options), session.network().name, id);
  const Meaning meaning = session.data().meaning();
  introduce(progress, options, session.network(), session.batches(), meaning.classes, start);

  const Plans& plans = session.plan();  // every kernel chosen, every workspace known
  if (leads) print_predicted(options.program.memory.text, plans, progress);
  if (leads && !options.quiet) warn_of_slow_steps(plans.training.program, options, progress);
  if (peers) check_ranks_agree(*peers, session, options, start);
  session.fill_from(start, options.checkpoints.weights);
  session.state() = state_of(start, options, session.network(), id, session.data().name(), meaning);
  const std::unique_ptr<Checkpoints> checkpoints = open_checkpoints(options, start, leads);
  if (!leads) {
    session.executor();
    AttendedRun<Listener> silent;
    train_with(session, options, silent, checkpoints.get(), peers.get());
    return 0;
  }
  if (!lock) lock = lock_run(given, start);
  if (lock && !lock->trouble().empty()) notify(lock->trouble());
  std::vector<std::unique_ptr<RecordFile>> metrics = open_records(asked.files, start, notify);
  session.executor();  // takes the memory: of both programs, over one store of parameters and states
  AttendedRun<RunReport> report(progress, std::move(metrics));
  train_with(session, options, report, checkpoints.get(), peers.get());
  progress.clear();
  std::printf("%s\n", taken_line(session.device().peak(), plans.bytes.total(), plans.at_most).c_str());
  return 0;
}

int train(const TrainAsked& asked, const Options& given) {
  check((given.program.shards.zero == 0 && !given.cheapest_zero) || number_by_mpi(),
        "--zero: one process has nobody to share with; start several by mpirun -n R train ...");
  if (!number_by_mpi()) return train_on(asked, given, nullptr, nullptr);
  const MpiWorld world;
  const std::unique_ptr<Transport> transport = world.transport(std::chrono::seconds(asked.timeout));
  const auto peers = std::make_shared<Collectives>(*transport);
  try {
    return train_on(asked, given, peers, &world);
  } catch (...) {
    const Failure failure = failure_of(std::current_exception());
    world.fail(failure.what, failure.code);
  }
}

void add_records(OptionSet& set, Options& o, RunFiles& files) {
  set.in("Reports");
  add_eval_every(set, o, "Evaluates every N steps or Ne epochs; 0 never (default 1e)");
  add_best(set, o);
  set.add("--log-every", o.course.log_every, "N", "Steps between records (default 0: about one a second)")
      ->check(whole_number(0, INT32_MAX))
      ->is({Fact::Kept});
  set.add("--metrics", files.metrics, "FILE",
          "Writes records as CSV; a resumed run goes on in it (default with --save: DIR/metrics.csv)");
  set.add("--log-json", files.log_json, "FILE", "The same records as JSON lines");
  set.add("--tensorboard", files.tensorboard, "DIR", "The same records as an event file for TensorBoard");
  set.add_flag("--quiet", o.quiet, "No progress; results and errors only");
}

Run declare_train(OptionSet& set, Options& o) {
  const auto own = std::make_shared<TrainAsked>();
  add_setup(set, o, Largest::CanBeFound);
  add_micro_batch(set, o, Largest::CanBeFound);
  add_ranks(set, o);
  set.add("--timeout", own->timeout, "S", "Seconds that ranks wait for one another, then all of them end (default 120)")
      ->check(whole_number(1, std::int64_t{7} * 24 * 3600));
  add_budget(set, o);
  add_course(set, o);
  add_checkpoints(set, o);
  add_records(set, o, own->files);
  return [own](const Options& options) { return train(*own, options); };
}

const RegisterCommand train_command{
    {.word = "",
     .help = "Trains a neural network that a JSON file describes, and says beforehand how much memory that takes.",
     .examples = {{"train --model lenet --data mnist:DIR --epochs 3 --save runs/lenet",
                   "train; checkpoints in runs/lenet"},
                  {"train plan --model resnet110 --memory-budget 1200MiB", "does it fit? what takes less?"},
                  {"train --resume runs/lenet --epochs 5", "go on where it stopped"}},
     .facts = {.trains = true, .runs = true, .guests = true},
     .declare = declare_train}};

}  // namespace
}  // namespace lethe
