// What Python asks for, as the command line would: arguments are its words, so every option, check and hint is there
// once.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "train/options.h"
#include "train/run_files.h"

namespace lethe {

/// Python's keywords in place of options: "--memory-budget" becomes "memory_budget".
std::string in_keywords(const std::string& text);

/// A keyword and what it is.
struct Keyword {
  std::string name, help;
  bool is_flag = false;
};
std::vector<Keyword> session_keywords();

/// Of a session, which takes what training takes; what of that writes records becomes `files`. `network` stands for the
/// file that --model names. Fails for options that mean nothing here.
Options session_options(std::vector<std::string> arguments, const std::optional<NetworkFile>& network, RunFiles& files);

/// As JSON and as text for people.
struct PlanTexts {
  std::string json, table;
};
PlanTexts plan_of(const Options& options, bool advise);
std::string timeline_page_of(const Options& options);
/// Of a session that these words make.
std::string session_timeline(std::vector<std::string> arguments, const std::optional<NetworkFile>& network);
/// Decided options of `train plan`, also for a GPU that is not there.
Options plan_options(std::vector<std::string> arguments, const std::optional<NetworkFile>& network);

}  // namespace lethe
