#include "framework/run/next_inputs.h"

#include <utility>

namespace lethe {

NextInputs::NextInputs(Device& device, std::vector<Room> rooms) : device_(device), rooms_(std::move(rooms)) {
  given_.reserve(rooms_.size());
}

/// A copy that is still on its way would write into memory that others have by then.
NextInputs::~NextInputs() { drop(); }

void NextInputs::drop() {
  try {
    if (!given_.empty()) device_.finish_aside();
  } catch (...) {  // NOLINT(bugprone-empty-catch): the device is lost, which whoever uses it next is told
  }
  given_.clear();
}

void NextInputs::give(VarId var, const void* data, std::int64_t bytes) {
  if (void* const staged = rooms_[var].staged) device_.copy_in_aside(staged, data, bytes);
  given_.push_back({var, data, bytes});
}

void NextInputs::take() {
  if (given_.empty()) return;
  device_.finish_aside();
  bool from_host = false;
  for (const auto& [var, data, bytes] : given_) {
    const auto [place, staged] = rooms_[var];
    from_host = from_host || !staged;
    if (staged)
      device_.copy(place, staged, bytes);
    else
      device_.copy_in(place, data, bytes);
  }
  if (from_host) device_.synchronize();
  given_.clear();
}

}  // namespace lethe
