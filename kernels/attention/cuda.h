// Attention on a GPU, in any float dtype and for any head size: a warp has one row, or one key, and goes through what
// it meets 32 at a time. Each lane has the score of one of these; then all lanes share the sum over the 32, each for
// some numbers of the head. Sums stand in one fixed order: every run gives the same bits.
#pragma once
#include <cmath>
#include <limits>

#include "kernels/attention/kept_shares.h"
#include "kernels/attention/mask.h"
#include "kernels/attention/warps.h"

#ifdef LETHE_DEVICE_CODE
namespace lethe {

template <class T>
struct AttentionArgs {
  AttentionShape shape;
  QueryKeyValue<const T> in;
  KeyLimits limits;
  KeptShares kept;
  ScoreMask<T> mask;
  AttentionArgs(const AttentionShape& s, const KernelArgs& a)
      : shape(s), in(inputs_of<T>(s, a)), limits(limits_of(s, a)), kept(s, a), mask(s.mask, a) {}

  /// Of a row and a key, from q . k, without the mask and with it. The gradient takes them from here, too: a share is
  /// then no other there.
  __device__ Compute<T> capped(Compute<T> product) const {
    const Compute<T> scaled = product * static_cast<Compute<T>>(shape.scale),
                     cap = static_cast<Compute<T>>(shape.softcap);
    return cap > 0 ? cap * std::tanh(scaled / cap) : scaled;
  }
  __device__ Compute<T> masked(Compute<T> capped, std::int64_t sample, std::int64_t head, std::int64_t row,
                               std::int64_t key) const {
    return mask.given() ? capped + mask.at(sample, head, row, key) : capped;
  }
};

template <class T>
struct AttentionRow {
  AttentionArgs<T> a;
  Heads<T> y;
  Compute<T>* lse;

  __device__ void operator()(std::int64_t lane, std::int64_t i) const {
    using C = Compute<T>;
    const AttentionShape& s = a.shape;
    const HeadPosition at(i, s.heads, s.rows);
    const T* const q = a.in.q.at(at.sample, at.position, at.head);
    const std::int64_t kv_head = at.head / s.group();
    const Positions seen = s.keys_of(at.position, s.keys_in(a.limits, at.sample));
    for (std::int64_t part = 0; part < s.size; part += kWarpNumbers) {
      LaneSums<C> sums(lane, part, s.size);
      C most = std::numeric_limits<C>::lowest(), total = 0;
      for (std::int64_t key = seen.first; key < seen.last; key += 32) {
        const bool is_one = key + lane < seen.last;
        const C score = is_one ? a.masked(a.capped(dot(q, a.in.k.at(at.sample, key + lane, kv_head), s.size)),
                                          at.sample, at.head, at.position, key + lane)
                               : -std::numeric_limits<C>::infinity();
        const C before = most;
        most = over_lanes(score > most ? score : most, [](C x, C y) { return y > x ? y : x; });
        const C fade = std::exp(before - most), power = std::exp(score - most);
        total = total * fade + over_lanes(power, [](C x, C y) { return x + y; });
        const C kept = is_one ? power * a.kept.template factor_of<C>(i, key + lane) : C(0);
        sums.each([=](C& sum, std::int64_t) { sum *= fade; });
        for (int j = 0; j < 32 && key + j < seen.last; ++j)
          sums.add(__shfl_sync(0xffffffffu, kept, j), a.in.v.at(at.sample, key + j, kv_head));
      }
      const bool any = total != 0;
      sums.write(any ? 1 / total : C(0), y.at(at.sample, at.position, at.head));
      if (lane == 0) lse[i] = any ? most + std::log(total) : C(0);
    }
  }
};

}  // namespace lethe
#endif
