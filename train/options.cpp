#include "train/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <sstream>
#include <utility>

#include "framework/did_you_mean.h"
#include "framework/error.h"
#include "train/adapter_folder.h"
#include "train/data/data_spec.h"
#include "train/model_folder.h"
#include "train/report/text_table.h"
#include "train/stored_types.h"
#include "train/values.h"

namespace lethe {
namespace {

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

/// Lists what an option excludes in the order of the rows; CLI11 would by where it has them in memory.
class HelpOfRows final : public CLI::Formatter {
 public:
  explicit HelpOfRows(const OptionSet& set) : set_(set) {}
  std::string make_option_opts(const CLI::Option* option) const override {
    const OptionRow* const row = set_.find(option->get_name());
    if (!row || row->form != OptionRow::Form::Flag) return CLI::Formatter::make_option_opts(option);
    std::string text;
    for (const OptionRow& other : set_.rows())
      if (row->is_excluded_by(other)) text.append(text.empty() ? " Excludes: " : " ").append(other.name);
    return text;
  }

 private:
  const OptionSet& set_;
};

std::string description_of(const Command& command) {
  TextRows rows;
  for (const Example& example : command.examples) rows.push_back({example.line, std::string("# ") + example.what});
  return std::string(command.help) + "\n\n" + text_table(rows, 2, "  ");
}

std::string commands_help() {
  TextRows rows;
  for (const Command& command : command_table())
    if (*command.word) rows.push_back({command.word, command.help});
  return "Commands (each has its own --help):\n" + text_table(rows, 2, "  ");
}

/// The options of one command, bound to what they fill in.
class CommandLine {
 public:
  explicit CommandLine(const Command& command) : options_(command), run_(command.declare(set_, options_)) {}

  /// Each value goes where it goes, once.
  Options read(OptionValues values, std::vector<std::string> arguments) {
    values = with_base_of_adapter(set_, std::move(values), options_);
    values = with_stored_types(with_adapter(set_, with_folder(set_, std::move(values), options_), options_));
    say_in_data(values);
    for (const OptionRow& row : set_.rows()) {
      if (row.form == OptionRow::Form::Positional)
        for (const std::string& argument : arguments) row.read(argument);
      else if (const auto value = values.find(row.key()); value != values.end())
        row.read(value->second);
    }
    check_excluded(values);
    std::erase_if(values, [&](const auto& value) { return !set_.find_key(value.first); });
    options_.given = std::move(values);
    options_.arguments = std::move(arguments);
    for (const auto& step : set_.last_steps()) step();
    if (set_.find("--model")) check_together(options_);
    options_.run = run_;
    return options_;
  }

  Options parse(std::vector<std::string> args) {
    CLI::App app(description_of(*options_.command), call_of(*options_.command));
    set_up(app);
    check_names(app, args);
    std::reverse(args.begin(), args.end());  // CLI11 takes them from the back
    try {
      app.parse(args);
      return read_from(app);
    } catch (const CLI::CallForHelp&) {
      options_.answer = app.help();
    } catch (const CLI::CallForVersion& version) {
      options_.answer = std::string(version.what()) + "\n";
    } catch (const CLI::ParseError& error) {
      fail(error.what());
    }
    return options_;
  }

 private:
  void set_up(CLI::App& app) const {
    app.formatter(std::make_shared<HelpOfRows>(set_));
    app.get_formatter()->column_width(26);
    app.set_version_flag("--version", "lethe " LETHE_VERSION);
    if (options_.command == &command_table().front()) app.footer(commands_help());
    for (const OptionRow& row : set_.rows()) add(app, row);
  }

  static void add(CLI::App& app, const OptionRow& row) {
    using Form = OptionRow::Form;
    CLI::Option* const option = row.form == Form::Flag ? app.add_flag(row.name, row.info.help)
                                                       : app.add_option(row.name, CLI::callback_t(), row.info.help);
    option->option_text(row.info.value)->required(row.is_required);
    if (row.form != Form::Positional) option->group(row.info.group);
    if (row.form != Form::Flag) {
      std::string words;
      for (const std::string& word : row.info.words) words.append(words.empty() ? ":{" : ",").append(word);
      option->type_name(row.type + words + (words.empty() ? "" : "}"))->type_size(1);
    }
    if (row.form == Form::List)
      option->take_all()->allow_extra_args(false)->delimiter(',');
    else if (row.form != Form::Positional)
      option->take_last();
    if (row.form == Form::MayBeEmpty) option->expected(0, 1);
    if (row.info.many) option->expected(1, CLI::detail::expected_max_vector_size)->allow_extra_args();
  }

  /// CLI11 complains of an unknown option last, after everything that is missing because of it; so they come first
  /// here.
  static void check_names(const CLI::App& app, const std::vector<std::string>& args) {
    std::vector<std::string> known;
    for (const CLI::Option* option : app.get_options())
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    for (const std::string& arg : args) {
      if (arg == "--") return;  // what follows are files
      const std::string name = arg.substr(0, arg.find('='));
      if (name.size() < 3 || name.compare(0, 2, "--") != 0) continue;
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      fail("unknown option ", shortened(name), did_you_mean(name, known), "; --help lists all");
    }
  }

