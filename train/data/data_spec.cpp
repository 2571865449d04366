#include "train/data/data_spec.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>
#include <sstream>
#include <vector>

#include "framework/did_you_mean.h"
#include "framework/error.h"
#include "framework/language/op_def.h"

namespace lethe {
namespace {

/// Data sets that give the same: the first words of their specs, and how the specs are written.
struct Family {
  const char* gives;
  std::vector<std::string> kinds;
  const char* forms;
};

constexpr const char* kMasks = "masks";

Family images() {
  return {.gives = "images",
          .kinds = {"mnist", "cifar10", "cifar100", "imagefolder", "shapes", "synthetic"},
          .forms = "mnist:DIR, cifar10:DIR, cifar100:DIR, imagefolder:DIR, shapes, synthetic"};
}
Family masks() {
  return {.gives = "images with masks",
          .kinds = {kMasks, "shape-masks", "synthetic"},
          .forms = "masks:IMAGES,MASKS, shape-masks, synthetic"};
}
Family sequences() {
  return {.gives = "sequences",
          .kinds = {"tokens", "text", "jsonl", "sentences", "copy", "synthetic"},
          .forms = "tokens:DIR, text:FILE, jsonl:FILE, sentences, copy, synthetic"};
}

Family texts() {
  return {.gives = "texts with a label each", .kinds = {"tsv", "subjects"}, .forms = "tsv:PATH, subjects"};
}

Family values_by_name() {
  return {.gives = "numbers by name",
          .kinds = {"csv", "npy", "numbers"},
          .forms = "csv:FILE,target=NAME, npy:NAME=FILE, numbers"};
}

constexpr const char* kTokenizerKey = "tokenizer";  // a place, which may have commas
constexpr const char* kTestKey = "test";            // a place

/// The options that may stand after the place of data in files. Tokens know `val` so that it can be refused by name.
const std::vector<std::string>& options_of(const std::string& kind) {
  static const std::map<std::string, std::vector<std::string>> known = {
      {"mnist", {"val"}},
      {"cifar10", {"val"}},
      {"cifar100", {"val"}},
      {"csv", {"target", "drop", "categories", "val", kTestKey}},
      {"imagefolder", {"resize", "max-pixels", "skip-bad", "val"}},
      {"npy", {"val"}},
      {kMasks, {"ignore", "resize", "max-pixels", "val"}},
      {"text", {kTokenizerKey, "val"}},
      {"jsonl", {kTokenizerKey, "val", "no-pack"}},
      {"tokens", {"ignore-borders", "val"}},
      {"tsv", {kTokenizerKey, "val"}}};
  static const std::vector<std::string> none;
  const auto found = known.find(kind);
  return found == known.end() ? none : found->second;
}

[[noreturn]] void reject_kind(const DataSpec& spec, const Family& taken) {
  for (const Family& other : {images(), masks(), sequences(), texts(), values_by_name()})
    if (std::find(other.kinds.begin(), other.kinds.end(), spec.kind) != other.kinds.end())
      spec.reject(message("gives ", other.gives, ", the network takes ", taken.gives, " (known: ", taken.forms, ")"));
  spec.reject(message("unknown data set ", quote(spec.kind), did_you_mean(spec.kind, taken.kinds),
                      " (known: ", taken.forms, ")"));
}

}  // namespace

DataSpec::DataSpec(const std::string& text) : text(text), kind(text.substr(0, text.find_first_of(":,"))) {
  if (kind.size() < text.size() && text[kind.size()] == ':') argument = text.substr(kind.size() + 1);
  const std::vector<std::string>& known = options_of(kind);
  const bool has_place = std::ranges::count(known, kTokenizerKey) > 0;
  for (std::size_t comma = argument.rfind(','); comma != std::string::npos; comma = argument.rfind(',', comma - 1)) {
    const std::string option = argument.substr(comma + 1), key = option.substr(0, option.find('='));
    const bool has_comma = option.find(',') != std::string::npos;
    if (std::ranges::count(known, key) > 0 && (!has_comma || key == kTokenizerKey)) {
      if (!options.emplace(key, key.size() < option.size() ? option.substr(key.size() + 1) : "").second)
        reject(key + " stands twice");
      argument.resize(comma);
    } else if (!has_place) {  // what follows is of the argument, and so is all before it
      return;
    }
    if (comma == 0) return;
  }
}

void DataSpec::reject(const std::string& reason) const { fail("data ", quote(text), ": ", reason); }
void DataSpec::reject_for_images() const { reject_kind(*this, images()); }
void DataSpec::reject_for_masks() const { reject_kind(*this, masks()); }
void DataSpec::reject_for_sequences() const { reject_kind(*this, sequences()); }
void DataSpec::reject_for_texts() const { reject_kind(*this, texts()); }
void DataSpec::reject_for_names() const { reject_kind(*this, values_by_name()); }

const std::string& DataSpec::place(const std::string& what) const {
  if (argument.empty())
    reject(message("write the ",
                   what == "DIR"         ? "directory"
                   : what == "FILE"      ? "file"
                   : what == "NAME=FILE" ? "arrays"
                                         : "path",
                   " after a colon: ", kind, ':', what));
  return argument;
}

FolderSpec DataSpec::folder() const {
  const auto number = [this](const char* key, std::int64_t absent) {
    const auto option = options.find(key);
    return option == options.end() ? absent : count(option->second);
  };
  FolderSpec folder{.directory = place("DIR")};
  folder.options = {.resize = number("resize", folder.options.resize),
                    .max_pixels = number("max-pixels", folder.options.max_pixels),
                    .skip_bad = number("skip-bad", folder.options.skip_bad),
                    .val = held_share()};
  return folder;
}

TokensSpec DataSpec::tokens() const {
  if (options.contains("val"))
    reject(
        "windows of tokens begin elsewhere in each epoch, so that no share of them can be held out; `train tokenize` "
        "`val` PERCENT sets text aside");
  return {.directory = place("DIR"), .ignore_borders = has_word("ignore-borders")};
}

bool DataSpec::packs() const { return kind == "jsonl" && !has_word("no-pack"); }

TextSpec DataSpec::text_file() const { return {.path = place("FILE"), .tokenizer = tokenizer(), .val = held_share()}; }

bool DataSpec::has_word(const char* word) const {
  const auto option = options.find(word);
  if (option != options.end() && !option->second.empty()) reject(message(word, " takes no value"));
  return option != options.end();
}

TextSpec DataSpec::tables() const { return {.path = place("PATH"), .tokenizer = tokenizer(), .val = held_share()}; }

std::vector<std::pair<std::string, std::string>> DataSpec::named_files() const {
  std::vector<std::pair<std::string, std::string>> files;
  std::istringstream parts(place("NAME=FILE"));
  for (std::string part; std::getline(parts, part, ',');) {
    const std::size_t equals = part.find('=');
    if (equals != std::string::npos)
      files.emplace_back(part.substr(0, equals), part.substr(equals + 1));
    else if (files.empty())
      reject(message("expected NAME=FILE, got ", quote(part)));
    else
      files.back().second += ',' + part;
  }
  for (const auto& [name, file] : files)
    if (name.empty() || file.empty()) reject(message("expected NAME=FILE, got ", quote(name + '=' + file)));
  return files;
}

std::string DataSpec::tokenizer() const {
  const auto option = options.find(kTokenizerKey);
  if (option == options.end()) return "";
  if (option->second.empty()) reject("write the directory: tokenizer=DIR");
  return option->second;
}

std::string DataSpec::absolute() const {
  if (argument.empty() || options_of(kind).empty()) return text;  // made, not read
  const auto from_here = [](const std::string& path) { return std::filesystem::absolute(path).string(); };
  const std::size_t comma = kind == kMasks ? argument.find(',') : std::string::npos;  // between two directories
  std::string all = kind + ':';
  if (kind != "npy") {
    all += from_here(argument.substr(0, comma));
    if (comma != std::string::npos) all += ',' + from_here(argument.substr(comma + 1));
  } else {
    for (const auto& [name, file] : named_files())
      all += message(all.ends_with(':') ? "" : ",", name, '=', from_here(file));
  }
  for (const auto& [key, value] : options)
    all +=
        message(',', key, value.empty() ? "" : "=", key == kTokenizerKey || key == kTestKey ? from_here(value) : value);
  return all;
}

double DataSpec::held_share() const {
  const auto option = options.find("val");
  if (option == options.end()) return 0;
  const std::string& digits = option->second;
  double share = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), share);
  if (status != std::errc{} || end != digits.data() + digits.size() || !(share > 0 && share < 1))
    reject(message("val=", digits, ": expected a share above 0 and below 1, such as 0.2"));
  return share;
}

