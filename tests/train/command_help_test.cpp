// The program explains its own command lines: examples, completion, the manual page.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "framework/error.h"
#include "models/network.h"
#include "tests/train/run_fixture.h"
#include "train/options.h"

namespace lethe::testing {
namespace {

/// As roff has it.
std::string with_strokes_escaped(const std::string& name) {
  std::string text;
  for (const char c : name) text.append(c == '-' ? "\\" : "").append(1, c);
  return text;
}

bool has_program(const std::string& name) {
  return std::system(("command -v " + name + " >/dev/null 2>&1").c_str()) == 0;
}

std::vector<std::string> words_of_line(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream in(line);
  for (std::string word; in >> word && word != ">";) words.push_back(word);
  return words;
}

TEST(CommandTable, HelpBeginsWithExamplesThatTheProgramTakes) {
  for (const Command& info : command_table()) {
    ASSERT_FALSE(info.examples.empty()) << info.word;
    std::vector<std::string> ask = {"--help"};
    if (*info.word) ask.insert(ask.begin(), info.word);
    const std::string help = parse_options(ask).answer;
    for (const Example& example : info.examples) {
      EXPECT_LT(help.find(example.line), help.find("Usage:")) << help;
      std::vector<std::string> words = words_of_line(example.line);
      if (words[0] != "train") continue;  // a line of the shell around it
      words.erase(words.begin());
      try {
        parse_options(words);
      } catch (const Error& error) {  // this build may have no GPU
        EXPECT_EQ(error.code, Exit::Device) << example.line << ": " << error.what();
      }
    }
  }
  EXPECT_EQ(command_table().front().examples.size(), 3U);
}

TEST(CommandTable, OfTwoCommandsWithOneWordTheSecondFails) {
  EXPECT_THROW(RegisterCommand({.word = "plan", .help = "another"}), std::logic_error);
  EXPECT_EQ(std::ranges::count(command_table(), std::string("plan"), &Command::word), 1);
}

TEST(CommandTable, TheWalkFindsWhatOptionsTake) {
  const std::vector<CommandOptions> all = walk_options();
  ASSERT_EQ(all.size(), command_table().size());
  std::map<std::string, OptionInfo> training;
  for (const OptionInfo& option : all.front().options)
    if (!option.names.empty()) training[option.names.back()] = option;
  EXPECT_EQ(training.at("--help").names, (std::vector<std::string>{"-h", "--help"}));
  EXPECT_EQ(training.at("--model").words, zoo_names());
  EXPECT_EQ(training.at("--dtype").words, (std::vector<std::string>{"f32", "f64", "bf16", "f16"}));
  EXPECT_TRUE(training.at("--save").takes("DIR"));
  EXPECT_FALSE(training.at("--save").takes("FILE"));
  EXPECT_TRUE(training.at("--weights").takes("FILE"));
  EXPECT_EQ(training.at("--quiet").value, "");
  EXPECT_TRUE(training.at("--batch").words.empty());
}

class CommandHelp : public RunTest {
 protected:
  void SetUp() override {
    RunTest::SetUp();
    std::filesystem::create_directories(path("runs"));
    for (const char* shell : {"bash", "zsh", "fish"}) write(shell, {"completion", shell});
    write("train.1", {"man"});
  }
  void write(const std::string& name, const std::vector<std::string>& args) const {
    const Ended ended = run_train(args);
    ASSERT_EQ(ended.code, 0) << ended.err;
    std::ofstream(path(name)) << ended.out;
  }
  /// Runs a command in the test's directory and gives all that it prints.
  std::string said_by(const std::string& command) const {
    const std::string file = path("said");
    const int status = std::system(("cd '" + home_.string() + "' && { " + command + "; } >" + file + " 2>&1").c_str());
    return bytes_in(file) + (status == 0 ? "" : "\nexit status " + std::to_string(status));
  }
  /// The completions of the last of `words` in bash, sorted.
  std::set<std::string> completed(const std::vector<std::string>& words) const {
    std::string line;
    for (const std::string& word : words) line.append(" '").append(word).append("'");
    const std::string said = said_by(
        "bash -c '. ./bash; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _train; printf \"%s\\n\" \"${COMPREPLY[@]}\"' "
        "bash" +
        line);
    std::istringstream lines(said);
    std::set<std::string> all;
    for (std::string one; std::getline(lines, one);) all.insert(one);
    return all;
  }
};

using Offers = std::set<std::string>;

TEST_F(CommandHelp, BashCompletesCommandsOptionsAndValues) {
  if (!has_program("bash")) GTEST_SKIP() << "there is no bash";
  EXPECT_EQ(completed({"train", "ti"}), Offers({"timeline"}));
  EXPECT_EQ(completed({"train", ""}).size(), command_table().size() - 1);
  EXPECT_EQ(completed({"train", "--tens"}), Offers({"--tensorboard"}));
  EXPECT_EQ(completed({"train", "plan", "--memory"}), Offers({"--memory-budget"}));
  EXPECT_EQ(completed({"train", "plan", "--tens"}), Offers({""})) << "plan writes no records";
  EXPECT_EQ(completed({"train", "--dtype", "f"}), Offers({"f16", "f32", "f64"}));
  EXPECT_EQ(completed({"train", "show", "--format", "=", "j"}), Offers({"json"}));
  EXPECT_EQ(completed({"train", "show", "--format", "="}), Offers({"dot", "json", "program", "text"}));
  EXPECT_EQ(completed({"train", "completion", ""}), Offers({"bash", "fish", "zsh"}));
  EXPECT_EQ(completed({"train", "--model", "resnet11"}), Offers({"resnet110"}));
  EXPECT_EQ(completed({"train", "--model", "sm"}), Offers({"small.json"}));
  EXPECT_EQ(completed({"train", "--save", ""}), Offers({"runs"}));
  EXPECT_EQ(completed({"train", "pack", "tr"}), Offers({"train.1"}));
  EXPECT_EQ(completed({"train", "--batch", ""}), Offers({""}));
  EXPECT_EQ(completed({"train", "schema", "--layers", "max_p"}), Offers({"max_pool"}));
}

TEST_F(CommandHelp, ZshAndFishReadTheirScripts) {
  for (const char* shell : {"zsh", "fish"}) {
    if (has_program(shell)) {
      EXPECT_EQ(said_by(message(shell, " -n ./", shell)), "");
    }
  }
  if (!has_program("fish")) GTEST_SKIP() << "there is no fish";
  const std::string ask = "fish --no-config -c 'source ./fish; complete -C \"";
  EXPECT_EQ(said_by(ask + "train tim\"' | cut -f1"), "timeline\n");
  EXPECT_EQ(said_by(ask + "train --dtype b\"' | cut -f1"), "bf16\n");
  EXPECT_EQ(said_by(ask + "train plan --memory\"' | cut -f1"), "--memory-budget\n");
}

TEST_F(CommandHelp, SaysTheNameThatItIsCalledBy) {
  std::filesystem::create_symlink(LETHE_TRAIN_BINARY, path("lethe"));
  EXPECT_EQ(said_by("./lethe plam").rfind("lethe: error: unknown command 'plam'; did you mean 'plan'?", 0), 0U);
  EXPECT_NE(said_by("./lethe plan --help").find("  lethe plan --model resnet20 --memory-budget 200MiB"),
            std::string::npos);
  EXPECT_NE(said_by("./lethe --data tokens:runs --model char_gpt").find("; lethe tokenize makes it"),
            std::string::npos);
  EXPECT_NE(said_by("./lethe man").find(".TH LETHE 1 "), std::string::npos);
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const std::string script = said_by(std::string("./lethe completion ") + shell);
    EXPECT_EQ(script.find("@@"), std::string::npos) << shell;
    EXPECT_EQ(script.find("_train"), std::string::npos) << shell;
    EXPECT_EQ(script.find("train plan"), std::string::npos) << shell;
  }
  for (const char* text : {"plan --help", "man", "device --help"})
    for (const char* call : {"train pack", "train plan", "train schema"})
      EXPECT_EQ(said_by(std::string("./lethe ") + text).find(call), std::string::npos) << call << " in " << text;
}

TEST_F(CommandHelp, EnvSaysWhatABugReportNeeds) {
  const Ended text = run_train({"env"}), json = run_train({"env", "--json"});
  ASSERT_EQ(json.code, 0) << json.err;
  const nlohmann::ordered_json all = nlohmann::ordered_json::parse(json.out);
  EXPECT_EQ("lethe " + all.at("lethe").get<std::string>() + "\n", run_train({"--version"}).out);
  EXPECT_GE(std::stoi(all.at("threads").get<std::string>()), 1);
  std::istringstream lines(text.out);
  std::string line;
  for (const auto& [name, value] : all.items()) {
    ASSERT_TRUE(std::getline(lines, line)) << name;
    EXPECT_EQ(line.rfind(name, 0), 0U) << line;
    if (name.find("available") == std::string::npos) {
      EXPECT_NE(line.find(in_one_line(value.get<std::string>())), std::string::npos) << line;
    }
  }
}

TEST_F(CommandHelp, EnvSaysTheLeastLimitOfMemory) {
  const Ended limited = run_train({"env", "--json"}, {.memory = std::int64_t{1} << 50});
  ASSERT_EQ(limited.code, 0) << limited.err;
  EXPECT_EQ(nlohmann::json::parse(limited.out).at("limit of process"), "1125899906842624 bytes");
}

TEST_F(CommandHelp, InZshFilesMayBeMany) {
  const std::string script = bytes_in(path("zsh"));
  EXPECT_NE(script.find("'*:FILE|DIR...:_files'"), std::string::npos) << "of predict";
  EXPECT_NE(script.find("':FILE:_files'"), std::string::npos) << "of pack, which takes one";
}

TEST_F(CommandHelp, TheManualHasTheExitCodesOfTheDocumentation) {
  const std::string page = bytes_in(path("train.1"));
  std::ifstream docs(LETHE_SOURCE_DIR "/docs/reference/output.md");
  int codes = 0;
  for (std::string row; std::getline(docs, row);) {
    if (row.size() < 8 || row.rfind("| ", 0) != 0 || std::isdigit(static_cast<unsigned char>(row[2])) == 0) continue;
    std::string text = row.substr(6, row.size() - 8);
    text.erase(std::remove(text.begin(), text.end(), '`'), text.end());
    EXPECT_NE(page.find(message("\\fB", row[2], "\\fR\n", text, "\n")), std::string::npos) << text;
    ++codes;
  }
  EXPECT_EQ(codes, 7);
}

TEST_F(CommandHelp, TheManualHasEveryOptionAndNoWarning) {
  const std::string page = bytes_in(path("train.1"));
  for (const CommandOptions& command : walk_options())
    for (const OptionInfo& option : command.options)
      for (const std::string& name : option.names)
        EXPECT_NE(page.find("\\fB" + with_strokes_escaped(name) + "\\fR"), std::string::npos) << name;
  EXPECT_EQ(page.find_first_of("'^~`"), std::string::npos) << "typographic signs: " << page;
  for (const char* section : {"NAME", "SYNOPSIS", "OPTIONS", "COMMANDS", "EXAMPLES", "EXIT STATUS", "FILES"})
    EXPECT_NE(page.find(std::string(".SH ") + section + "\n"), std::string::npos) << section;
  // It would have the page say of which day it is, which a page that is written anew each time cannot.
  if (has_program("mandoc")) {
    EXPECT_EQ(said_by("mandoc -Tlint -Wwarning train.1 | sed '/missing date/d'"), "");
  }
  if (!has_program("groff")) GTEST_SKIP() << "there is no groff";
  EXPECT_EQ(said_by("groff -man -ww -z -Tutf8 train.1"), "");
}

}  // namespace
}  // namespace lethe::testing
