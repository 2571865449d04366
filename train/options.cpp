#include "train/options.h"

#include <algorithm>
#include <array>
#include <map>
#include <sstream>
#include <utility>

#include "framework/did_you_mean.h"
#include "framework/error.h"
#include "framework/op_def.h"
#include "train/command_table.h"
#include "train/data/data_spec.h"
#include "train/option_table.h"
#include "train/session/device.h"
#include "train/settings_of_options.h"

namespace lethe {
namespace {

Command command_named(const std::string& word) {
  std::vector<std::string> known;
  for (const CommandInfo& info : command_table()) {
    if (*info.word && word == info.word) return info.command;
    if (*info.word) known.emplace_back(info.word);
  }
  fail("unknown command ", quote(word), did_you_mean(word, known), "; commands: ", joined(known),
       "; a network is named with --model");
}

/// Training and evaluation take the mode that they are; a count takes either; what draws and plans takes none.
void check_optnet(const Options& o) {
  const OptnetOptions& optnet = *o.memopt.optnet;
  const std::string& memopt = o.memopt.text;
  const PinOptions& pins = o.memopt.levels.pins;
  check(o.command != Command::Train || optnet.training, "--memopt ", memopt, ": training needs optnet=training");
  check(o.command != Command::Eval || !optnet.training, "--memopt ", memopt, ": evaluation needs optnet=inference");
  const bool known = o.command == Command::Train || o.command == Command::Eval || o.command == Command::Count;
  check(known, "--memopt ", memopt, ": ", info_of(o.command).word,
        " knows none and the levels; train count says what optnet would hold");
  check(pins.skip_vars.empty() && !pins.skip_grads, "--memopt ", memopt,
        ": --skip-vars and --skip-grads go with none and the levels");
  check(!wants_logits(o), "--memopt ", memopt, ": --top, --by-class and --confusion go with none and the levels");
}

void check_autotune(const DeviceSetting& device) {
  check(!is_described(device.name), "--autotune tries what a device is fastest with; --device ", device.name,
        " is a description, to plan for");
  check(device.name == "cpu" || !device.deterministic,
        "--autotune does not go with --deterministic on a GPU: another engine may be the fastest in the next run");
}

/// Whether --weights may name a run, which says what network it trained.
bool takes_run(const Options& o) {
  using enum Command;
  return std::ranges::count(std::array{Eval, Export, Predict, Generate, Show}, o.command) > 0;
}

void check_together(const Options& o) {
  if (o.dump) return check_device(o.device, false);
  if (!has_network(o.command)) return;
  check_memopt(o);
  const bool infers = o.inference || (takes_run(o) && o.command != Command::Export && o.command != Command::Show);
  check(!o.memopt.levels.pins.skip_grads || !infers, "--skip-grads: evaluation has no gradients");
  if (!o.autotune.empty()) check_autotune(o.device);
  // Of a resumed run the device may be that of the checkpoint: opening it checks again.
  if (o.resume.empty()) check_device(o.device, runs(o.command) && !o.count && !o.generation.plan);
  check(!o.model.empty() || !o.resume.empty() || (takes_run(o) && !o.weights.empty()),
        "--model is missing: a name such as lenet or resnet20, or a JSON file",
        takes_run(o) ? "; or --weights RUN, which says it" : "");
  check(o.resume != "auto" || !o.save.empty(), "--resume auto needs --save DIR, where it looks for a checkpoint");
  check(o.command != Command::Plan || o.output.empty() || o.sweep || o.ranks.most > 0,
        "--out is of --sweep and of --ranks A..B: a plan has no picture");
  check(o.ranks.most == 0 || (!o.sweep && !o.inference && o.csv.empty()),
        "--ranks A..B predicts training; it goes without --sweep, --eval and --csv");
  check(o.ranks.most == 0 || !o.memopt.levels.budget,
        "--ranks A..B goes without --memory-budget: it says what is taken");
  check(o.ranks.most > 0 || !o.ranks.exchange, "--exchange is of --ranks A..B: a run exchanges in pieces");
  check(!o.ranks.network || ((o.ranks.ranks > 1 || o.ranks.most > 0) && !o.sweep && !o.inference),
        "--network is of training on several ranks, between which it lies: it needs --ranks R or A..B, and goes "
        "without --sweep and --eval");
  check(!o.inference || (o.ranks.zero == 0 && !o.ranks.cheapest_zero),
        "--zero shares out what training alone has; it goes without --eval");
  check(!o.ranks.cheapest_zero || (o.memopt.levels.budget && !o.largest_batch && !o.largest_micro_batch && !o.sweep),
        "--zero auto is the stage that sends least and fits the --memory-budget, which it needs; it goes without "
        "--sweep and a batch of auto");
  check(o.patience == 0 || is_evaluated(o), "--patience needs evaluations; --eval-every 0 makes none");
  check(o.min_lr < o.max_lr, "--min-lr ", o.min_lr, " is not below --max-lr ", o.max_lr);
  check(!o.save_every || !o.save.empty() || !o.resume.empty(), "--save-every needs --save DIR");
}

/// Fails on what no option takes. An empty argument is most often a variable of the shell that is not set.
void check_arguments(const std::vector<std::string>& args) {
  constexpr std::size_t kLongest = 4096;            // as paths are at most
  constexpr std::size_t kLongestValue = 64 * 1024;  // of an option: it may be a list
  std::string name;         // of the option whose value the next argument is, if it is none itself
  bool only_files = false;  // what follows the argument "--"
  for (const std::string& arg : args) {
    const bool is_option = !only_files && arg.compare(0, 2, "--") == 0;
    const std::size_t equals = is_option ? arg.find('=') : std::string::npos;
    if (is_option) name = arg.substr(0, equals);
    const bool is_value = !name.empty() && (!is_option || equals != std::string::npos);
    const std::string what = is_value ? shortened(name) + ": the value" : "an argument";
    const std::size_t longest = is_value ? kLongestValue : kLongest;
    check(!arg.empty() && equals + 1 != arg.size(), what, " is empty");
    check(arg.size() <= longest, what, " has ", arg.size(), " characters, more than ", longest);
    only_files = only_files || arg == "--";
    if (only_files || is_value) name.clear();
  }
}

/// Two lists of NAME=VALUE with commas between as one: of a name that both have, the second's value.
std::string merged(const std::string& first, const std::string& second) {
  std::map<std::string, std::string> by_name;
  std::istringstream in(first + ',' + second);
  for (std::string item; std::getline(in, item, ',');) by_name[item.substr(0, item.find('='))] = item;
  std::string text;
  for (const auto& [name, item] : by_name) text.append(text.empty() ? "" : ",").append(item);
  return text;
}

/// The options of one command, bound to what they fill in.
class CommandLine {
 public:
  explicit CommandLine(Command command) {
    options_.command = command;
    set_up(app_, options_);
  }

