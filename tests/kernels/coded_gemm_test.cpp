#include "kernels/gemm/coded_gemm.h"

#include <gtest/gtest.h>

namespace lethe::testing {
namespace {

TEST(CodedGemm, IsOfFewRowsOnAGpuByTheShapeAlone) {
  const GemmShape s{.m = 256, .n = 4096, .k = 1024, .transpose_b = true, .epilogue = {.bias = true, .relu = true}};
  const auto is_one = [](GemmShape shape, const auto& change, DType dtype = DType::bf16,
                         DeviceKind kind = DeviceKind::Cuda) {
    change(shape);
    return is_coded_product(shape, dtype, kind);
  };
  const auto as_it_is = [](GemmShape&) {};
  EXPECT_TRUE(is_one(s, as_it_is));
  EXPECT_TRUE(is_one(s, as_it_is, DType::f16));
  EXPECT_FALSE(is_one(s, as_it_is, DType::f32));
  EXPECT_FALSE(is_one(s, as_it_is, DType::bf16, DeviceKind::Cpu));
  EXPECT_TRUE(is_one(s, [](GemmShape& x) { x.transpose_b = false, x.epilogue = {}; }));
  EXPECT_FALSE(is_one(s, [](GemmShape& x) { x.m = 257; })) << "many rows";
  EXPECT_FALSE(is_one(s, [](GemmShape& x) { x.k = 1000; })) << "rows of the weight are no whole groups";
  EXPECT_FALSE(is_one(s, [](GemmShape& x) { x.unaligned = true; }));
  EXPECT_FALSE(is_one(s, [](GemmShape& x) { x.accumulate = true, x.epilogue = {}; }));
  EXPECT_FALSE(is_one(s, [](GemmShape& x) { x.wide_c = true, x.epilogue = {}; }));
  EXPECT_FALSE(is_one(s, [](GemmShape& x) { x.batch = 2; }));
  EXPECT_FALSE(is_one(s, [](GemmShape& x) { x.transpose_a = true; }));
  EXPECT_FALSE(is_one(s, [](GemmShape& x) { x.stride_b = 2048; }));
  EXPECT_FALSE(is_one(s, [](GemmShape& x) { x.stride_a = 1028; })) << "rows begin within packs";
  EXPECT_TRUE(is_one(s, [](GemmShape& x) { x.stride_a = 1032, x.stride_c = 4100; }));
  EXPECT_FALSE(is_one(s, [](GemmShape& x) { x.epilogue = {.gelu_grad = true}; }));
}

}  // namespace
}  // namespace lethe::testing
