// What the command line says, as settings of a session and a few things more. What it leaves out the network file's
// train settings give, else the built-in defaults.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "train/command.h"
#include "train/data/samples.h"
#include "train/session/settings.h"
#include "train/session/weights_setting.h"

namespace lethe {

struct CheckpointOptions {
  std::string save = {};        // a directory
  int keep = 2;                 // newest ones kept, beside the best
  bool sharded = false;         // each rank writes its share
  std::string resume = {};      // a directory of them, or "auto"
  WeightsSetting weights = {};  // to start from
};

/// Numbers that are to be the largest which the memory has room for: "auto".
struct AutoSizes {
  bool batch = false, micro_batch = false, context = false;
  bool any() const { return batch || micro_batch || context; }
};

struct Options {
  Options() : Options(command_table().front()) {}  // of training
  explicit Options(const Command& of) : command(&of), facts(of.facts) {}

  const Command* command;
  CommandFacts facts;                       // as its options leave them
  OptionValues given = {};                  // what follows, as it was given
  std::vector<std::string> arguments = {};  // that are no options: files
  std::vector<std::string> notes = {};      // for the user, on what was given
  std::string answer = {};                  // --help, --version: print this and be done
  Run run = {};                             // the command

  // What rows fill in as a session is asked for it.
  ProgramSetting program = {};
  DataSetting data = {};
  DeviceSetting device = {};
  RunSetting course = {};

  // What no setting holds.
  CheckpointOptions checkpoints = {};
  AutoSizes largest = {};
  std::int64_t context = 0;    // of `plan`: --set length; 0: as the network has it
  std::int64_t skip_bad = 0;   // until it becomes a part of the data's `spec`
  bool cheapest_zero = false;  // --zero auto: the cheapest stage that fits the memory budget
  std::string costs = {};      // for level 3: a file of measured ones, or a kind of processors
  std::string autotune = {};   // file of choices among algorithms; "": by rule

  std::string format = "text";  // of results
  std::string output = {};      // a file
  bool quiet = false;

  std::int64_t most_context = 0;  // that the model's config.json allows; 0: it says nothing
  Meaning of_folder = {};         // what labels and pixels mean to the model of a folder
};

/// Reads the arguments after the program's name. Fails with one line: unknown options with a suggestion, wrong values
/// with what was expected, options that exclude each other.
Options parse_options(const std::vector<std::string>& args);

/// The command line of the same command with these values; those without an option of the command are left out. What
/// was read for the same network, choices and costs stays: their files may have changed since.
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
