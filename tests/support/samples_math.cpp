#include "tests/support/samples.h"

namespace lethe::testing {
namespace {

const std::vector<DType> kIntegers = {DType::i32, DType::i64, DType::u8};
const std::vector<DType> kFlags = {DType::u8};

std::vector<Sample> function_samples() {
  return {
      {.op = "relu", .in = {{{2, 3, 5}}}, .kinks = {0}},
      {.op = "relu_grad", .in = {{{4, 7, 6}}, {{4, 7, 6}}, {{4, 7, 6}}}, .gradient = false},
      {.op = "leaky_relu", .in = {{{2, 3, 5}}}, .attrs = {{"slope", 0.1}}, .kinks = {0}},
      {.op = "leaky_relu", .in = {{{2, 3, 5}}}, .attrs = {{"slope", -0.5}}, .kinks = {0}},
      {.op = "threshold", .in = {{{2, 3, 5}}}, .attrs = {{"threshold", 0.25}, {"value", 0.25}}, .kinks = {0.25}},
      {.op = "threshold", .in = {{{2, 3, 5}}}, .attrs = {{"threshold", -0.25}, {"value", 2.0}}, .kinks = {-0.25}},
      {.op = "threshold", .in = {{{2, 3, 5}}}, .attrs = {{"threshold", 0.1}, {"value", 0.1}}, .kinks = {0.1}},
      {.op = "sigmoid", .in = {{{2, 3, 5}, -4, 4}}},
      {.op = "tanh", .in = {{{2, 3, 5}, -2, 2}}},
      {.op = "softplus", .in = {{{2, 3, 5}, -4, 4}}},
      {.op = "gelu", .in = {{{2, 3, 5}, -3, 3}}},
      {.op = "gelu", .in = {{{2, 3, 15}, -3, 3}}, .attrs = {{"approximate", "tanh"}}},
      {.op = "silu", .in = {{{2, 3, 15}, -5, 5}}},
      {.op = "silu", .in = {{{2, 3, 5}, -5, 5}}, .attrs = {{"alpha", -1.7}}},
      {.op = "abs", .in = {{{2, 3, 5}}}, .kinks = {0}},
      {.op = "sqrt", .in = {{{2, 3, 5}, 0.25, 4}}},
      {.op = "square", .in = {{{2, 3, 5}}}},
      {.op = "exp", .in = {{{2, 3, 5}}}},
      {.op = "log", .in = {{{2, 3, 5}, 0.25, 4}}},
      {.op = "clip", .in = {{{2, 3, 5}}}, .attrs = {{"min", -0.5}, {"max", 0.25}}, .kinks = {-0.5, 0.25}},
      {.op = "clip", .in = {{{2, 3, 5}}}, .attrs = {{"max", 0.25}}, .kinks = {0.25}},
      {.op = "clip", .in = {{{2, 3, 5}}}, .attrs = {{"min", -0.1}, {"max", 0.1}}, .kinks = {-0.1, 0.1}},
      {.op = "clip", .in = {{{2, 3, 5}}}, .attrs = {{"min", -0.7}, {"max", 0.3}}, .kinks = {-0.7, 0.3}},
      {.op = "scale", .in = {{{2, 3, 5}}}, .attrs = {{"a", -1.5}, {"b", 0.25}}},
      {.op = "offset", .in = {{{2, 3, 5}}}, .attrs = {{"by", 0.25}}},
      {.op = "offset", .in = {{{2, 3, 5}, 0, 9}}, .attrs = {{"by", 3}}, .gradient = false, .dtypes = kIntegers},
      {.op = "cast", .in = {{{2, 3, 5}, -9, 9}}, .attrs = {{"dtype", "bf16"}}, .gradient = false},
      {.op = "cast", .in = {{{2, 3, 5}, 0, 9}}, .attrs = {{"dtype", "f64"}}, .dtypes = {DType::f64}},
      {.op = "cast", .in = {{{2, 3, 5}, 0, 9}}, .attrs = {{"dtype", "u8"}}, .gradient = false},
      {.op = "cast", .in = {{{2, 3, 5}, 0, 9}}, .attrs = {{"dtype", "f32"}}, .gradient = false, .dtypes = kIntegers},
      {.op = "normalize",
       .in = {{{2, 5, 7, 3}, 0, 256, DType::u8}},
       .attrs = {{"mean", Doubles{0.485, 0.456, 0.406}},
                 {"deviation", Doubles{0.229, 0.224, 0.225}},
                 {"dtype", kUnderTest}},
       .gradient = false},
      {.op = "normalize",
       .in = {{{3, 4, 8, 1}, 0, 256, DType::u8}},
       .attrs = {{"mean", Doubles{0.1307}}, {"deviation", Doubles{0.3081}}, {"dtype", kUnderTest}},
       .gradient = false},
      {.op = "dropout",
       .in = {{{3, 7, 5}}, {.shape = {}, .low = 3, .high = 4, .dtype = DType::i64}},
       .attrs = {{"p", 0.4}, {"seed", 7}, {"key", 11}}},
      {.op = "drop_path",
       .in = {{{6, 7, 5}}, {.shape = {}, .low = 3, .high = 4, .dtype = DType::i64}},
       .attrs = {{"p", 0.4}, {"seed", 7}, {"key", 11}}},
      {.op = "drop_path",
       .in = {{{5, 4, 8}}, {.shape = {}, .low = 3, .high = 4, .dtype = DType::i64}},
       .attrs = {{"p", 0.4}, {"seed", 7}, {"key", 11}}},
  };
}

std::vector<Sample> where_samples() {
  const SampleInput full{{2, 3, 4, 5}}, number{{}}, cond{{2, 3, 4, 5}, 0, 2, DType::u8};
  return {
      {.op = "where", .in = {cond, full, full}},
      {.op = "where", .in = {{{1, 3, 1, 5}, 0, 2, DType::u8}, full, number}},
      {.op = "where", .in = {{{2, 1, 4, 1}, 0, 2, DType::u8}, number, full}},
      {.op = "where", .in = {cond, number, number}},
      {.op = "where", .in = {cond, full, kAbsent}},
      {.op = "where",
       .in = {{{2, 5}, 0, 2, DType::u8}, {{2, 5}, 0, 9}, {{2, 5}, 0, 9}},
       .gradient = false,
       .dtypes = kIntegers},
  };
}

std::vector<Sample> arithmetic_samples() {
  std::vector<Sample> rows = {
      {.op = "pow", .in = {{{2, 3, 5}, 0.25, 2}, kAbsent}, .attrs = {{"exponent", -1.5}}},
      {.op = "pow", .in = {{{2, 3, 5}}, kAbsent}, .attrs = {{"exponent", 3.0}}},
      {.op = "prelu", .in = {{{2, 4, 3, 5}}, {{5}}}, .kinks = {0}},
      {.op = "prelu", .in = {{{2, 3, 5}}, {{1}}}, .kinks = {0}},
      {.op = "div", .in = {{{2, 3, 5}}, {{2, 3, 5}, 0.5, 2}}},
      {.op = "div", .in = {{{2, 3, 5}}, {{1, 3, 1}, 0.5, 2}}},
      {.op = "sum_to",
       .in = {{{2, 3, 5}}, {.shape = {}, .absent = true}},
       .attrs = {{"shape", Ints{2, 1, 5}}},
       .gradient = false},
      {.op = "sum_to", .in = {{{5, 2100}}, {{5, 2100}}}, .attrs = {{"shape", Ints{}}}, .gradient = false},
      {.op = "sum_to",
       .in = {{{2, 3, 70, 2}}, {{2, 3, 70, 2}}},
       .attrs = {{"shape", Ints{1, 3, 70, 1}}},
       .gradient = false},
  };
  for (const char* op : {"max", "min"}) {
    for (const Shape& b : {Shape{2, 3, 5}, {1, 3, 1}, {}}) rows.push_back({.op = op, .in = {{{2, 3, 5}}, {b}}});
    rows.push_back({.op = op, .in = {{{2, 3, 5}, 0, 9}, {{2, 3, 5}, 0, 9}}, .gradient = false, .dtypes = kIntegers});
  }
  for (const Shape& b : {Shape{2, 3, 5}, {1, 3, 1}, {}}) {
    rows.push_back({.op = "pow", .in = {{{2, 3, 5}, 0.25, 2}, {b, -2, 2}}});
    rows.push_back({.op = "mod", .in = {{{2, 3, 5}, -4, 4}, {b, 0.75, 2}}});
  }
  for (const char* op : {"add", "sub", "mul"}) {
    // As large, a channel's, a sample's channel's, a pixel's, a scalar; the middle axis alone.
    for (const Shape& b : {Shape{2, 3, 4, 5}, {1, 1, 1, 5}, {2, 1, 1, 5}, {2, 3, 4, 1}, {}, {1, 3, 1, 1}})
      rows.push_back({.op = op, .in = {{{2, 3, 4, 5}}, {b}}});
    rows.push_back({.op = op, .in = {{{2, 3, 5}, 5, 9}, {{1, 3, 1}, 0, 5}}, .gradient = false, .dtypes = kIntegers});
  }
  for (const Shape& b : {Shape{2, 3, 4, 5}, {1, 1, 1, 5}})
    rows.push_back({.op = "add", .in = {{{2, 3, 4, 5}}, {b}}, .attrs = {{"activation", "relu"}}, .gradient = false});
  for (const int operands : {1, 2, 4, 9})
    rows.push_back({.op = "sum_n", .in = std::vector<SampleInput>(static_cast<std::size_t>(operands), {{2, 3, 5}})});
  return rows;
}

std::vector<Sample> move_samples() {
  return {
      {.op = "reshape", .in = {{{2, 3, 4}}}, .attrs = {{"shape", Ints{2, -1, 2}}}},
      {.op = "sum_over_parts", .in = {{{2, 3, 4}}}, .gradient = false},
      {.op = "flatten", .in = {{{2, 3, 4}}}},
      {.op = "assign", .in = {{{2, 3, 4}}}},
      {.op = "assign", .in = {{{2, 3, 4}, 0, 9}}, .gradient = false, .dtypes = kIntegers},
      {.op = "expand", .in = {{{1, 3, 5}}}, .attrs = {{"shape", Ints{4, -1, -1}}}},
      {.op = "expand", .in = {{{1, 2, 3, 2}}}, .attrs = {{"shape", Ints{1, 2, 3, 2}}}},
      {.op = "expand", .in = {{{2, 1, 3, 1}}}, .attrs = {{"shape", Ints{-1, 4, 3, 8}}}},
      {.op = "expand", .in = {{{}}}, .attrs = {{"shape", Ints{2, 3}}}},
      {.op = "expand",
       .in = {{{3, 1}, 0, 9}},
       .attrs = {{"shape", Ints{3, 2}}},
       .gradient = false,
       .dtypes = kIntegers},
      {.op = "concat", .in = {{{2, 3, 4}}, {{2, 3, 1}}, {{2, 3, 2}}}, .attrs = {{"axis", 2}}},
      {.op = "concat", .in = {{{2, 3, 4}}, {{1, 3, 4}}}, .attrs = {{"axis", 0}}},
      {.op = "concat",
       .in = {{{2, 4}, 0, 9}, {{2, 4}, 0, 9}},
       .attrs = {{"axis", 1}},
       .gradient = false,
       .dtypes = kIntegers},
      {.op = "slice", .in = {{{2, 5, 4}}}, .attrs = {{"axis", 1}, {"begin", 1}, {"end", 4}}},
      {.op = "slice",
       .in = {{{5, 4}, 0, 9}},
       .attrs = {{"axis", 0}, {"begin", 3}, {"end", 5}},
       .gradient = false,
       .dtypes = kIntegers},
      {.op = "transpose", .in = {{{2, 3, 4, 5}}}, .attrs = {{"perm", Ints{0, 3, 1, 2}}}},
      {.op = "transpose",
       .in = {{{3, 4}, 0, 9}},
       .attrs = {{"perm", Ints{1, 0}}},
       .gradient = false,
       .dtypes = kIntegers},
      // Rows of whole packs:
      {.op = "concat", .in = {{{2, 3, 16}}, {{2, 3, 8}}}, .attrs = {{"axis", 2}}},
      {.op = "slice", .in = {{{3, 32}}}, .attrs = {{"axis", 1}, {"begin", 8}, {"end", 24}}},
      {.op = "slice", .in = {{{3, 32}}}, .attrs = {{"axis", 1}, {"begin", 1}, {"end", 17}}},
      {.op = "slice", .in = {{{3, 33}}}, .attrs = {{"axis", 1}, {"begin", 8}, {"end", 24}}},
      {.op = "transpose", .in = {{{3, 4, 16}}}, .attrs = {{"perm", Ints{1, 0, 2}}}},
      {.op = "pad", .in = {{{2, 3, 4, 2}}}, .attrs = {{"before", Ints{0, 1, 2, 0}}, {"after", Ints{0, 2, 0, 0}}}},
      {.op = "pad",
       .in = {{{2, 3, 4}}},
       .attrs = {{"before", Ints{0, 1, 2}}, {"after", Ints{0, 0, 1}}, {"value", -1.5}}},
      {.op = "pad",
       .in = {{{2, 3}, 0, 9}},
       .attrs = {{"before", Ints{0, 1}}, {"after", Ints{1, 2}}, {"value", 7.0}},
       .gradient = false,
       .dtypes = kIntegers},
      {.op = "gather", .in = {{{2, 5, 3}}}, .attrs = {{"axis", 1}, {"indices", Ints{4, 0, 0, 2, 4, 4}}}},
      {.op = "gather", .in = {{{3, 70}}}, .attrs = {{"axis", 1}, {"indices", Ints{69, 3, 3}}}},
      {.op = "gather",
       .in = {{{5, 4}, 0, 9}},
       .attrs = {{"axis", 0}, {"indices", Ints{3, 1}}},
       .gradient = false,
       .dtypes = kIntegers},
      {.op = "cumsum", .in = {{{2, 7, 3}}}, .attrs = {{"axis", 1}}},
      {.op = "cumsum", .in = {{{2, 300}}}, .attrs = {{"axis", 1}, {"exclusive", true}}},
      {.op = "cumsum", .in = {{{7, 2, 3}}}, .attrs = {{"axis", 0}, {"reverse", true}}},
      {.op = "cumsum", .in = {{{3, 9}}}, .attrs = {{"axis", 1}, {"reverse", true}, {"exclusive", true}}},
      {.op = "pad_channels", .in = {{{2, 5, 4, 3}}}, .attrs = {{"out", 6}, {"stride", Ints{2, 2}}}},
      {.op = "pad_channels", .in = {{{2, 3, 2, 2}}}, .attrs = {{"out", 4}, {"stride", Ints{1, 1}}}},
      {.op = "embedding",
       .in = {{.shape = {3, 4}, .low = 0, .high = 5, .dtype = DType::i32}, {.shape = {5, 6}, .wide = true}},
       .attrs = {{"dtype", kUnderTest}}},
      {.op = "embedding",  // in packs
       .in = {{.shape = {3, 4}, .low = 0, .high = 5, .dtype = DType::i32}, {.shape = {5, 16}, .wide = true}},
       .attrs = {{"dtype", kUnderTest}}},
      {.op = "embedding",  // of a low table
       .in = {{.shape = {3, 4}, .low = 0, .high = 5, .dtype = DType::i32}, {.shape = {5, 16}}},
       .attrs = {{"dtype", kUnderTest}},
       .gradient = false,
       .dtypes = {DType::bf16, DType::f16}},
      {.op = "embedding_grad",
       .in = {{.shape = {3, 4}, .low = 0, .high = 5, .dtype = DType::i32},
              {.shape = {3, 4, 16}},
              {.shape = {5, 16}, .wide = true}},
       .attrs = {{"rows", 5}},
       .gradient = false},
      {.op = "fill_constant",
       .in = {},
       .attrs = {{"shape", Ints{2, 3}}, {"dtype", "f32"}, {"value", 0.5}},
       .gradient = false},
  };
}

std::vector<Sample> truth_samples() {
  std::vector<Sample> rows = {
      {.op = "logical_not", .in = {{{2, 3, 5}, 0, 2}}, .gradient = false, .dtypes = kFlags},
      {.op = "increment", .in = {{.shape = {}, .low = 3, .high = 9, .kind = Kind::State}}, .gradient = false},
      {.op = "increment",
       .in = {{.shape = {}, .low = 3, .high = 9, .kind = Kind::State}},
       .attrs = {{"by", 2}},
       .gradient = false,
       .dtypes = {DType::i64}},
  };
  for (const char* op : {"less", "greater", "equal"}) {
    rows.push_back({.op = op, .in = {{{2, 3, 5}}, {{2, 3, 5}}}, .gradient = false});
    rows.push_back({.op = op, .in = {{{2, 3, 5}, 0, 3}, {{1, 3, 1}, 0, 3}}, .gradient = false, .dtypes = kIntegers});
    rows.push_back({.op = op,
                    .in = {{{2, 3, 5}, 0, 3}},
                    .attrs = {{"value", 1.0}},
                    .gradient = false,
                    .dtypes = {DType::f32, DType::f64, DType::i32}});
  }
  for (const char* op : {"logical_and", "logical_or", "logical_xor"})
    for (const Shape& b : {Shape{2, 3}, {2, 1}})
      rows.push_back({.op = op, .in = {{{2, 3}, 0, 2}, {b, 0, 2}}, .gradient = false, .dtypes = kFlags});
  return rows;
}

}  // namespace

std::vector<Sample> math_samples() {
  std::vector<Sample> all;
  for (const auto& part : {function_samples(), where_samples(), arithmetic_samples(), move_samples(), truth_samples()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace lethe::testing
