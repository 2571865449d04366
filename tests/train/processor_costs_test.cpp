#include "train/search/processor_costs.h"

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"

namespace lethe::testing {
namespace {

/// y = x w, of [rows, width] and [width, width].
struct Product {
  Program program;
  Op op{.type = "matmul", .in = {0, 1}, .out = {2}};
  Product(std::int64_t rows, std::int64_t width, DType dtype = DType::f32) {
    program.vars = {{.name = "x", .shape = {rows, width}, .dtype = dtype},
                    {.name = "w", .shape = {width, width}, .dtype = dtype},
                    {.name = "y", .shape = {rows, width}, .dtype = dtype}};
  }
  KernelKind kind() const { return kind_of(program, op); }
  /// Of what the rule of thumb says.
  double factor(const std::string& processor) const {
    return costs_on_processor(processor)(program, op) / seconds_on({})(program, op);
  }
};

TEST(ProcessorCosts, AKindIsOfATypeADTypeAndOperationsForAByte) {
  // 2 * 512^3 operations, 3 * 4 * 512^2 bytes: 85 for each, between 4^3 and 4^4; of bf16 twice as many.
  EXPECT_EQ(Product(512, 512).kind(), (KernelKind{.type = "matmul", .dtype = DType::f32, .density = 4}));
  EXPECT_EQ(Product(512, 512, DType::bf16).kind(), (KernelKind{.type = "matmul", .dtype = DType::bf16, .density = 4}));
  EXPECT_EQ(Product(2, 512).kind().density, 0) << "one operation for a byte";
  Product relu(8, 8);
  relu.op = {.type = "relu", .in = {0}, .out = {2}};
  EXPECT_EQ(relu.kind(), (KernelKind{.type = "relu", .dtype = DType::f32, .density = 0}));
}

TEST(ProcessorCosts, TakeTheNearestOfTheKindElseThatOfF32ElseTheRule) {
  Product other(8, 8);
  other.op = {.type = "abs", .in = {0}, .out = {2}};
  for (const std::string& processor : processors_with_costs()) {
    SCOPED_TRACE(processor);
    const double known = Product(512, 512).factor(processor);
    EXPECT_NE(known, 1);
    EXPECT_DOUBLE_EQ(Product(1 << 14, 1 << 14).factor(processor), known) << "no denser one was measured";
    EXPECT_NE(Product(512, 512, DType::bf16).factor(processor), known);
    EXPECT_DOUBLE_EQ(Product(512, 512, DType::f64).factor(processor), Product(256, 256).factor(processor));
    EXPECT_EQ(other.factor(processor), 1);
  }
  EXPECT_GT(Product(512, 512).factor("avx2"), Product(512, 512).factor("avx512"));
}

TEST(ProcessorCosts, OfAnUnknownProcessorAreRefused) {
  EXPECT_TRUE(
      fails_with("no costs of 'amx' are shipped; there are those of avx2, avx512", [] { costs_on_processor("amx"); }));
}

}  // namespace
}  // namespace lethe::testing
