// Convolutions by their definition.
#pragma once
#include "kernels/conv/conv.h"

namespace lethe::testing {

inline std::int64_t out_size(const ConvShape& s, int axis) {
  return (s.in[axis] + 2 * s.pad[axis] - s.dilation[axis] * (s.kernel[axis] - 1) - 1) / s.stride[axis] + 1;
}

inline ConvShape with_out(ConvShape s) {
  s.out = {out_size(s, 0), out_size(s, 1)};
  return s;
}

/// Calls f(index in x, in weight, in y) for every product in the convolution's definition.
template <class F>
void for_each_product(const ConvShape& s, const F& f) {
  const std::int64_t c = s.channels / s.groups, o = s.filters / s.groups;
  for (std::int64_t n = 0; n < s.batch; ++n)
    for (std::int64_t oy = 0; oy < s.out[0]; ++oy)
      for (std::int64_t ox = 0; ox < s.out[1]; ++ox)
        for (std::int64_t filter = 0; filter < s.filters; ++filter)
          for (std::int64_t ky = 0; ky < s.kernel[0]; ++ky)
            for (std::int64_t kx = 0; kx < s.kernel[1]; ++kx) {
              const std::int64_t y = oy * s.stride[0] - s.pad[0] + ky * s.dilation[0];
              const std::int64_t x = ox * s.stride[1] - s.pad[1] + kx * s.dilation[1];
              if (y < 0 || y >= s.in[0] || x < 0 || x >= s.in[1]) continue;
              for (std::int64_t i = 0; i < c; ++i)
                f(((n * s.in[0] + y) * s.in[1] + x) * s.channels + filter / o * c + i,
                  ((filter * s.kernel[0] + ky) * s.kernel[1] + kx) * c + i,
                  ((n * s.out[0] + oy) * s.out[1] + ox) * s.filters + filter);
            }
}

}  // namespace lethe::testing