  void check_excluded(const OptionValues& values) const {
    for (const OptionRow& row : set_.rows()) {
      if (!values.contains(row.key())) continue;
      check(!row.needed || values.contains(row.needed->substr(2)), row.name, " requires ", row.needed.value_or(""));
      for (const OptionRow& other : set_.rows())
        check(!row.is_excluded_by(other) || !values.contains(other.key()), row.name, " excludes ", other.name);
    }
  }

  /// What --skip-bad says a run keeps with its data.
  void say_in_data(OptionValues& values) {
    const OptionRow* const row = set_.find("--skip-bad");
    const auto data = values.find("data"), most = values.find("skip-bad");
    if (!row || !row->has(Fact::PartOfData) || data == values.end() || most == values.end()) return;
    row->read(most->second);
    if (options_.skip_bad == 0) return;
    data->second = with_skip_bad(data->second, std::exchange(options_.skip_bad, 0));
    values.erase(most);
  }

  Options read_from(const CLI::App& app) {
    OptionValues values;
    std::vector<std::string> arguments;
    for (const CLI::Option* option : app.get_options()) {
      if (option->count() == 0) continue;
      if (option->get_positional()) {
        arguments = option->reduced_results();
      } else if (!option->get_lnames().empty()) {
        const std::string& key = option->get_lnames().front();
        for (const std::string& each : option->results())
          set_.find_key(key)->check_text(each);  // those that do not count too
        std::string& value = values[key];
        for (const std::string& part : option->reduced_results()) value.append(value.empty() ? "" : ",").append(part);
      }
    }
    return read(std::move(values), std::move(arguments));
  }

  Options options_;
  OptionSet set_ = {};
  Run run_;
};

/// The rows of a command, for what they are and not for what they fill in. Some are bound to what `run` holds.
struct Rows {
  explicit Rows(const Command& command) : scratch(command), run(command.declare(set, scratch)) {}
  Rows(const Rows&) = delete;
  Options scratch;
  OptionSet set = {};
  Run run;
};

}  // namespace

void lay_under(const Command& command, OptionValues& given, const OptionValues& values) {
  const Rows rows(command);
  const OptionSet& set = rows.set;
  const OptionValues above = given;
  const auto every = given.find("eval-every");
  const bool evaluated = every == given.end() || parse_interval(every->second, "--eval-every").count > 0;
  for (const auto& [name, value] : values) {
    const OptionRow* const row = set.find_key(name);
    if (!row || ((name == "patience" || name == "best") && !evaluated)) continue;
    const auto excludes = [&](const OptionRow& other) {
      return row->is_excluded_by(other) && above.contains(other.key());
    };
    if (std::ranges::any_of(set.rows(), excludes)) continue;
    const auto [entry, is_new] = given.emplace(name, value);
    if (!is_new && row->form == OptionRow::Form::List) entry->second = merged(value, entry->second);
  }
}

Options with_only(const Options& options, const OptionValues& values) {
  Options all = CommandLine(*options.command).read(values, options.arguments);
  if (all.program.network.model == options.program.network.model)
    all.program.network.file = options.program.network.file;
  all.notes = options.notes;
  all.most_context = options.most_context;
  all.of_folder = options.of_folder;
  if (all.autotune == options.autotune) all.device.trials = options.device.trials;
  if (all.costs == options.costs) all.program.memory.levels.costs = options.program.memory.levels.costs;
  return all;
}

Options with_values(const Options& options, const OptionValues& values) {
  OptionValues all = options.given;
  lay_under(*options.command, all, values);
  return with_only(options, all);
}

Options with_value(const Options& options, const std::string& name, const std::string& value) {
  OptionValues all = options.given;
  all[name] = value;
  return with_only(options, all);
}

OptionValues with_fact(const Command& command, const OptionValues& values, Fact fact) {
  OptionValues others = without_fact(command, values, fact), found = values;
  std::erase_if(found, [&](const auto& value) { return others.contains(value.first); });
  return found;
}

OptionValues without_fact(const Command& command, OptionValues values, Fact fact) {
  const Rows rows(command);
  std::erase_if(values, [&](const auto& value) {
    const OptionRow* const row = rows.set.find_key(value.first);
    return row && row->has(fact);
  });
  return values;
}

void check_value(const Command& command, const std::string& name, const std::string& value) {
  const Rows rows(command);
  if (const OptionRow* const row = rows.set.find_key(name)) row->read(value);
}

Options parse_options(const std::vector<std::string>& args) {
  check_arguments(args);
  const bool has_word = !args.empty() && args[0][0] != '-';
  return CommandLine(command_named(has_word ? args[0] : "")).parse({args.begin() + (has_word ? 1 : 0), args.end()});
}

const std::vector<OptionInfo> kAnswers = {
    {.names = {"-h", "--help"}, .group = "Options", .help = "Print this help message and exit"},
    {.names = {"--version"}, .group = "Options", .help = "Display program version information and exit"}};

}  // namespace lethe