std::int64_t DataSpec::count(std::string_view digits) const {
  std::int64_t value = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (status != std::errc{} || end != digits.data() + digits.size() || value < 1 || value > INT32_MAX)
    reject(message("expected a number from 1 to ", INT32_MAX, ", got ", quote(digits)));
  return value;
}

std::int64_t DataSpec::count_or(std::int64_t absent) const { return text == kind ? absent : count(argument); }

SampleCounts DataSpec::counts(SampleCounts counts) const {
  if (kind.size() < text.size() && text[kind.size()] != ':') reject(message("expected ", kind, ":train=N,test=M"));
  std::set<std::string> seen;
  for (std::size_t at = kind.size(); at < text.size();) {
    const std::size_t end = std::min(text.find(',', at + 1), text.size());
    const std::string_view item = std::string_view(text).substr(at + 1, end - at - 1);
    const std::size_t equals = item.find('=');
    const std::string key(item.substr(0, equals));
    if (equals == item.npos || (key != "train" && key != "test"))
      reject(message("expected train=N or test=N, got ", quote(item), did_you_mean(key, {"train", "test"})));
    (key == "train" ? counts.training : counts.test) = count(item.substr(equals + 1));
    if (!seen.insert(key).second) reject(key + " stands twice");
    at = end;
  }
  return counts;
}

bool wants_tokenizer(const DataSpec& spec) {
  const bool takes_one = std::ranges::count(options_of(spec.kind), kTokenizerKey) > 0 && !spec.argument.empty();
  return takes_one && !spec.options.contains(kTokenizerKey);
}

std::string with_tokenizer(const std::string& text, const std::string& directory) {
  return wants_tokenizer(DataSpec(text)) ? message(text, ',', kTokenizerKey, '=', directory) : text;
}

std::string with_skip_bad(const std::string& text, std::int64_t count) {
  const DataSpec spec(text);
  if (spec.kind != "imagefolder") spec.reject("`skip_bad` is of image files, imagefolder:DIR");
  std::string without = text;
  if (const auto before = spec.options.find("skip-bad"); before != spec.options.end()) {
    const std::string option = ",skip-bad=" + before->second;
    without.erase(without.rfind(option), option.size());
  }
  return message(without, ",skip-bad=", count);
}

}  // namespace lethe
