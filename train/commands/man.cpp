// `train man`: the manual page, in roff with the macros of man(7), written from the rows of options.
#include <algorithm>
#include <cctype>
#include <map>

#include "framework/error.h"
#include "framework/program_name.h"
#include "models/json_source.h"
#include "train/options.h"
#include "train/report/streams.h"

namespace lethe {
namespace {

struct ManEntry {
  const char *name, *text;
};

constexpr ManEntry kExitCodes[] = {{"0", "done, or stopped on request"},
                                   {"1", "internal error"},
                                   {"2", "wrong option, network file or setting"},
                                   {"3", "does not fit the memory budget, or the GPU"},
                                   {"4",
                                    "data or checkpoint missing or damaged; weights in a file that are not finite, or "
                                    "too large for the numbers that they are to be in; a file that predict cannot "
                                    "read; the disk is full, or standard output cannot be written"},
                                   {"5",
                                    "the loss is no number, or weights to be saved are not finite; the message says at "
                                    "which step and what to try"},
                                   {"6",
                                    "device missing, or it or the machine out of memory; the message says what for, "
                                    "and for how many bytes"}};

constexpr ManEntry kFiles[] = {
    {"DIR/step-000400",
     "A checkpoint in the directory of --save: weights.safetensors, optimizer.safetensors, state.json. With "
     "--checkpoint sharded: shares.json and, of each rank, a file such as rank-0-of-4.safetensors instead of the first "
     "two."},
    {"DIR/metrics.csv", "Records of the run: step, epoch, split, loss, acc, lr, ms, mem_peak, recorded."},
    {"NAME.json", "A network; train schema prints the JSON Schema of such files."}};

constexpr ManEntry kVariables[] = {
    {"LETHE_MODELS", "Directories of network files, with colons between them, before those of the zoo."},
    {"LETHE_LEVEL",
     "Where it is installed for several levels of x86-64: the one to start, as x86-64-v3; else the best."},
    {"NO_COLOR", "If it is set, progress has no colour."}};

/// A character as roff takes it: a minus sign can be copied, and none becomes a typographic sign.
std::string roff(char c) {
  static const std::map<char, const char*> kEscapes = {{'\\', "\\e"},  {'-', "\\-"},   {'\'', "\\(aq"},
                                                       {'^', "\\(ha"}, {'~', "\\(ti"}, {'`', "\\(ga"}};
  const auto found = kEscapes.find(c);
  return found == kEscapes.end() ? std::string(1, c) : found->second;
}

/// No line passes for a request.
std::string roff(const std::string& text) {
  std::string all = text.starts_with('.') ? "\\&" : "";
  for (const char c : text) all.append(roff(c));
  return all;
}

std::string bold(const std::string& text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + roff(text) + "\\fR"; }
std::string heading(const char* text) { return message(".SH ", text, "\n"); }

std::string entry(const std::string& name, const std::string& text) {
  return ".TP\n" + name + "\n" + roff(as_called(text)) + "\n";
}

std::string entries(const char* title, const auto& all, std::string (*styled)(const std::string&)) {
  std::string text = heading(title);
  for (const ManEntry& one : all) text += entry(styled(one.name), one.text);
  return text;
}

std::string names_of(const OptionInfo& option) {
  std::string names;
  for (const std::string& name : option.names) names.append(names.empty() ? "" : ", ").append(bold(name));
  if (option.value.empty()) return names;
  return names.append(names.empty() ? "" : " ").append(italic(option.value));
}

/// Options by group, in the order of --help.
std::string options_text(const std::vector<OptionInfo>& options) {
  std::vector<std::string> groups;
  for (const OptionInfo& option : options)
    if (std::ranges::find(groups, option.group) == groups.end()) groups.push_back(option.group);
  std::string text;
  for (const std::string& group : groups) {
    if (!group.empty()) text.append(".PP\n" + italic(group) + "\n");
    for (const OptionInfo& option : options)
      if (option.group == group) text.append(entry(names_of(option), option.help));
  }
  return text;
}

std::string synopsis_of(const CommandOptions& command) {
  std::string text = ".B " + roff(call_of(*command.command));
  for (const OptionInfo& option : command.options)
    if (option.names.empty()) text.append("\n" + italic(option.value));
  return text + "\n" + "[" + italic("OPTIONS") + "]\n";
}

/// What a command does, its options in full but for those that are as training has them.
std::string command_text(const CommandOptions& command, const CommandOptions& training) {
  std::string text = ".SS " + roff(call_of(*command.command)) + "\n" + roff(command.command->help) + "\n";
  std::vector<OptionInfo> own;
  std::vector<std::string> shared;
  for (const OptionInfo& option : command.options)
    if (std::ranges::find(training.options, option) == training.options.end())
      own.push_back(option);
    else
      shared.push_back(bold(option.names.back()));
  text.append(options_text(own));
  return text.append(".PP\nAs for training: " + joined(shared) + ".\n");
}

std::string examples_of(const std::vector<CommandOptions>& all) {
  std::string text = heading("EXAMPLES");
  for (const CommandOptions& command : all)
    for (const Example& example : command.command->examples)
      text.append(entry(bold(as_called(example.line)), example.what));
  return text;
}

std::string in_capitals(std::string name) {
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

std::string man_page(const std::vector<CommandOptions>& all) {
  const CommandOptions& training = all.front();
  const std::string name = program_name();
  std::string text = ".TH " + in_capitals(name) + " 1 \"\" \"lethe " LETHE_VERSION "\" \"User Commands\"\n" +
                     heading("NAME") + name + " \\- trains neural networks and plans their memory to the byte\n" +
                     heading("SYNOPSIS");
  for (const CommandOptions& command : all)
    text.append(&command == &training ? "" : ".br\n").append(synopsis_of(command));
  text.append(heading("DESCRIPTION") + roff(training.command->help) + "\n");
  text.append(heading("OPTIONS") + "Of training, which needs no command:\n" + options_text(training.options) +
              heading("COMMANDS"));
  for (const CommandOptions& command : all)
    if (&command != &training) text.append(command_text(command, training));
  text.append(examples_of(all)).append(entries("EXIT STATUS", kExitCodes, bold));
  return text.append(entries("FILES", kFiles, italic)).append(entries("ENVIRONMENT", kVariables, bold));
}

int print_man_page(const Options&) {
  write_result("", man_page(walk_options()));
  return 0;
}

Run declare_man(OptionSet& set, Options& o) {
  static_cast<void>(set), static_cast<void>(o);
  return print_man_page;
}

const RegisterCommand man_command{{.word = "man",
                                   .help = "Prints this program's manual page.",
                                   .examples = {{"train man > train.1", "then: man -l train.1"}},
                                   .declare = declare_man}};

}  // namespace
}  // namespace lethe
