// How augmentation is written.
#include <algorithm>
#include <map>
#include <sstream>

#include "framework/did_you_mean.h"
#include "framework/error.h"
#include "framework/language/op_def.h"
#include "train/data/augment.h"

namespace lethe {
namespace {

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);) parts.push_back(part);
  return parts;
}

/// Behind the word's '=', if it has one.
std::int64_t pixels_of(const std::string& word, std::int64_t absent) {
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos) return absent;
  const std::string value = word.substr(equals + 1);
  check(!value.empty() && value.size() < 5 && value.find_first_not_of("0123456789") == std::string::npos,
        "`augment`: ", quote(word), " must name pixels, as in ", word.substr(0, equals), "=", absent);
  return std::stoll(value);
}

/// The words by their names, with their values as they stand there.
std::map<std::string, std::string> augment_words(const std::string& text) {
  static const std::vector<std::string> known = {"none", "pad-crop", "flip", "cutout", "random-crop"};
  check(!text.empty() && text.back() != ',', "`augment`: ", quote(text), " has no word at its end");
  std::map<std::string, std::string> words;
  for (const std::string& word : split(text, ',')) {
    std::string name = word.substr(0, word.find('='));
    std::replace(name.begin(), name.end(), '_', '-');
    check(std::find(known.begin(), known.end(), name) != known.end(), "`augment`: unknown word ", quote(word),
          did_you_mean(name, known), "; known: ", joined(known));
    check(name == "pad-crop" || name == "cutout" || word.find('=') == std::string::npos, "`augment`: ", quote(word),
          ": ", name, " takes no value");
    check(words.emplace(name, word).second, "`augment`: ", name, " stands twice");
  }
  check(words.count("none") == 0 || words.size() == 1, "`augment`: 'none' stands alone, not in ", quote(text));
  return words;
}

}  // namespace

Augmentation augmentation_of(const std::string& text) {
  const std::map<std::string, std::string> words = augment_words(text);
  const auto pixels = [&words](const char* name, std::int64_t absent) {
    const auto word = words.find(name);
    return word == words.end() ? 0 : pixels_of(word->second, absent);
  };
  return {.pad_crop = pixels("pad-crop", 4),
          .flip = words.count("flip") != 0,
          .cutout = pixels("cutout", 8),
          .random_crop = words.count("random-crop") != 0};
}

}  // namespace lethe
