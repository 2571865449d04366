// What the command line says, byte for byte as files in golden/ have it: each --help, facts of options, the manual
// page, completion scripts, and what wrong command lines are told. `LETHE_WRITE_GOLDEN=1 test_train
// --gtest_filter=Golden*` writes them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <sstream>

#include "framework/error.h"
#include "tests/train/golden_file.h"
#include "tests/train/train_process.h"
#include "train/command.h"
#include "train/options.h"

namespace lethe::testing {
namespace {

/// A line of wrong_lines.txt as a shell reads it: '' is an empty argument.
std::vector<std::string> arguments_in(const std::string& line) {
  std::istringstream words(line.substr(std::string("$ train").size()));
  std::vector<std::string> args;
  for (std::string word; words >> word;) args.push_back(word == "''" ? "" : word);
  return args;
}

/// What the line ends in: "2: train: error: ..."; the place of the sources is left out.
std::string outcome_of(const std::string& line) {
  const Ended ended = run_train(arguments_in(line), {.before = [] {
                                  if (chdir(kGoldenFiles.c_str()) != 0) _exit(125);
                                }});
  std::string said = ended.err;
  for (const std::string home = LETHE_SOURCE_DIR "/"; said.find(home) != std::string::npos;)
    said.erase(said.find(home), home.size());
  return message(ended.code, ": ", said);
}

/// Whoever runs it may have networks of their own; the files speak of the zoo alone.
class Golden : public ::testing::Test {
 protected:
  Golden() { unsetenv("LETHE_MODELS"); }
};

TEST_F(Golden, HelpOfEachCommand) {
  std::string all;
  for (const Command& info : command_table()) {
    std::vector<std::string> args = {"--help"};
    if (*info.word) args.insert(args.begin(), info.word);
    all.append("$ " + call_of(info) + " --help\n" + parse_options(args).answer);
  }
  expect_golden("help.txt", all);
}

/// What a run keeps, and what goes with a change of device or optimizer, hangs on these.
TEST_F(Golden, FactsOfTheOptionsOfTraining) {
  const std::map<Fact, const char*> words = {{Fact::Kept, "kept"},
                                             {Fact::OfKind, "of kind"},
                                             {Fact::OfOptimizer, "of optimizer"},
                                             {Fact::OfNetwork, "of network"},
                                             {Fact::Rounds, "rounds"},
                                             {Fact::PartOfData, "part of data"}};
  const Command& training = command_named("");
  Options options(training);
  OptionSet set;
  const lethe::Run run = training.declare(set, options);
  std::string all;
  for (const OptionRow& row : set.rows()) {
    all += row.name + ":";
    for (const auto& [fact, word] : words)
      if (row.has(fact)) all.append(" ").append(word).append(";");
    all += '\n';
  }
  expect_golden("facts.txt", all);
}

TEST_F(Golden, ManualPageAndCompletions) {
  expect_golden("train.1", run_train({"man"}).out);
  for (const std::string shell : {"bash", "zsh", "fish"})
    expect_golden("completion." + shell, run_train({"completion", shell}).out);
}

TEST_F(Golden, WrongLinesAreToldWhatIsWrong) {
  std::ifstream file(kGoldenFiles + "wrong_lines.txt");
  std::string all;
  int lines = 0;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("$ ")) continue;  // what the last one ended in
    all.append(line + "\n" + outcome_of(line));
    ++lines;
  }
  EXPECT_GE(lines, 140);
  expect_golden("wrong_lines.txt", all);
}

}  // namespace
}  // namespace lethe::testing
