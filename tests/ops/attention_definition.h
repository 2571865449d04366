// Attention and its gradient as they are defined, to hold the op against.
#pragma once
#include <cmath>
#include <functional>

#include "tests/support/random_values.h"
#include "tests/support/run_op.h"

namespace lethe::testing {

constexpr std::int64_t kHeads = 4, kGroups = 2, kSize = 3;
inline const double kScale = 1 / std::sqrt(static_cast<double>(kSize));
constexpr std::int64_t kSeed = 7, kLayer = 11, kStep = 3;  // of dropout

inline Tensor random_tensor(const Shape& shape, unsigned seed) {
  return {shape, random_values<double>(elements(shape), seed)};
}

/// Which keys a row of a sample sees.
using Sees = std::function<bool(std::int64_t sample, std::int64_t row, std::int64_t key)>;
inline bool sees_all(std::int64_t, std::int64_t, std::int64_t) { return true; }

/// Random numbers that f32 holds exactly, about a third of them -inf.
Tensor random_mask(const Shape& shape);

/// Of random inputs, with all scores of a row, under a cap unless it is 0, to which `mask` is added if it has values.
struct Defined {
  Tensor q, k, v, dy, mask;
  Tensor y, lse, dq, dk, dv, dmask;
  std::int64_t rows, keys;
  double dropout, softcap;

  Defined(std::int64_t batch, std::int64_t rows, std::int64_t keys, double scale, const Sees& sees, double dropout = 0,
          const Tensor& mask = {}, double softcap = 0);

 private:
  void add_row(std::int64_t b, std::int64_t head, std::int64_t t, double scale, const Sees& sees);
};

/// Expects the op and its gradients to give that, a mask in f32, too. No `lengths` or `positions`: absent.
void expect_definition(const Defined& of, const Tensor& lengths, Attrs attrs, DType dtype = DType::f64,
                       const Tensor& positions = {});

}  // namespace lethe::testing
