#include "train/data/target_range.h"

#include <cstring>

#include "framework/error.h"
#include "kernels/dtypes.h"

namespace lethe {

void TargetRange::check_labels(const std::string& array, std::int64_t row, std::span<const std::int32_t> labels) const {
  for (const std::int32_t label : labels) {
    const bool counts = !ignores_ || (label >= 0 && label != ignored_);
    check_as(Exit::Data, !counts || (label >= 0 && label < classes_), array, ": row ", row, " has label ", label,
             ", the network tells ", classes_, " classes apart, from 0 on");
  }
}

void check_chances(const std::string& array, std::int64_t row, std::span<const std::byte> floats, DType dtype) {
  for_float(dtype, [&](auto number) {
    for (std::size_t at = 0; at < floats.size(); at += sizeof number) {
      std::memcpy(&number, floats.data() + at, sizeof number);
      const auto chance = static_cast<double>(compute(number));
      check_as(Exit::Data, chance >= 0 && chance <= 1, array, ": row ", row, " has ", chance, ", bce takes 0 to 1");
    }
  });
}

}  // namespace lethe
