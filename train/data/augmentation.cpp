#include "train/data/augmentation.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <vector>

#include "framework/did_you_mean.h"
#include "framework/error.h"

namespace lethe {
namespace {

constexpr const char* kRand = "rand";

/// None of an empty text; else one more than the separators, which may be empty.
std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream in(text.empty() ? text : text + at);
  for (std::string part; std::getline(in, part, at);) parts.push_back(part);
  return parts;
}

/// A word with a value, as "cutout=8"; of the parts of timm's spelling "rand-m9-inc1" all after the first.
struct AugmentWord {
  std::string text, value;
};
using AugmentWords = std::map<std::string, AugmentWord>;  // by name

struct KnownWord {
  std::string name;
  const char* rest;  // how it may go on
};

const std::vector<KnownWord>& known_words() {
  static const std::vector<KnownWord> known = {{"none", ""},
                                               {"pad-crop", "=4"},
                                               {"flip", ""},
                                               {"cutout", "=8"},
                                               {"random-crop", ""},
                                               {"random-resized-crop", "=0.08:1 or =0.08:1:0.75:1.33"},
                                               {"rotate", "=15"},
                                               {"color-jitter", "=0.4, =0.4:0.4:0.4 or =0.4:0.4:0.4:0.1"},
                                               {kRand, "-m9-mstd0.5-inc1"},
                                               {"mixup", "=0.8"},
                                               {"cutmix", "=1"},
                                               {"mix-prob", "=1"},
                                               {"cutmix-prob", "=0.5"}};
  return known;
}

const KnownWord* find_word(const std::string& name) {
  const auto found = std::ranges::find(known_words(), name, &KnownWord::name);
  return found == known_words().end() ? nullptr : &*found;
}

AugmentWords augment_words(const std::string& text) {
  std::vector<std::string> known;
  for (const KnownWord& word : known_words()) known.push_back(word.name);
  check(!text.empty() && text.back() != ',', "`augment`: ", quote(text), " has no word at its end");
  AugmentWords words;
  for (const std::string& word : split(text, ',')) {
    const bool is_rand = word == kRand || word.starts_with("rand-");
    const std::size_t end = std::min(is_rand ? std::string(kRand).size() : word.find('='), word.size());
    std::string name = word.substr(0, end);
    std::replace(name.begin(), name.end(), '_', '-');
    const KnownWord* const found = find_word(name);
    check(found != nullptr, "`augment`: unknown word ", quote(word), did_you_mean(name, known),
          "; known: ", joined(known));
    check(end == word.size() || *found->rest != '\0', "`augment`: ", quote(word), ": ", name, " takes no value");
    check(words.emplace(name, AugmentWord{word, end < word.size() ? word.substr(end + 1) : ""}).second,
          "`augment`: ", name, " stands twice");
  }
  check(words.count("none") == 0 || words.size() == 1, "`augment`: 'none' stands alone, not in ", quote(text));
  return words;
}

[[noreturn]] void reject(const AugmentWord& word, const std::string& name) {
  fail("`augment`: ", quote(word.text), ": expected ", name, " to go on as in ", name, find_word(name)->rest);
}

/// The pixels that the word names; `absent` where it names none, 0 without the word.
std::int64_t pixels_in(const AugmentWords& words, const std::string& name, std::int64_t absent) {
  const auto word = words.find(name);
  if (word == words.end()) return 0;
  const auto& [text, value] = word->second;
  if (text.find('=') == std::string::npos) return absent;
  check(!value.empty() && value.size() < 5 && value.find_first_not_of("0123456789") == std::string::npos,
        "`augment`: ", quote(text), " must name pixels, as in ", name, find_word(name)->rest);
  return std::stoll(value);
}

/// A number from 0 on that is written in digits.
bool read_number(const std::string& text, double& number) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && stop == end && std::isfinite(number) && number >= 0;
}

/// The numbers that the word names, of which there must be as many as `counts` has.
std::vector<double> numbers_in(const AugmentWords& words, const std::string& name,
                               const std::vector<std::size_t>& counts) {
  const AugmentWord& word = words.at(name);
  if (word.value.empty() && word.text.size() > name.size()) reject(word, name);
  std::vector<double> numbers;
  for (const std::string& part : split(word.value, ':'))
    if (!read_number(part, numbers.emplace_back())) reject(word, name);
  if (std::ranges::find(counts, numbers.size()) == counts.end()) reject(word, name);
  return numbers;
}

ResizedCrop resized_crop_of(const AugmentWords& words) {
  const std::vector<double> numbers = numbers_in(words, "random-resized-crop", {0, 2, 4});
  ResizedCrop crop;
  if (numbers.size() >= 2) crop.least = numbers[0], crop.most = numbers[1];
  if (numbers.size() == 4) crop.narrowest = numbers[2], crop.widest = numbers[3];
  const std::string& text = words.at("random-resized-crop").text;
  check(crop.least > 0 && crop.least <= crop.most && crop.most <= 1, "`augment`: ", quote(text), ": an image has ",
        crop.least, " to ", crop.most, " of its area cut out, expected shares above 0 and up to 1, the smaller first");
  check(crop.narrowest > 0 && crop.narrowest <= crop.widest, "`augment`: ", quote(text), ": widths are ",
        crop.narrowest, " to ", crop.widest, " of heights, expected numbers above 0, the smaller first");
  return crop;
}