  bool has(const std::string& name) const { return app_.get_option_no_throw("--" + name) != nullptr; }
  /// Whether one of the values that were given does not go with the option.
  bool is_excluded(const std::string& name, const OptionValues& given) const {
    const CLI::Option* const option = app_.get_option_no_throw("--" + name);
    if (!option) return false;
    const auto& excluded = option->get_excludes();
    return std::any_of(excluded.begin(), excluded.end(), [&](const CLI::Option* other) {
      return !other->get_lnames().empty() && given.contains(other->get_lnames().front());
    });
  }

  Options parse(std::vector<std::string> args) {
    check_names(args);
    std::reverse(args.begin(), args.end());  // CLI11 takes them from the back
    try {
      app_.parse(args);
      MemorySetting& memory = options_.memopt;
      if (memory.levels.budget && app_.count("--memopt") == 0) memory = memory_setting("level=3", std::move(memory));
      check_together(options_);
    } catch (const CLI::CallForHelp&) {
      options_.answer = app_.help();
    } catch (const CLI::CallForVersion& version) {
      options_.answer = std::string(version.what()) + "\n";
    } catch (const CLI::ParseError& error) {
      fail(error.what());
    }
    if (options_.answer.empty()) note_given();  // else the values have not been looked at
    if (options_.skip_bad > 0 && options_.data && options_.command != Command::Predict) say_in_data();
    return options_;
  }

 private:
  /// CLI11 complains of an unknown option last, after everything that is missing because of it; so they come first
  /// here.
  void check_names(const std::vector<std::string>& args) const {
    std::vector<std::string> known;
    for (const CLI::Option* option : app_.get_options())
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    for (const std::string& arg : args) {
      if (arg == "--") return;  // what follows are files
      const std::string name = arg.substr(0, arg.find('='));
      if (name.size() < 3 || name.compare(0, 2, "--") != 0) continue;
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      fail("unknown option ", shortened(name), did_you_mean(name, known), "; --help lists all");
    }
  }

  /// What --skip-bad says a run keeps with its data.
  void say_in_data() {
    options_.data = with_skip_bad(*options_.data, std::exchange(options_.skip_bad, 0));
    options_.given["data"] = *options_.data;
    options_.given.erase("skip-bad");
  }

  void note_given() {
    for (const CLI::Option* option : app_.get_options()) {
      if (option->count() == 0 || option->get_lnames().empty()) continue;
      std::string value;
      for (const std::string& part : option->reduced_results()) value.append(value.empty() ? "" : ",").append(part);
      options_.given[option->get_lnames().front()] = value;
    }
  }

  Options options_;
  CLI::App app_;
};

}  // namespace

void check_memopt(const Options& o) {
  check(!o.memopt.levels.overhead || o.memopt.levels.level == Level::Recompute,
        "--overhead is of --memopt level=3; this is ", o.memopt.text);
  check(o.costs.empty() || o.sweep || o.ranks.most > 0 || o.memopt.levels.level == Level::Recompute,
        "--costs is of --memopt level=3; this is ", o.memopt.text);
  check(!o.memopt.levels.budget || !o.memopt.optnet, "--memory-budget goes with none and the levels, not with ",
        o.memopt.text);
  if (o.memopt.optnet) check_optnet(o);
}

Options with_values(const Options& options, const OptionValues& values) {
  CommandLine line(options.command);
  OptionValues all = options.given;
  for (const auto& [name, value] : values) {
    if (line.is_excluded(name, options.given)) continue;
    if (name == "patience" && !is_evaluated(options)) continue;
    const auto [entry, is_new] = all.emplace(name, value);
    if (!is_new && name == "set") entry->second = merged(value, entry->second);
  }
  std::vector<std::string> args;
  for (const auto& [name, value] : all)
    if (line.has(name)) args.push_back("--" + name + "=" + value);
  if (!options.files.empty()) args.push_back("--");
  args.insert(args.end(), options.files.begin(), options.files.end());
  return line.parse(args);
}

Options parse_options(const std::vector<std::string>& args) {
  check_arguments(args);
  std::vector<std::string> rest = args;
  Command command = Command::Train;
  if (!rest.empty() && rest[0][0] != '-') {
    command = command_named(rest[0]);
    rest.erase(rest.begin());
  }
  return CommandLine(command).parse(rest);
}

}  // namespace lethe
