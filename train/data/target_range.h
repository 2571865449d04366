// What a network's loss takes as labels or chances: whoever reads those of others checks them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "framework/builder/network.h"

namespace lethe {

class TargetRange {
 public:
  explicit TargetRange(const Network& network)
      : classes_(network.classes), ignores_(network.ignored.has_value()), ignored_(network.ignored.value_or(0)) {}
  /// Fails with Exit::Data, naming the array and the row, for a label that is no class.
  void check_labels(const std::string& array, std::int64_t row, std::span<const std::int32_t> labels) const;

 private:
  std::int64_t classes_;
  bool ignores_;  // one that is none, and negative ones
  std::int64_t ignored_;
};

/// Fails so unless the floats of a row, as an input has them, are what bce compares with.
void check_chances(const std::string& array, std::int64_t row, std::span<const std::byte> floats, DType dtype);

}  // namespace lethe
