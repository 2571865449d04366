// Dropout of attention's shares (shape.h): which of them are kept. That is a function of seed, layer, step and of where
// a share stands among those of the whole batch: the gradient finds the same again, and nothing of it is stored. One
// call of the generator decides four keys of a row; rows are those of [batch, heads, rows].
#pragma once
#include "framework/random.h"
#include "kernels/attention/heads.h"

namespace lethe {

class KeptShares {
 public:
  KeptShares(const AttentionShape& s, const KernelArgs& a)
      : step_(s.dropout > 0 ? a.in<std::int64_t>(4) : nullptr),
        key_(s.dropout_key),
        first_row_(s.first_sample * s.heads * s.rows),
        groups_((s.keys + 3) / 4),
        rate_(static_cast<float>(s.dropout)),
        scale_(1 / (1 - s.dropout)) {}

  HD bool all() const { return step_ == nullptr; }
  /// m of a row and the keys 4 * group to 4 * group + 3, if not all are kept.
  template <class C>
  HD void factors_of(std::int64_t row, std::int64_t group, C (&m)[4]) const {
    const auto counter = static_cast<std::uint64_t>((first_row_ + row) * groups_ + group);
    const Philox4 random = philox(key_, static_cast<std::uint64_t>(*step_), counter);
    const auto scale = static_cast<C>(scale_);  // before the condition, or no compiler makes vectors of it
    for (int i = 0; i < 4; ++i) m[i] = uniform_of(random.word[i]) >= rate_ ? scale : C(0);
  }
  template <class C>
  HD C factor_of(std::int64_t row, std::int64_t key) const {
    if (all()) return 1;
    C m[4];
    factors_of(row, key / 4, m);
    C factor = m[0];
    for (int i = 1; i < 4; ++i)
      if (key % 4 == i) factor = m[i];
    return factor;
  }

 private:
  const std::int64_t* step_;  // null: all are kept
  std::uint64_t key_;
  std::int64_t first_row_, groups_;
  float rate_;
  double scale_;
};

}  // namespace lethe
