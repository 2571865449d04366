#include "tests/support/samples.h"

namespace lethe::testing {
namespace {

const std::vector<DType> kAny = {DType::f32, DType::f64, DType::bf16, DType::i32, DType::i64, DType::u8};
const std::vector<DType> kNumbers = {DType::f32, DType::f64, DType::i32, DType::i64, DType::u8};

SampleInput value(Shape shape) { return {.shape = std::move(shape), .low = 0, .high = 9}; }
/// One that is changed in place.
SampleInput array(Shape shape) { return {.shape = std::move(shape), .low = 0, .high = 9, .kind = Kind::State}; }
/// An index that is always `at`.
SampleInput index(double at) { return {.shape = {}, .low = at, .high = at + 1, .dtype = DType::i64}; }

std::vector<Sample> entry_samples() {
  return {
      {.op = "array_read", .in = {value({4, 3, 5}), index(2)}},
      {.op = "array_read", .in = {value({4, 3, 5}), index(3), index(1)}},
      {.op = "array_read", .in = {value({4, 3, 5}), index(4)}},
      {.op = "array_read", .in = {value({4, 3, 5}), index(2)}, .gradient = false, .dtypes = kAny},
      {.op = "array_write", .in = {value({4, 3, 5}), value({3, 5}), index(0)}},
      {.op = "array_write", .in = {value({2, 4, 7}), value({7}), index(1), index(2)}},
      {.op = "array_write", .in = {value({2, 4, 7}), value({7}), index(0), index(4)}},
      {.op = "array_write", .in = {array({4, 3, 5}), value({3, 5}), index(0)}, .gradient = false, .dtypes = kAny},
      {.op = "array_add", .in = {array({4, 3, 5}), value({3, 5}), index(3)}, .gradient = false, .dtypes = kNumbers},
      {.op = "array_add", .in = {array({4, 3, 5}), value({4, 3, 5})}, .gradient = false},
      {.op = "array_clear", .in = {array({4, 3, 5}), index(1)}, .gradient = false, .dtypes = kAny},
      {.op = "array_clear", .in = {array({4, 3, 5})}, .gradient = false},
  };
}

std::vector<Sample> sequence_samples() {
  const SampleInput lengths{.shape = {5}, .low = -1, .high = 9, .dtype = DType::i32};
  SampleInput wide = lengths;
  wide.dtype = DType::i64;
  return {
      {.op = "sequence_mask",
       .in = {lengths},
       .attrs = {{"shape", Ints{7, 5}}, {"dtype", "u8"}},
       .gradient = false,
       .dtypes = {DType::i32}},
      {.op = "sequence_mask",
       .in = {wide},
       .attrs = {{"shape", Ints{7, 5, 1}}, {"dtype", "f64"}},
       .gradient = false,
       .dtypes = {DType::i64}},
      {.op = "ignore_label",
       .in = {{.shape = {300}, .low = -3, .high = 5, .dtype = DType::i32}},
       .attrs = {{"ignore", 2}, {"dtype", "f32"}},
       .gradient = false,
       .dtypes = {DType::i32}},
      {.op = "ignore_label",
       .in = {{.shape = {4, 5, 3}, .low = -3, .high = 5, .dtype = DType::i32}},
       .attrs = {{"ignore", 0}, {"dtype", "f64"}},
       .gradient = false,
       .dtypes = {DType::i32}},
      {.op = "ignore_label",
       .in = {{.shape = {300}, .low = -3, .high = 5, .dtype = DType::i32},
              {.shape = {5}, .low = 0.25, .high = 4, .dtype = DType::f32}},
       .attrs = {{"ignore", 2}, {"dtype", "f32"}},
       .gradient = false,
       .dtypes = {DType::i32}},
  };
}

}  // namespace

std::vector<Sample> array_samples() {
  std::vector<Sample> all = {
      {.op = "empty",
       .in = {},
       .attrs = {{"shape", Ints{2, 3}}, {"dtype", "i64"}},
       .gradient = false,
       .dtypes = {DType::i64}},
      {.op = "arange",
       .in = {},
       .attrs = {{"start", 7}, {"step", -3}, {"length", 5}, {"dtype", kUnderTest}},
       .gradient = false,
       .dtypes = {DType::f32, DType::f64, DType::bf16, DType::f16, DType::i32, DType::i64}},
  };
  for (const auto& part : {entry_samples(), sequence_samples()}) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace lethe::testing
