// `train completion`: scripts for shells, written from the rows of options.
#include <map>

#include "framework/error.h"
#include "framework/program_name.h"
#include "train/options.h"
#include "train/report/streams.h"

namespace lethe {
namespace {

/// `text` with `escape` before each character that is in `special`.
std::string escaped(const std::string& text, const std::string& special, const std::string& escape) {
  std::string all;
  for (const char c : text) all.append(special.find(c) == std::string::npos ? "" : escape).append(1, c);
  return all;
}

/// Scripts have @@ where the program's is to stand.
std::string with_name(std::string script) {
  const std::string written = "@@", name = program_name();
  for (std::size_t at = 0; (at = script.find(written, at)) != std::string::npos; at += name.size())
    script.replace(at, written.size(), name);
  return script;
}

std::string words_in(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all.append(all.empty() ? "" : " ").append(word);
  return all;
}

bool takes_files(const OptionInfo& option) { return option.takes("FILE"); }
bool takes_directories(const OptionInfo& option) { return option.takes("DIR"); }

std::string command_words() {
  std::vector<std::string> words;
  for (const Command& command : command_table())
    if (*command.word) words.emplace_back(command.word);
  return words_in(words);
}

// ---- bash ----------------------------------------------------------------------------------------------------------

/// What may stand after an option, as arguments of compgen; "" if nothing can be said.
std::string bash_values(const OptionInfo& option) {
  std::string values;
  if (!option.words.empty()) values = " -W '" + words_in(option.words) + "'";
  if (takes_files(option)) return values + " -f";
  return takes_directories(option) ? values + " -d" : values;
}

std::string bash_case(const CommandOptions& command) {
  std::map<std::string, std::string> patterns;  // by what the options take
  std::string names, positional;
  for (const OptionInfo& option : command.options) {
    if (option.names.empty()) positional = bash_values(option);
    for (const std::string& name : option.names) {
      names.append(names.empty() ? "" : " ").append(name);
      if (!option.value.empty()) patterns[bash_values(option)].append("|").append(name);
    }
  }
  std::string text = message("    '", command.command->word, "')\n      case $previous in\n");
  for (const auto& [values, options] : patterns)
    text.append(
        message("        ", options.substr(1), ")", values.empty() ? " ;;" : " _@@_take" + values + " ;;", "\n"));
  text.append(message("        *) [[ $word == -* ]] && _@@_take -W '", names, "'"));
  if (!positional.empty()) text.append(" || _@@_take" + positional);
  return text + " ;;\n      esac ;;\n";
}

std::string bash_script(const std::vector<CommandOptions>& all) {
  std::string text = R"sh(# Completion of @@'s command lines for bash: eval "$(@@ completion bash)"
_@@_take() {  # arguments of compgen
  mapfile -t COMPREPLY < <(compgen "$@" -- "$word")
  [[ ${*: -1} != -[fd] ]] || compopt -o filenames 2>/dev/null
}
_@@() {
  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command=
  # bash takes --model=lenet for three words
  if [[ $word == = ]]; then word=; elif [[ $previous == = ]]; then previous=${COMP_WORDS[COMP_CWORD-2]}; fi
  COMPREPLY=()
  if ((COMP_CWORD > 1)) && [[ ${COMP_WORDS[1]} != -* ]]; then command=${COMP_WORDS[1]}; fi
)sh";
  text.append(message("  if ((COMP_CWORD == 1)) && [[ $word != -* ]]; then _@@_take -W '", command_words(),
                      "'; return; fi\n  case $command in\n"));
  for (const CommandOptions& command : all) text.append(bash_case(command));
  return text + "  esac\n  return 0\n}\ncomplete -F _@@ @@\n";
}

// ---- zsh -----------------------------------------------------------------------------------------------------------

std::string zsh_quoted(const std::string& text) { return "'" + escaped(text, "'", "'\\'") + "'"; }

std::string zsh_values(const OptionInfo& option) {
  const std::string files = takes_files(option) ? "_files" : takes_directories(option) ? "_files -/" : "";
  if (option.words.empty()) return files.empty() ? " " : files;
  return files.empty() ? "(" + words_in(option.words) + ")" : " _@@_words_or_files " + words_in(option.words);
}

/// An argument of _arguments: '--keep=[Newest checkpoints kept]:N: ', of a positional ':FILE:_files', or
/// '*:FILE:_files' if many may stand there.
std::string zsh_argument(const OptionInfo& option, const std::string& name) {
  std::string text = option.many ? "*" : name;
  if (!name.empty()) {
    if (!option.value.empty() && name.compare(0, 2, "--") == 0) text.append("=");
    text.append("[" + escaped(option.help, "[]:\\", "\\") + "]");
  }
  if (!option.value.empty()) text.append(":" + option.value + ":" + zsh_values(option));
  return zsh_quoted(text);
}

std::string zsh_case(const CommandOptions& command) {
  std::string text = message("    '", command.command->word, "') _arguments");
  for (const OptionInfo& option : command.options) {
    if (option.names.empty()) text.append(" \\\n      " + zsh_argument(option, ""));
    for (const std::string& name : option.names) text.append(" \\\n      " + zsh_argument(option, name));
  }
  return text + " ;;\n";
}

std::string zsh_script(const std::vector<CommandOptions>& all) {
  std::string text = R"sh(#compdef @@
# Completion of @@'s command lines for zsh: a file _@@ in a directory of $fpath.
_@@_words_or_files() { compadd -- "$@"; _files }
_@@() {
  local command=
  local -a commands=(
)sh";
  for (const CommandOptions& command : all)
    if (*command.command->word)
      text.append("    " + zsh_quoted(message(command.command->word, ":", escaped(command.command->help, ":", "\\"))) +
                  "\n");
  text.append(R"sh(  )
  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then _describe command commands; return; fi
  if [[ $words[2] != -* ]]; then command=$words[2]; shift words; (( CURRENT-- )); fi
  case $command in
)sh");
  for (const CommandOptions& command : all) text.append(zsh_case(command));
  return text + "  esac\n}\nif [[ $funcstack[1] == _@@ ]]; then _@@ \"$@\"; else compdef _@@ @@; fi\n";
}

// ---- fish ----------------------------------------------------------------------------------------------------------

std::string fish_quoted(const std::string& text) { return "'" + escaped(text, "'\\", "\\") + "'"; }

std::string fish_line(const CommandOptions& command, const OptionInfo& option) {
  const std::string word = *command.command->word ? command.command->word : "@@";
  std::string text = "complete -c @@ -n '__@@_is " + word + "'";
  for (const std::string& name : option.names)
    text.append(name[1] == '-' ? " -l " + name.substr(2) : " -s " + name.substr(1));
  if (!option.value.empty() && !option.names.empty()) text.append(takes_files(option) ? " -rF" : " -x");
  std::string values = words_in(option.words);
  if (!takes_files(option) && takes_directories(option))
    values.append(values.empty() ? "" : " ").append("(__fish_complete_directories)");
  if (!values.empty()) text.append(" -a " + fish_quoted(values));
  if (option.names.empty() && takes_files(option)) text.append(" -F");
  return text + " -d " + fish_quoted(option.help) + "\n";
}

std::string fish_script(const std::vector<CommandOptions>& all) {
  std::string text = R"sh(# Completion of @@'s command lines for fish: ~/.config/fish/completions/@@.fish
function __@@_is
  set -l words (commandline -opc)
  set -l command @@
  if test (count $words) -gt 1; and not string match -q -- '-*' $words[2]
    set command $words[2]
  end
  test $command = $argv[1]
end
complete -c @@ -f
)sh";
  for (const CommandOptions& command : all) {
    if (*command.command->word)
      text.append(message("complete -c @@ -n 'test (count (commandline -opc)) -eq 1' -a ", command.command->word,
                          " -d ", fish_quoted(command.command->help), "\n"));
    for (const OptionInfo& option : command.options) text.append(fish_line(command, option));
  }
  return text;
}

int print_completion(const std::string& shell) {
  const std::vector<CommandOptions> all = walk_options();
  const std::string script = shell == "bash" ? bash_script(all) : shell == "zsh" ? zsh_script(all) : fish_script(all);
  write_result("", as_called(with_name(script)));
  return 0;
}

Run declare_completion(OptionSet& set, Options& o) {
  static_cast<void>(o);
  const auto shell = std::make_shared<std::vector<std::string>>();
  set.add_positional("shell", *shell, "SHELL", "bash, zsh or fish", false)
      ->required()
      ->check(one_of({"bash", "zsh", "fish"}));
  return [shell](const Options&) { return print_completion(shell->front()); };
}

const RegisterCommand completion_command{
    {.word = "completion",
     .help = "Prints a script that completes command lines in a shell.",
     .examples = {{"eval \"$(train completion bash)\"", "in this shell"},
                  {"train completion fish > ~/.config/fish/completions/train.fish", "in every one to come"}},
     .declare = declare_completion}};

}  // namespace
}  // namespace lethe
