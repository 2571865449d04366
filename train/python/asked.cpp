#include "train/python/asked.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "framework/error.h"
#include "train/recipe.h"
#include "train/report/plan_report.h"
#include "train/report/timeline.h"
#include "train/session/device.h"
#include "train/session/start.h"

namespace lethe {
namespace {

/// Options of `train` that mean nothing to a session, and why; and of `train plan` that mean nothing to a plan.
struct Meaningless {
  const char *name, *why;
};
constexpr Meaningless kOfSession[] = {{"quiet", "the logger \"lethe\" says what is shown"},
                                      {"print-log", "it prints to standard output; train plan --print-log does"},
                                      {"timeout", "is of ranks that wait for one another, a session is alone"}};
constexpr Meaningless kOfPlan[] = {{"json", "a plan is that JSON"},
                                   {"advise", "lethe.advise gives it"},
                                   {"print-log", "it prints to standard output; train plan --print-log does"},
                                   {"sweep", "is another report; train plan --sweep writes it"},
                                   {"roofline", "is another report; train plan --roofline writes it"},
                                   {"csv", "is another report; train plan --csv writes it"},
                                   {"out", "is of another report"},
                                   {"exchange", "is of another report"},
                                   {"network", "is of links between ranks; train plan --network takes it"}};

template <std::size_t N>
void check_meaning(const Options& options, const Meaningless (&all)[N]) {
  for (const auto& [name, why] : all) check(!options.given.contains(name), "--", name, ": ", why);
}

Options parsed(std::vector<std::string> arguments, const std::optional<NetworkFile>& network) {
  Options options = parse_options(arguments);
  check(options.answer.empty(), "--help and --version are of `train`; lethe.options() lists all, lethe.__version__");
  if (network) options.program.network.file = std::make_shared<NetworkFile>(*network);
  return options;
}

/// The value, of which nothing else takes notice any more.
std::string value_of(const Options& options, const char* name) {
  const auto found = options.given.find(name);
  return found == options.given.end() ? "" : found->second;
}

}  // namespace

std::string in_keywords(const std::string& text) {
  constexpr std::string_view kLists = "--help lists all";
  std::string all;
  const auto is_of_word = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  for (std::size_t at = 0; at < text.size();) {
    const bool begins = at == 0 || !(is_of_word(text[at - 1]) || text[at - 1] == '-');
    if (!begins || text.compare(at, 2, "--") != 0 || at + 2 == text.size() || !is_of_word(text[at + 2])) {
      all += text[at++];
    } else if (text.compare(at, kLists.size(), kLists) == 0) {
      all += "lethe.options() lists all";
      at += kLists.size();
    } else {
      for (at += 2; at < text.size() && (is_of_word(text[at]) || text[at] == '-'); ++at)
        all += text[at] == '-' ? '_' : text[at];
    }
  }
  return all;
}

std::vector<Keyword> session_keywords() {
  std::vector<Keyword> keywords;
  const std::vector<CommandOptions> commands = walk_options();  // training first
  for (const OptionInfo& option : commands.front().options) {
    const std::string name = option.names.back();
    const bool answers =
        std::ranges::find(kAnswers, name, [](const OptionInfo& a) { return a.names.back(); }) != std::end(kAnswers);
    if (answers || name.compare(0, 2, "--") != 0) continue;
    if (std::ranges::any_of(kOfSession, [&](const Meaningless& of) { return name == message("--", of.name); }))
      continue;
    keywords.push_back({in_keywords(name), in_keywords(option.help), option.value.empty()});
  }
  return keywords;
}

Options session_options(std::vector<std::string> arguments, const std::optional<NetworkFile>& network,
                        RunFiles& files) {
  Options options = parsed(std::move(arguments), network);
  check_meaning(options, kOfSession);
  files = {.log_json = value_of(options, "log-json"),
           .metrics = value_of(options, "metrics"),
           .tensorboard = value_of(options, "tensorboard")};
  return options;
}

Options plan_options(std::vector<std::string> arguments, const std::optional<NetworkFile>& network) {
  arguments.insert(arguments.begin(), "plan");
  const Options options = parsed(std::move(arguments), network);
  check_meaning(options, kOfPlan);
  check(value_of(options, "ranks").find('.') == std::string::npos,
        "--ranks A..B is another report; train plan writes it");
  const Shards& shards = options.program.shards;
  check(!options.cheapest_zero, "--zero auto: train plan finds it");
  check(shards.zero == 0 || shards.rank.of > 1, "--zero plans for one of several ranks; add --ranks R");
  return decided(options);
}

PlanTexts plan_of(const Options& options, bool advise) {
  const PlanReport report = report_plan(options.program, device_info(options.device), {}, advise);
  return {plan_json(report), plan_text(report)};
}

std::string timeline_page_of(const Options& options) {
  return timeline_page(timeline_of(options.program, device_info(options.device)));
}

std::string session_timeline(std::vector<std::string> arguments, const std::optional<NetworkFile>& network) {
  RunFiles files;
  const Options given = session_options(std::move(arguments), network, files);
  const CheckpointOptions& of = given.checkpoints;
  const Start start = of.resume.empty() ? Start{} : find_start(of.save, of.resume);
  return timeline_page_of(decided(given, options_in(start.checkpoint, start.state)));
}

}  // namespace lethe
