// What attention computes for each sample and head, over the keys s that row t sees, of a = scale * q[t] . k[s] + mask:
//   lse[t] = log(sum of exp(a)),  y[t] = sum of p v[s] with p = exp(a - lse[t]).
// A row all of whose keys are unseen or have a = -inf has y = 0 and lse = 0. The gradient makes p again, by tiles:
//   dv[s] = sum over t of p dy[t],  da = p (dy[t] . v[s] - dy[t] . y[t]),
//   dq[t] = scale * sum over s of da k[s],  dk[s] = scale * sum over t of da q[t].
// With dropout p[t, s] has a factor m[t, s], 0 or 1 / (1 - rate), where it stands before v[s] and dy[t]:
//   y[t] = sum of m p v[s],  dv[s] = sum of m p dy[t],  da = p (m dy[t] . v[s] - dy[t] . y[t]).
#pragma once
#include <cstdint>

#include "kernels/attention/key_limits.h"
#include "kernels/hd.h"

namespace lethe {

/// Heads of `size` numbers: `heads` of queries, each group of heads / kv_heads of which shares one of keys and values.
struct AttentionShape {
  std::int64_t batch = 0, rows = 0, keys = 0, heads = 0, kv_heads = 0, size = 0;
  double scale = 1, softcap = 0;  // of scores; 0: no cap (softcap.h)
  std::int64_t window = 0;        // 0: none
  bool causal = false;
  bool packed = false;   // q, k and v are columns of one var, whose rows hold all three
  bool lengths = false;  // samples have lengths
  bool texts = false;    // rows have positions in texts, which stand one after the other
  MaskShape mask = {};
  double dropout = 0;  // the rate; above 0 there is a step
  std::uint64_t dropout_key = 0;
  std::int64_t first_sample = 0;  // where the samples begin among those of the whole batch

  HD std::int64_t group() const { return heads / kv_heads; }
  std::int64_t width_of_q() const { return packed ? (heads + 2 * kv_heads) * size : heads * size; }
  std::int64_t width_of_kv() const { return packed ? width_of_q() : kv_heads * size; }

  /// Among those of all samples and heads.
  HD std::int64_t row_of(std::int64_t sample, std::int64_t head, std::int64_t row) const {
    return (sample * heads + head) * rows + row;
  }

  HD SampleKeys keys_in(const KeyLimits& limits, std::int64_t sample) const {
    const std::int64_t length = limits.lengths ? limits.lengths[sample] : keys;
    return {length < 0      ? 0
            : length > keys ? keys
                            : length,
            limits.positions ? limits.positions + sample * rows : nullptr};
  }
  /// The position of row 0 among the keys: where there are more keys than rows, the rows are the last of them.
  HD std::int64_t first_position(std::int64_t length) const { return rows == keys ? 0 : length - rows; }

  /// The keys that a row sees. Neither bound falls from row to row.
  HD Positions keys_of(std::int64_t row, const SampleKeys& of) const {
    const std::int64_t position = row + first_position(of.length);
    std::int64_t first = window > 0 ? position - window + 1 : 0;
    if (of.positions)
      if (const std::int64_t begin = position - of.positions[row < rows ? row : rows - 1]; begin > first) first = begin;
    const std::int64_t last = causal ? position + 1 : window > 0 ? position + window : of.length;
    return clamp({first, last}, of.length);
  }
  /// The rows that see a key.
  HD Positions rows_of(std::int64_t key, const SampleKeys& of) const {
    if (key >= of.length) return {0, 0};
    const std::int64_t row = key - first_position(of.length);
    const std::int64_t first = causal ? row : window > 0 ? row - window + 1 : 0;
    const Positions near = clamp({first, window > 0 ? row + window : rows}, rows);
    return of.positions ? of_texts_from(row, near, of.positions) : near;
  }
  HD bool sees(std::int64_t row, std::int64_t key, const SampleKeys& of) const {
    const Positions seen = keys_of(row, of);
    return row < rows && key >= seen.first && key < seen.last;
  }
  /// The keys that any of some rows sees, and the rows that see any of some keys; those after the last do not count.
  HD Positions keys_of_rows(std::int64_t first, std::int64_t last, const SampleKeys& of) const {
    return {keys_of(first, of).first, keys_of((last < rows ? last : rows) - 1, of).last};
  }
  HD Positions rows_of_keys(std::int64_t first, std::int64_t last, const SampleKeys& of) const {
    if (first >= of.length) return {0, 0};
    return {rows_of(first, of).first, rows_of((last < of.length ? last : of.length) - 1, of).last};
  }

 private:
  /// Of some rows those whose text begins at row `begin` or before it: the first ones, since texts stand one after the
  /// other.
  HD static Positions of_texts_from(std::int64_t begin, const Positions& of, const std::int32_t* positions) {
    std::int64_t low = of.first;
    for (std::int64_t high = of.last; low < high;) {
      const std::int64_t middle = low + (high - low) / 2;
      if (middle - positions[middle] > begin)
        high = middle;
      else
        low = middle + 1;
    }
    return {of.first, low};
  }
  HD static Positions clamp(Positions p, std::int64_t end) {
    const std::int64_t last = p.last < 0 ? 0 : p.last < end ? p.last : end;
    return {p.first < 0 ? 0 : p.first < last ? p.first : last, last};
  }
};

}  // namespace lethe
