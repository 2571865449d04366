#include "framework/did_you_mean.h"

#include <algorithm>

#include "framework/error.h"
#include "framework/foreign_words.h"

namespace lethe {
namespace {

constexpr std::size_t kLongestWord = 100;  // that may be somebody's slip of the pen

int edit_distance(std::string_view a, std::string_view b) {
  std::vector<int> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int substituted = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

/// The first of what `word` may stand for elsewhere that is known here; else "".
std::string translated(std::string_view word, const std::vector<std::string>& known) {
  const std::string dashes = word.starts_with("--") ? "--" : "";
  for (const std::string& ours : words_for(word.substr(dashes.size())))
    if (const std::string name = dashes + ours; std::find(known.begin(), known.end(), name) != known.end()) return name;
  return "";
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& known) {
  std::string best = translated(word, known);
  if (!best.empty()) return best;
  if (word.size() > kLongestWord) return best;
  int best_distance = word.size() < 3 ? 2 : std::max<int>(2, static_cast<int>(word.size()) / 3) + 1;
  for (const std::string& candidate : known)
    if (const int distance = edit_distance(word, candidate); distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  const std::string guess = nearest(word, known);
  return guess.empty() ? "" : message("; did you mean ", quote(guess), "?");
}

std::string key_meant(std::string_view key, const std::vector<std::string>& known) {
  const std::string reason = translated(key, known).empty() ? why_absent(key) : "";
  return reason.empty() ? did_you_mean(key, known) : "; " + reason;
}

}  // namespace lethe
