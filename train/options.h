// What the command line says. What it leaves out the network file's train settings give, else the built-in defaults.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "train/command.h"
#include "train/rank_options.h"
#include "train/session/settings.h"

namespace lethe {

struct Options {
  Options() : Options(command_table().front()) {}  // of training
  explicit Options(const Command& of) : command(&of), facts(of.facts) {}

  const Command* command;
  CommandFacts facts;                       // as its options leave them
  OptionValues given = {};                  // what follows, as it was given
  std::vector<std::string> arguments = {};  // that are no options: files
  std::string answer = {};                  // --help, --version: print this and be done
  Run run = {};                             // the command

  std::string model = {};                        // a name of the zoo or a file
  std::shared_ptr<const NetworkFile> file = {};  // that, as decided() has read it
  std::vector<std::string> set = {};             // "k=v": vars of the network file
  DType dtype = DType::f32;
  std::optional<std::string> data = {};  // "mnist:DIR", "shapes"...
  std::optional<std::string> augment = {};
  std::int64_t skip_bad = 0;                                               // until it becomes a part of `data`
  std::optional<std::int64_t> batch = {}, micro_batch = {}, context = {};  // the last of `plan`: --set length
  bool largest_batch = false, largest_micro_batch = false, largest_context = false;  // auto: what memory has room for

  std::optional<std::int64_t> epochs = {}, steps = {};
  std::int64_t patience = 0;  // evaluations without a better one, then training stops; 0: never
  std::optional<double> lr = {}, momentum = {}, beta1 = {}, beta2 = {}, eps = {};
  std::optional<std::string> optimizer = {}, schedule = {}, decay = {}, no_decay = {};
  std::optional<double> weight_decay = {}, clip_norm = {}, loss_scale = {};
  bool decay_all = false;  // weight decay on bias and norm too
  std::optional<std::uint64_t> seed = {};

  RankOptions ranks = {};
  DeviceSetting device = {};
  std::string costs = {};     // file of measured costs, for level 3
  std::string autotune = {};  // file of choices among algorithms; "": by rule
  MemorySetting memopt = {};  // with --memory-budget, --overhead, --skip-vars, --skip-grads and --print-log

  std::string save = {};  // directory of checkpoints
  std::optional<Interval> save_every = {};
  int keep = 2;              // newest checkpoints kept, beside the best
  std::string resume = {};   // directory of checkpoints, or "auto"
  std::string weights = {};  // file or directory of weights to start from

  std::optional<Interval> eval_every = {};
  int log_every = 0;       // steps between records; 0: about a second
  bool inference = false;  // --eval of `show`, `plan`, `graph`, `timeline`
  bool logits = false;     // are read, so the plan of evaluation keeps them

  std::string format = "text";  // of results
  std::string output = {};      // a file
  bool quiet = false;
};

/// Reads the arguments after the program's name. Fails with one line: unknown options with a suggestion, wrong values
/// with what was expected, options that exclude each other.
Options parse_options(const std::vector<std::string>& args);

/// The command line of the same command with these values, and the same network file if they name that. Those without
/// an option of the command are left out.
Options with_only(const Options& options, const OptionValues& values);
/// Lays `values` under those of `given`. Of `set` the settings are joined; `given`'s win. Nothing comes of a value that
/// `given` excludes, such as steps where it gives epochs; nor of a patience where nothing is evaluated.
void lay_under(const Command& command, OptionValues& given, const OptionValues& values);
/// The same command line, and `values` where it says nothing.
Options with_values(const Options& options, const OptionValues& values);
/// The same command line, but for an option that says `value`.
Options with_value(const Options& options, const std::string& name, const std::string& value);

/// The values whose options have the fact, and the others.
OptionValues with_fact(const Command& command, const OptionValues& values, Fact fact);
OptionValues without_fact(const Command& command, OptionValues values, Fact fact);
/// Checks a value of an option of the command and what it is read as; fails as the command line does.
void check_value(const Command& command, const std::string& name, const std::string& value);

/// Fails unless the options of a network go together, whichever command has them.
void check_together(const Options& options);

/// What each command answers beside its own options: --help and --version.
extern const std::vector<OptionInfo> kAnswers;

}  // namespace lethe
