#include "train/data/data_spec.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <set>
#include <vector>

#include "framework/did_you_mean.h"
#include "framework/error.h"
#include "framework/op_def.h"

namespace lethe {
namespace {

constexpr std::string_view kTokenizerKey = ",tokenizer=";

/// Data sets that give the same: the first words of their specs, and how the specs are written.
struct Family {
  const char* gives;
  std::vector<std::string> kinds;
  const char* forms;
};

Family images() {
  return {.gives = "images",
          .kinds = {"mnist", "cifar10", "cifar100", "imagefolder", "shapes", "synthetic"},
          .forms = "mnist:DIR, cifar10:DIR, cifar100:DIR, imagefolder:DIR, shapes, synthetic"};
}
Family masks() {
  return {.gives = "images with masks", .kinds = {"shape-masks", "synthetic"}, .forms = "shape-masks, synthetic"};
}
Family sequences() {
  return {.gives = "sequences",
          .kinds = {"tokens", "text", "sentences", "copy", "synthetic"},
          .forms = "tokens:DIR, text:FILE, sentences, copy, synthetic"};
}

Family texts() {
  return {.gives = "texts with a label each", .kinds = {"tsv", "subjects"}, .forms = "tsv:PATH, subjects"};
}

[[noreturn]] void reject_kind(const DataSpec& spec, const Family& taken) {
  for (const Family& other : {images(), masks(), sequences(), texts()})
    if (std::find(other.kinds.begin(), other.kinds.end(), spec.kind) != other.kinds.end())
      spec.reject(message("gives ", other.gives, ", the network takes ", taken.gives, " (known: ", taken.forms, ")"));
  spec.reject(message("unknown data set ", quote(spec.kind), did_you_mean(spec.kind, taken.kinds),
                      " (known: ", taken.forms, ")"));
}

}  // namespace

DataSpec::DataSpec(const std::string& text) : text(text), kind(text.substr(0, text.find(':'))) {
  if (kind.size() < text.size()) argument = text.substr(kind.size() + 1);
}

void DataSpec::reject(const std::string& reason) const { fail("data ", quote(text), ": ", reason); }
void DataSpec::reject_for_images() const { reject_kind(*this, images()); }
void DataSpec::reject_for_masks() const { reject_kind(*this, masks()); }
void DataSpec::reject_for_sequences() const { reject_kind(*this, sequences()); }
void DataSpec::reject_for_texts() const { reject_kind(*this, texts()); }

const std::string& DataSpec::place(const std::string& what) const {
  if (argument.empty())
    reject(message("write the ",
                   what == "DIR"    ? "directory"
                   : what == "FILE" ? "file"
                                    : "path",
                   " behind a colon: ", kind, ':', what));
  return argument;
}

FolderSpec DataSpec::folder() const {
  FolderSpec folder{.directory = place("DIR")};
  std::string& directory = folder.directory;
  for (;;) {
    const std::size_t comma = directory.rfind(','), equals = directory.find('=', std::min(comma, directory.size()));
    if (comma == std::string::npos || equals == std::string::npos) return folder;
    const std::string key = directory.substr(comma + 1, equals - comma - 1);
    if (key != "resize" && key != "max-pixels") return folder;
    (key == "resize" ? folder.options.resize : folder.options.max_pixels) =
        count(std::string_view(directory).substr(equals + 1));
    directory.resize(comma);
  }
}

TokensSpec DataSpec::tokens() const {
  constexpr std::string_view kWord = ",ignore-borders";
  TokensSpec tokens{.directory = place("DIR"), .ignore_borders = argument.ends_with(kWord)};
  if (tokens.ignore_borders) tokens.directory.resize(tokens.directory.size() - kWord.size());
  return tokens;
}

TablesSpec DataSpec::tables() const {
  const std::string& all = place("PATH");
  const std::size_t at = all.rfind(kTokenizerKey);
  if (at == std::string::npos) return {.path = all};
  return {.path = all.substr(0, at), .tokenizer = all.substr(at + kTokenizerKey.size())};
}

std::string DataSpec::absolute() const {
  const std::array named = {"mnist", "cifar10", "cifar100", "imagefolder", "tokens", "text", "tsv"};
  if (argument.empty() || std::ranges::count(named, kind) == 0) return text;
  const auto from_here = [](const std::string& path) { return std::filesystem::absolute(path).string(); };
  if (kind != "tsv") return message(kind, ':', from_here(argument));  // what stands after the place stays
  const TablesSpec all = tables();
  return message("tsv:", from_here(all.path), all.tokenizer.empty() ? "" : kTokenizerKey,
                 all.tokenizer.empty() ? "" : from_here(all.tokenizer));
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

}  // namespace lethe
