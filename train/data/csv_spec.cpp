#include "train/data/csv_spec.h"

#include <sstream>

#include "framework/error.h"

namespace lethe {

CsvSpec csv_spec(const DataSpec& spec) {
  const auto text = [&](const char* key) {
    const auto option = spec.options.find(key);
    if (option != spec.options.end() && option->second.empty()) spec.reject(message("write what after ", key, "="));
    return option == spec.options.end() ? std::string() : option->second;
  };
  const auto names = [&](const char* key) {
    std::vector<std::string> all;
    std::istringstream parts(text(key));
    for (std::string name; std::getline(parts, name, '|');) all.push_back(name);
    return all;
  };
  CsvSpec csv{.file = spec.place("FILE"), .test = text("test"), .val = spec.held_share()};
  csv.targets = names("target"), csv.drop = names("drop"), csv.categories = names("categories");
  if (!csv.test.empty() && csv.val > 0) spec.reject("val goes without test, whose rows are for tests");
  return csv;
}

}  // namespace lethe
