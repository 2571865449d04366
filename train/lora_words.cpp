#include "train/lora_words.h"

#include <map>
#include <set>

#include "framework/did_you_mean.h"
#include "framework/error.h"
#include "framework/name_pattern.h"
#include "train/values.h"

namespace lethe {
namespace {

constexpr std::int64_t kRank = 8, kMostRank = 1 << 20;

/// A word of a list with what stands after its first `mark`, "" without one.
std::pair<std::string, std::string> halves(const std::string& word, char mark) {
  const std::size_t at = word.find(mark);
  return at == std::string::npos ? std::pair(word, std::string()) : std::pair(word.substr(0, at), word.substr(at + 1));
}

/// Digits enough to be the number again, as one writes it: 16, not 16.0.
std::string digits_of(double value) {
  const std::string digits = text_of(Attr(value));
  return digits.ends_with(".0") ? digits.substr(0, digits.size() - 2) : digits;
}

}  // namespace

std::string complaint_about_lora_words(const std::string& text) {
  static const std::map<std::string, ValueCheck> known = {{"r", whole_number(1, kMostRank)},
                                                          {"alpha", positive_number()},
                                                          {"dropout", fraction()},
                                                          {"rslora", one_of({""})}};
  if (text == kNoWords) return "";
  const std::vector<std::string> words = patterns_in(text);
  if (words.empty()) return message(quote(text), " says nothing: expected r=8, alpha=8, dropout=0, rslora");
  std::set<std::string> said;
  for (const std::string& word : words) {
    const auto [name, value] = halves(word, '=');
    const auto found = known.find(name);
    if (found == known.end())
      return message(quote(word), " is unknown", did_you_mean(name, {"r", "alpha", "dropout", "rslora"}),
                     "; expected r=8, alpha=8, dropout=0, rslora");
    if (!said.insert(name).second) return message("says ", name, " twice");
    if (word.ends_with('=') || (name == "rslora" && word != name)) return message(quote(word), ": a value is amiss");
    if (const std::string complaint = found->second.complaint(value); !complaint.empty())
      return message(name, ": ", complaint);
  }
  return "";
}

void read_lora_words(const std::string& text, LoraSetting& lora) {
  lora = {.rank = text == kNoWords ? 0 : kRank, .targets = lora.targets, .train = lora.train};
  for (const std::string& word : patterns_in(text == kNoWords ? "" : text)) {
    const auto [name, value] = halves(word, '=');
    if (name == "r") lora.rank = std::stoll(value);
    if (name == "alpha") lora.alpha = std::stod(value);
    if (name == "dropout") lora.dropout = std::stod(value);
    if (name == "rslora") lora.rslora = true;
  }
}

std::string complaint_about_lora_targets(const std::string& text) {
  if (patterns_in(text).empty()) return message(quote(text), " names no layer");
  for (const std::string& word : patterns_in(text)) {
    const auto [name, own] = halves(word, '=');
    const auto [rank, alpha] = halves(own, '/');
    std::string complaint = name.empty() ? "there is no name before =" : "";
    if (complaint.empty() && word != name) complaint = whole_number(1, kMostRank).complaint(rank);
    if (complaint.empty() && own != rank) complaint = positive_number().complaint(alpha);
    if (!complaint.empty())
      return message(quote(word), ": ", complaint, "; expected NAME, NAME=RANK or NAME=RANK/ALPHA");
  }
  return "";
}

std::vector<LoraTarget> lora_targets_in(const std::string& text) {
  std::vector<LoraTarget> targets;
  for (const std::string& word : patterns_in(text)) {
    const auto [name, own] = halves(word, '=');
    const auto [rank, alpha] = halves(own, '/');
    targets.push_back({.pattern = name});
    if (!rank.empty()) targets.back().rank = std::stoll(rank);
    if (!alpha.empty()) targets.back().alpha = std::stod(alpha);
  }
  return targets;
}

std::string lora_words(const LoraSetting& lora) {
  if (!lora.any()) return kNoWords;
  return message("r=", lora.rank, ",alpha=", digits_of(lora.alpha),
                 lora.dropout > 0 ? ",dropout=" + digits_of(lora.dropout) : "", lora.rslora ? ",rslora" : "");
}

std::string lora_targets(const LoraSetting& lora) {
  std::string list;
  for (const LoraTarget& target : lora.targets) {
    list.append(list.empty() ? "" : ",").append(target.pattern);
    if (target.rank || target.alpha)
      list += message('=', target.rank.value_or(lora.rank), '/', digits_of(target.alpha.value_or(lora.alpha)));
  }
  return list;
}

}  // namespace lethe
