#include "train/folder_meaning.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "framework/error.h"
#include "models/json_source.h"

namespace lethe {
namespace {

namespace fs = std::filesystem;

std::vector<double> by_channel(const JsonNode& list, double above) {
  std::vector<double> numbers;
  for (const JsonNode& item : list.items()) {
    if (!item.json().is_number() || !(item.json().get<double>() > above))
      item.fail("found ", item.shown(), ", expected a number", above < 0 ? "" : " above 0");
    numbers.push_back(item.json().get<double>());
  }
  return numbers;
}

/// Under those names.
void read_normalisation(const JsonNode& from, const char* mean, const char* deviation, Meaning& meaning) {
  if (!from.has(mean) || !from.has(deviation)) return;
  meaning.mean = by_channel(from.at(mean), -INFINITY);
  meaning.deviation = by_channel(from.at(deviation), 0);
  if (meaning.mean.size() != meaning.deviation.size())
    from.at(deviation).fail("has ", meaning.deviation.size(), " channels, ", quote(mean), ' ', meaning.mean.size());
}

void read_preprocessor(const JsonNode& root, Meaning& meaning) {
  const auto is_off = [&](const char* key) { return root.has(key) && root.at(key).json() == false; };
  const auto is_other = [&](const char* key, double number) {
    return root.has(key) && root.at(key).json().is_number() &&
           std::abs(root.at(key).json().get<double>() - number) > 1e-6;
  };
  if (is_off("do_rescale")) root.at("do_rescale").fail("pixels are not divided by 255, which nothing here does");
  if (is_other("rescale_factor", 1.0 / 255))
    root.at("rescale_factor").fail("pixels are times ", root.at("rescale_factor").shown(), ", expected 1/255");
  read_normalisation(root, "image_mean", "image_std", meaning);
  if (is_off("do_normalize") && !meaning.mean.empty()) {
    std::ranges::fill(meaning.mean, 0.0);
    std::ranges::fill(meaning.deviation, 1.0);
  }
}

}  // namespace

Meaning meaning_in(const std::string& directory, std::vector<std::string> classes) {
  Meaning meaning{.classes = std::move(classes)};
  try {
    if (const fs::path file = fs::path(directory) / "preprocessor_config.json"; fs::exists(file)) {
      const JsonSource source(file.string());
      read_preprocessor(source.root(), meaning);
    } else {
      const JsonSource config((fs::path(directory) / "config.json").string());
      if (config.root().has("pretrained_cfg"))
        read_normalisation(config.root().at("pretrained_cfg"), "mean", "std", meaning);
    }
  } catch (const Error& error) {
    throw Error(error.what(), Exit::Data);
  }
  return meaning;
}

}  // namespace lethe
