#include "tests/ops/attention_definition.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "framework/random.h"

namespace lethe::testing {
namespace {

/// The factor of the share of a row, among those of all samples and heads, and of a key.
double factor_of(double dropout, std::int64_t row, std::int64_t key, std::int64_t keys) {
  const std::int64_t four = row * ((keys + 3) / 4) + key / 4;
  const float drawn = uniform_of(philox(stream_key(kSeed, kLayer), kStep, four).word[key % 4]);
  return drawn < static_cast<float>(dropout) ? 0 : 1 / (1 - dropout);
}

Tensor zero_tensor(const Shape& shape) { return {shape, std::vector<double>(elements(shape))}; }
double* head_at(Tensor& of, std::int64_t b, std::int64_t position, std::int64_t head) {
  return of.values.data() + (b * of.shape[1] + position) * of.shape[2] + head * kSize;
}
double dot(const double* a, const double* b) { return std::inner_product(a, a + kSize, b, 0.0); }

/// The number of a mask, or of its gradient, that is added to a score.
double& mask_at(Tensor& of, std::int64_t b, std::int64_t head, std::int64_t row, std::int64_t key) {
  std::int64_t i = 0;
  const Shape places = {b, head, row, key};
  for (std::size_t axis = 0; axis < 4; ++axis) i = i * of.shape[axis] + (of.shape[axis] == 1 ? 0 : places[axis]);
  return of.values[static_cast<std::size_t>(i)];
}

void expect_near(const Tensor& got, const Tensor& expected, double tolerance, const char* what) {
  ASSERT_EQ(got.shape, expected.shape) << what;
  for (std::size_t i = 0; i < got.values.size(); ++i)
    ASSERT_NEAR(got.values[i], expected.values[i], tolerance) << what << ", " << i;
}

}  // namespace

Tensor random_mask(const Shape& shape) {
  Tensor mask = random_tensor(shape, 5);
  for (double& value : mask.values)
    value = value < -0.4 ? -std::numeric_limits<double>::infinity() : std::round(99 * value) / 64;
  return mask;
}

Defined::Defined(std::int64_t batch, std::int64_t rows, std::int64_t keys, double scale, const Sees& sees,
                 double dropout, const Tensor& mask, double softcap)
    : q(random_tensor({batch, rows, kHeads * kSize}, 1)),
      k(random_tensor({batch, keys, kGroups * kSize}, 2)),
      v(random_tensor({batch, keys, kGroups * kSize}, 3)),
      dy(random_tensor({batch, rows, kHeads * kSize}, 4)),
      mask(mask),
      y(zero_tensor(q.shape)),
      lse(zero_tensor({batch, kHeads, rows})),
      dq(zero_tensor(q.shape)),
      dk(zero_tensor(k.shape)),
      dv(zero_tensor(v.shape)),
      dmask(zero_tensor(mask.shape)),
      rows(rows),
      keys(keys),
      dropout(dropout),
      softcap(softcap) {
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t head = 0; head < kHeads; ++head)
      for (std::int64_t t = 0; t < rows; ++t) add_row(b, head, t, scale, sees);
}

void Defined::add_row(std::int64_t b, std::int64_t head, std::int64_t t, double scale, const Sees& sees) {
  const std::int64_t group = head / (kHeads / kGroups);
  std::vector<double> p(static_cast<std::size_t>(keys)), slope(p.size(), 1);
  double total = 0;
  for (std::int64_t s = 0; s < keys; ++s) {
    if (!sees(b, t, s)) continue;
    double score = scale * dot(head_at(q, b, t, head), head_at(k, b, s, group));
    if (softcap > 0) {
      slope[s] = 1 / std::pow(std::cosh(score / softcap), 2);
      score = softcap * std::tanh(score / softcap);
    }
    total += p[s] = std::exp(score + (mask.values.empty() ? 0 : mask_at(mask, b, head, t, s)));
  }
  if (total == 0) return;
  const std::int64_t row = (b * kHeads + head) * rows + t;
  lse.values[row] = std::log(total);
  std::vector<double> m(p.size());
  for (std::int64_t s = 0; s < keys; ++s) m[s] = factor_of(dropout, row, s, keys);
  for (std::int64_t s = 0; s < keys; ++s)
    for (std::int64_t d = 0; d < kSize; ++d)
      head_at(y, b, t, head)[d] += m[s] * p[s] / total * head_at(v, b, s, group)[d];
  const double* const g = head_at(dy, b, t, head);
  for (std::int64_t s = 0; s < keys; ++s) {
    const double of_score = p[s] / total * (m[s] * dot(g, head_at(v, b, s, group)) - dot(g, head_at(y, b, t, head))),
                 da = of_score * slope[s] * scale;
    if (!mask.values.empty()) mask_at(dmask, b, head, t, s) += of_score;
    for (std::int64_t d = 0; d < kSize; ++d) {
      head_at(dv, b, s, group)[d] += m[s] * p[s] / total * g[d];
      head_at(dq, b, t, head)[d] += da * head_at(k, b, s, group)[d];
      head_at(dk, b, s, group)[d] += da * head_at(q, b, t, head)[d];
    }
  }
}

void expect_definition(const Defined& of, const Tensor& lengths, Attrs attrs, DType dtype, const Tensor& positions) {
  attrs.set("heads", kHeads);
  attrs.set("kv_heads", kGroups);
  if (of.softcap > 0) attrs.set("softcap", of.softcap);
  const auto as = [&](Tensor tensor) {
    tensor.dtype = dtype;
    return tensor;
  };
  const double tolerance = dtype == DType::f64 ? 1e-13 : 3e-6;
  std::vector<Tensor> in = {as(of.q), as(of.k), as(of.v), lengths, {}, positions, as(of.mask)};
  if (of.dropout > 0) {
    in[4] = {{}, {kStep}, DType::i64};
    attrs.set("dropout", of.dropout);
    attrs.set("seed", kSeed);
    attrs.set("key", kLayer);
  }
  expect_near(run_op("attention", in, attrs), of.y, tolerance, "y");
  expect_near(run_op("attention", in, attrs, 1), of.lse, tolerance, "lse");
  std::vector<Tensor> of_grad = in;
  of_grad.insert(of_grad.end(), {as(of.y), as(of.lse), as(of.dy)});
  expect_near(run_op("attention_grad", of_grad, attrs), of.dq, tolerance, "dq");
  expect_near(run_op("attention_grad", of_grad, attrs, 1), of.dk, 40 * tolerance, "dk");
  expect_near(run_op("attention_grad", of_grad, attrs, 2), of.dv, 40 * tolerance, "dv");
  if (of.mask.values.empty()) return;
  expect_near(run_op("attention_mask_grad", of_grad, attrs), of.dmask, 200 * tolerance, "dmask");
  in[6].dtype = of_grad[6].dtype = DType::f32;
  expect_near(run_op("attention", in, attrs), of.y, tolerance, "y by a mask in f32");
  expect_near(run_op("attention_grad", of_grad, attrs), of.dq, tolerance, "dq by a mask in f32");
  expect_near(run_op("attention_mask_grad", of_grad, attrs), of.dmask, 1e-4, "dmask in f32");
}

}  // namespace lethe::testing
