#include "train/session/elsewhere.h"

#include <filesystem>

#include "framework/builder/frozen.h"
#include "framework/builder/network_weights.h"
#include "framework/error.h"
#include "train/data/checksum.h"
#include "train/session/weights.h"

namespace lethe {

std::set<std::string> names_of(const std::vector<WeightsElsewhere>& elsewhere) {
  std::set<std::string> names;
  for (const WeightsElsewhere& each : elsewhere)
    for (const auto& [name, dtype] : each.weights) names.insert(name);
  return names;
}

std::vector<WeightsElsewhere> left_as_read(std::vector<WeightsElsewhere> read, const Network& network) {
  std::map<std::string, std::string> still;
  for (const VarId v : still_weights(network)) {
    const Var& var = network.program.vars[v];
    still.emplace(var.name, name_of(var.dtype));
  }
  for (WeightsElsewhere& each : read)
    std::erase_if(each.weights, [&](const auto& weight) {
      const auto found = still.find(weight.first);
      return found == still.end() || found->second != weight.second;  // of another dtype values may be others
    });
  std::erase_if(read, [](const WeightsElsewhere& each) { return each.weights.empty(); });
  for (WeightsElsewhere& each : read) {
    if (!each.sha256.empty()) continue;
    each.files = files_of_weights(each.files.front());
    for (const std::string& file : each.files) each.sha256.push_back(sha256_of_file(file));
  }
  return read;
}

void check_as_read(const WeightsElsewhere& elsewhere, const std::string& checkpoint, const Network& network) {
  std::set<std::string> known(network.left_out.begin(), network.left_out.end());
  for (const ParamInfo& info : weights_of(network)) known.insert(network.program.vars[info.var].name);
  for (const auto& [name, dtype] : elsewhere.weights)
    check_as(Exit::Data, known.contains(name), checkpoint, ": unexpected '", name, "', which it has from another file");
  check_as(Exit::Data, !elsewhere.files.empty() && elsewhere.files.size() == elsewhere.sha256.size(), checkpoint,
           ": state.json beside it has ", elsewhere.sha256.size(), " SHA-256 of ", elsewhere.files.size(),
           " files of weights");
  for (std::size_t i = 0; i < elsewhere.files.size(); ++i) {
    const std::string& file = elsewhere.files[i];
    const char* const needs = " does not hold frozen weights but needs them from there";
    check_as(Exit::Data, std::filesystem::is_regular_file(file), file, ": no such file; ", checkpoint, needs);
    const std::string now = sha256_of_file(file), before = elsewhere.sha256[i];
    check_as(Exit::Data, now == before, file, ": has changed, its SHA-256 is ", now, ", expected ", before, "; ",
             checkpoint, needs);
  }
}

}  // namespace lethe
