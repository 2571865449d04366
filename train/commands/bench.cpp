// `train bench`: memory settings against each other, each run in processes of its own, in turns.
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "framework/error.h"
#include "train/launches.h"
#include "train/option_groups.h"
#include "train/recipe.h"
#include "train/report/bench_report.h"
#include "train/report/step_report.h"
#include "train/report/streams.h"

extern char** environ;

namespace lethe {
namespace {

/// What is asked of a comparison.
struct BenchAsked {
  std::string settings = "none;level=0;level=1;level=1,release;level=2";  // of --memopt
  int rounds = 3;
  bool sweep = false, profile = false, count = false;
};

namespace fs = std::filesystem;

/// A directory that removes itself.
class Scratch {
 public:
  Scratch() {
    std::string name = (fs::temp_directory_path() / "lethe_bench_XXXXXX").string();
    check_as(Exit::Data, mkdtemp(name.data()) != nullptr, name, ": ", std::strerror(errno));
    home_ = name;
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(home_, ignored);
  }
  std::string file(const std::string& name) const { return (home_ / name).string(); }

 private:
  fs::path home_;
};

std::string text_in(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

/// Most bytes of memory that a process of `train` with these arguments had. Fails as it does.
std::int64_t run_process(std::vector<std::string> args, const Scratch& scratch) {
  std::string program = fs::read_symlink("/proc/self/exe").string();
  std::vector<char*> list = {program.data()};
  for (std::string& arg : args) list.push_back(arg.data());
  list.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  const std::string out = scratch.file("out"), err = scratch.file("err");
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, out.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, err.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
  pid_t process = 0;
  const int error = posix_spawn(&process, program.c_str(), &files, nullptr, list.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  check_as(Exit::Internal, error == 0, program, ": ", std::strerror(error));
  int status = 0;
  rusage usage{};
  while (wait4(process, &status, 0, &usage) < 0) check_as(Exit::Internal, errno == EINTR, std::strerror(errno));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return std::int64_t{usage.ru_maxrss} * 1024;
  std::string said = text_in(err);
  const std::string prefix = ": error: ";
  if (const std::size_t at = said.rfind(prefix); at != std::string::npos) said.erase(0, at + prefix.size());
  said.erase(said.find_last_not_of('\n') + 1);
  if (!WIFEXITED(status)) fail_as(Exit::Device, "the run was ended by signal ", WTERMSIG(status));
  fail_as(static_cast<Exit>(WEXITSTATUS(status)), said);
}

/// The given options that training has too, but for --steps: each run gets its own.
std::vector<std::string> forwarded(const Options& options) {
  std::vector<std::string> args;
  for (const auto& [key, value] : with_values({}, options.given).given)
    if (key != "steps") args.push_back("--" + key + "=" + value);
  return args;
}

/// Of a run under a setting: "level=2", or with options of `train` after it, "level=3 --overhead 5%".
std::vector<std::string> arguments_of(const Options& options, const std::string& setting) {
  std::vector<std::string> args = forwarded(options);
  std::istringstream words(setting);
  std::string word;
  words >> word;
  args.push_back("--memopt=" + word);
  while (words >> word) args.push_back(word);
  return args;
}

/// Reads what a run recorded: a loss and a time for each step.
void add_metrics(const std::string& file, BenchRow& row) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);  // the header
  std::vector<std::string>& losses = row.losses.emplace_back();
  std::vector<double>& ms = row.ms.emplace_back();
  for (std::int64_t step = 1; std::getline(in, line); ++step) {
    std::vector<std::string> cells;
    std::istringstream cut(line);
    for (std::string cell; std::getline(cut, cell, ',');) cells.push_back(cell);
    losses.push_back(cells.at(3));
    if (step > kWarmUpSteps) ms.push_back(std::stod(cells.at(6)));
    row.taken = std::stoll(cells.at(7));
  }
}

void run_once(const Options& options, const Scratch& scratch, BenchRow& row) {
  std::vector<std::string> args = arguments_of(options, row.memopt);
  const std::string metrics = scratch.file("metrics.csv");
  for (const std::string& arg : {message("--steps=", *options.course.steps), std::string("--eval-every=0"),
                                 std::string("--log-every=1"), std::string("--quiet"), "--metrics=" + metrics})
    args.push_back(arg);
  row.process = std::max(row.process, run_process(args, scratch));
  add_metrics(metrics, row);
  const std::string out = text_in(scratch.file("out")), word = "memory predicted ";
  const std::size_t at = out.find(word);
  check_as(Exit::Internal, at != std::string::npos, "the run printed no '", word, "'");
  row.planned = std::stoll(out.substr(out.find_first_of("0123456789", at)));
}

/// Level 3 at several prices, from none on, and level 2.
const std::string kSweep =
    "level=3 --overhead 0%;level=2;level=3 --overhead 1%;level=3 --overhead 2%;level=3 --overhead 3%;level=3 "
    "--overhead 5%;"
    "level=3 --overhead 8%;level=3 --overhead 12%;level=3 --overhead 20%;level=3 --overhead 33%";

/// Fails on what `train` would not take.
std::vector<BenchRow> rows_of(const BenchAsked& asked, const Options& options) {
  std::vector<BenchRow> rows;
  std::istringstream cut((asked.sweep ? kSweep : asked.settings) +
                         ";");  // so that the last one counts too if it is empty
  for (std::string setting; std::getline(cut, setting, ';');) {
    check(!setting.empty(), "--settings: ", quote(asked.settings), " has an empty setting at its semicolons");
    parse_options(arguments_of(options, setting));
    rows.push_back({.memopt = setting});
  }
  return rows;
}

/// Where the time of a step goes.
int profile(const Options& given) {
  Options options = decided_for_timing(given);
  options.device.eager = options.device.name != "cpu";  // a GPU runs ops one by one, too
  SessionSetting setting{options.program, options.data, options.device};
  setting.program.evaluated = false;
  Session session(std::move(setting));
  const StepProfile found = profile_steps(session, options.course, kWarmUpSteps);
  write_result("", profile_as(options.format, title_of(options.program), found));
  return 0;
}

int bench(const BenchAsked& asked, const Options& given) {
  if (asked.profile) return profile(given);
  if (asked.count) return write_count(given, "--count", given.format);
  const Options options = decided_for_timing(given);
  std::vector<BenchRow> rows = rows_of(asked, options);
  const Scratch scratch;
  for (int round = 1; round <= asked.rounds; ++round)
    for (BenchRow& row : rows) {
      std::fprintf(stderr, "round %d of %d: %s\n", round, asked.rounds, row.memopt.c_str());
      run_once(options, scratch, row);
    }
  const BenchHead head{.network = options.program.network.model,
                       .batch = options.program.network.batch,
                       .dtype = std::string(name_of(options.program.network.dtype)),
                       .steps = *options.course.steps,
                       .rounds = asked.rounds};
  write_result("", bench_as(options.format, head, rows));
  return 0;
}

Run declare_bench(OptionSet& set, Options& o) {
  const auto own = std::make_shared<BenchAsked>();
  add_network(set, o);
  add_data(set, o);
  add_micro_batch(set, o);
  add_optimizer(set, o);
  add_seed(set, o);
  add_machine(set, o);
  add_pins(set, o);
  o.course.steps = 12;
  set.in("Bench");
  set.add("--steps", o.course.steps, "S", "Steps a process (default 12)")->check(whole_number(kWarmUpSteps + 1));
  set.add("--settings", own->settings, "LIST",
          "Settings of --memopt, with semicolons between them; after one also other options,\nas in "
          "\"level=2;level=3 --memory-budget 2GiB\" (default \"" +
              own->settings + "\")");
  set.add_flag("--sweep", own->sweep, "Instead: level=3 at several prices, from none on, and level=2")
      ->excludes("--settings");
  set.add_flag("--profile", own->profile, "Instead: where the time of a step goes, by op and by whose code runs it")
      ->excludes("--settings")
      ->excludes("--sweep");
  set.add("--rounds", own->rounds, "N", "Processes a setting, in turns (default 3)")->check(whole_number(1));
  set.add_flag("--count", own->count,
               "Instead: launches and bytes moved of a step at level=2, by op, on a GPU that need not be there")
      ->excludes("--settings")
      ->excludes("--sweep")
      ->excludes("--profile")
      ->excludes("--steps")
      ->excludes("--rounds");
  set.finally([&o, own] { o.facts.runs = !own->count; });
  add_format(set, o, {"text", "md", "csv", "json"});
  return [own](const Options& options) { return bench(*own, options); };
}

const RegisterCommand bench_command{
    {.word = "bench",
     .help = "Runs memory settings against each other: bytes planned and taken, time, losses.",
     .examples = {{"train bench --model lenet --settings 'none;level=2'", "what does saving memory cost?"}},
     .facts = {.runs = true},
     .declare = declare_bench}};

}  // namespace
}  // namespace lethe