ColorJitter color_jitter_of(const AugmentWords& words) {
  constexpr double kStandard = 0.4;  // timm's
  std::vector<double> numbers = numbers_in(words, "color-jitter", {0, 1, 3, 4});
  if (numbers.size() <= 1) numbers.assign(3, numbers.empty() ? kStandard : numbers[0]);
  const ColorJitter jitter{numbers[0], numbers[1], numbers[2], numbers.size() > 3 ? numbers[3] : 0};
  check(jitter.hue <= 0.5, "`augment`: ", quote(words.at("color-jitter").text), ": hues turn by ", jitter.hue,
        " of the circle, expected at most 0.5");
  return jitter;
}

double rotate_of(const AugmentWords& words) {
  const double degrees = numbers_in(words, "rotate", {1}).front();
  check(degrees <= 180, "`augment`: ", quote(words.at("rotate").text), ": expected at most 180 degrees");
  return degrees;
}

void take_rand_part(const AugmentWord& word, const std::string& key, double value, RandAugment& setting) {
  constexpr double kUniformFrom = 100;  // a deviation beyond it stands for that
  constexpr double kMost = 1000;
  const auto expect = [&](bool good, const char* expected) {
    check(good, "`augment`: ", quote(word.text), ": ", key, " is ", value, ", expected ", expected);
  };
  if (key == "mstd") return void(setting.deviation = value > kUniformFrom ? INFINITY : value);
  if (key == "p") expect(value <= 1, "at most 1");
  if (key == "p") return void(setting.probability = value);
  expect(value == std::floor(value) && value <= kMost, "a whole number up to 1000");
  if (key == "m") return void(setting.magnitude = value);
  if (key == "mmax") expect(value > 0, "at least 1");
  if (key == "mmax") return void(setting.most = value);
  if (key == "inc") return void(setting.increasing = value != 0);
  check(key == "n", "`augment`: ", quote(word.text), " has an unknown part ", quote(key),
        "; known: m, n, mstd, mmax, inc and p, as in rand-m9-mstd0.5-inc1");
  expect(value >= 1, "at least 1");
  setting.layers = static_cast<std::int64_t>(value);
}

RandAugment rand_augment_of(const AugmentWord& word) {
  if (word.value.empty() && word.text != kRand) reject(word, kRand);
  RandAugment setting{.layers = 2};
  std::set<std::string> seen;
  for (const std::string& part : split(word.value, '-')) {
    const std::size_t digits = std::min(part.find_first_of("0123456789"), part.size());
    double value = 0;
    if (!read_number(part.substr(digits), value)) reject(word, kRand);
    const std::string key = part.substr(0, digits);
    check(seen.insert(key).second, "`augment`: ", quote(word.text), ": ", key, " stands twice");
    take_rand_part(word, key, value, setting);
  }
  return setting;
}

/// Each word names one number.
Mixing mixing_of(const AugmentWords& words) {
  constexpr double kMostAlpha = 1000;
  Mixing mixing;
  const auto take = [&](const char* name, double most, double& number) {
    if (words.count(name) == 0) return;
    number = numbers_in(words, name, {1}).front();
    check(number <= most, "`augment`: ", quote(words.at(name).text), ": expected at most ", most);
  };
  take("mixup", kMostAlpha, mixing.mixup);
  take("cutmix", kMostAlpha, mixing.cutmix);
  take("mix-prob", 1, mixing.probability);
  take("cutmix-prob", 1, mixing.cut_probability);
  check(mixing.any() || words.count("mix-prob") == 0,
        "`augment`: mix-prob is of mixup and cutmix, and neither is given");
  check((mixing.mixup > 0 && mixing.cutmix > 0) || words.count("cutmix-prob") == 0,
        "`augment`: cutmix-prob says how often of mixup and cutmix it is the latter, and one of them is not given");
  return mixing;
}

}  // namespace

Augmentation augmentation_of(const std::string& text) {
  const AugmentWords words = augment_words(text);
  const auto has = [&](const char* name) { return words.count(name) != 0; };
  Augmentation all{.pad_crop = pixels_in(words, "pad-crop", 4),
                   .flip = has("flip"),
                   .cutout = pixels_in(words, "cutout", 8),
                   .random_crop = has("random-crop"),
                   .resizes = has("random-resized-crop")};
  for (const char* other : {"random-crop", "pad-crop"})
    check(!all.resizes || !has(other), "`augment`: ", quote(text), ": random-resized-crop and ", other,
          " exclude each other");
  if (all.resizes) all.resized_crop = resized_crop_of(words);
  if (has("rotate")) all.rotate = rotate_of(words);
  if (has("color-jitter")) all.color_jitter = color_jitter_of(words);
  if (has(kRand)) all.rand_augment = rand_augment_of(words.at(kRand));
  all.mixing = mixing_of(words);
  return all;
}

}  // namespace lethe
