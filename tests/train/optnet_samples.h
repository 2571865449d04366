// The lifetimes and byte counts of optnet's published tables, as recorded from the behaviour of Torch's modules.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "train/optnet/optnet_count.h"

namespace lethe::testing {

/// One network of one table: "table1/vgg-A", with what the tables' code does not say of it.
struct OptnetSample {
  std::string key;  // in golden_bytes.json
  std::string model;
  std::int64_t batch = 1;
  DType dtype = DType::f32;
  bool training = false;
  TorchBackend backend = TorchBackend::Cudnn;
  Network network() const;
};
const std::vector<OptnetSample>& optnet_samples();

/// A recorded lifetime and its group; `gone` marks a storage that in-place work had already done away with.
struct RecordedLife {
  OptnetRecord record;
  int group = -1;
  bool gone = false;
};
std::vector<RecordedLife> recorded_lives(const OptnetSample& sample);

/// Before or after, as recorded.
OptnetBytes recorded_bytes(const OptnetSample& sample, bool after);

/// A small network in f64: branches that end in relu, pooling, a sum and nothing, a residual sum, dropout, a
/// classifier.
Network mixed_network(bool training);

}  // namespace lethe::testing
