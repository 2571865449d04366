// The gradient of the mask on a GPU: a thread has one of its numbers and makes da again of all rows and keys that have
// it, in their order.
#pragma once
#include "kernels/attention/cuda_weights.h"

#ifdef LETHE_DEVICE_CODE
namespace lethe {

template <class T>
struct AttentionMaskGrad {
  AttentionGradArgs<T> of;
  MaskGradient<T> dmask;

  __device__ void operator()(std::int64_t i) const {
    const AttentionShape& s = of.a.shape;
    const MaskShape& m = s.mask;
    const std::int64_t key = i % m.keys, place = i / m.keys / m.rows;
    const Positions rows = of_place(i / m.keys % m.rows, m.rows, s.rows),
                    heads = of_place(place % m.heads, m.heads, s.heads),
                    samples = of_place(place / m.heads, m.samples, s.batch);
    Compute<T> sum = 0;
    for (std::int64_t sample = samples.first; sample < samples.last; ++sample) {
      const SampleKeys in_sample = s.keys_in(of.a.limits, sample);
      for (std::int64_t head = heads.first; head < heads.last; ++head)
        for (std::int64_t row = rows.first; row < rows.last; ++row)
          if (s.sees(row, key, in_sample)) sum += of.weights(sample, head, row, key).of_mask;
    }
    dmask.put(i, sum);
  }
};

}  // namespace lethe
#endif
