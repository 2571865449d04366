// The numbers of a mask (MaskShape), which are added to scaled scores.
#pragma once
#include <cstdint>

#include "kernels/attention/heads.h"
#include "kernels/hd.h"
#include "kernels/low_floats.h"

namespace lethe {

/// Those of an axis that have the number at a place of the mask: it alone, or all.
HD inline Positions of_place(std::int64_t place, std::int64_t in_mask, std::int64_t all) {
  return in_mask == 1 ? Positions{0, all} : Positions{place, place + 1};
}

/// Its numbers in memory, beside queries in T.
template <class T>
class ScoreMask {
 public:
  ScoreMask(const MaskShape& s, const KernelArgs& a)
      : data_(s.given() ? a.in<void>(kSlotOfMask) : nullptr),
        of_row_(s.rows == 1 ? 0 : s.keys),
        of_head_(s.heads == 1 ? 0 : s.rows * s.keys),
        of_sample_(s.samples == 1 ? 0 : s.heads * s.rows * s.keys),
        wide_(s.wide) {}

  HD bool given() const { return data_ != nullptr; }
  HD Compute<T> at(std::int64_t sample, std::int64_t head, std::int64_t row, std::int64_t key) const {
    const std::int64_t i = first(sample, head) + row * of_row_ + key;
    return wide_ ? static_cast<Compute<T>>(static_cast<const float*>(data_)[i])
                 : static_cast<Compute<T>>(static_cast<const T*>(data_)[i]);
  }
  /// Calls f(pointer to the numbers of a sample and head, how far apart rows lie).
  template <class F>
  void with_numbers(std::int64_t sample, std::int64_t head, const F& f) const {
    if (wide_)
      f(static_cast<const float*>(data_) + first(sample, head), of_row_);
    else
      f(static_cast<const T*>(data_) + first(sample, head), of_row_);
  }

 private:
  HD std::int64_t first(std::int64_t sample, std::int64_t head) const { return sample * of_sample_ + head * of_head_; }

  const void* data_;
  std::int64_t of_row_, of_head_, of_sample_;
  bool wide_;
};

/// What becomes of it in the gradient: at each place the sum of da (shape.h) over what has the number of that place.
template <class T>
struct MaskGradient {
  void* data;
  bool wide;
  HD void put(std::int64_t i, Compute<T> sum) const {
    if (wide)
      static_cast<float*>(data)[i] = static_cast<float>(sum);
    else
      static_cast<T*>(data)[i] = sum;
  }
};

}  // namespace lethe
