// Arrays and the sequences that stand in them.
#include <gtest/gtest.h>

#include "framework/builder/builder.h"
#include "kernels/each_device.h"
#include "tests/support/expect_error.h"
#include "tests/support/run_op.h"

namespace lethe::testing {
namespace {

Tensor at(std::int64_t index) { return {{}, {static_cast<double>(index)}, DType::i64}; }

const Tensor kArray = counted({3, 2});

TEST(Array, ReadGivesTheEntryAtAnIndex) {
  EXPECT_EQ(run_op("array_read", {kArray, at(1)}), (Tensor{{2}, {3, 4}}));
  EXPECT_EQ(run_op("array_read", {kArray, at(2), at(0)}), (Tensor{{}, {5}}));
  EXPECT_EQ(run_op("array_read", {kArray}), kArray);
}

TEST(Array, WriteChangesOneEntry) {
  EXPECT_EQ(run_op("array_write", {kArray, {{2}, {-1, -2}}, at(1)}), (Tensor{{3, 2}, {1, 2, -1, -2, 5, 6}}));
  EXPECT_EQ(run_op("array_write", {kArray, {{}, {-1}}, at(0), at(1)}), (Tensor{{3, 2}, {1, -1, 3, 4, 5, 6}}));
}

TEST(Array, AddGoesToOneEntryOrToAll) {
  EXPECT_EQ(run_op("array_add", {kArray, {{2}, {10, 20}}, at(2)}), (Tensor{{3, 2}, {1, 2, 3, 4, 15, 26}}));
  EXPECT_EQ(run_op("array_add", {kArray, kArray}), (Tensor{{3, 2}, {2, 4, 6, 8, 10, 12}}));
}

TEST(Array, ClearTakesOneEntryOrAll) {
  EXPECT_EQ(run_op("array_clear", {kArray, at(0)}), (Tensor{{3, 2}, {0, 0, 3, 4, 5, 6}}));
  EXPECT_EQ(run_op("array_clear", {kArray}), (Tensor{{3, 2}, {0, 0, 0, 0, 0, 0}}));
}

TEST(Array, OutsideOfItThereAreZerosAndNothingIsWritten) {
  // The second pair would be an entry if it were counted row by row.
  for (const std::vector<Tensor>& outside : {std::vector{at(3), at(0)}, {at(0), at(2)}, {at(-1), at(1)}}) {
    const Tensor ten{{}, {10}};
    EXPECT_EQ(run_op("array_read", {kArray, outside[0], outside[1]}), (Tensor{{}, {0}}));
    EXPECT_EQ(run_op("array_write", {kArray, ten, outside[0], outside[1]}), kArray);
    EXPECT_EQ(run_op("array_add", {kArray, ten, outside[0], outside[1]}), kArray);
    EXPECT_EQ(run_op("array_clear", {kArray, outside[0], outside[1]}), kArray);
  }
}

TEST(Array, EntriesThatManyThreadsMove) {
  const std::int64_t size = 3 * kElementGrain + 5;
  const Tensor array = counted({2, size});
  const Tensor second = run_op("array_read", {array, at(1)});
  EXPECT_EQ(second.values.front(), static_cast<double>(size + 1));
  EXPECT_EQ(second.values.back(), static_cast<double>(2 * size));
  EXPECT_EQ(run_op("array_read", {run_op("array_write", {array, second, at(0)}), at(0)}), second);
}

TEST(Array, SaysWhatDoesNotFit) {
  const std::map<int, DType> index_2{{2, DType::i64}};
  EXPECT_EQ(complaint("array_read", {{3, 2}, {}}), "array_read: index 0 is f32[], expected an i64 scalar");
  EXPECT_EQ(complaint("array_read", {{3, 2}, {1}}, {}, {{1, DType::i64}}),
            "array_read: index 0 is i64[1], expected an i64 scalar");
  EXPECT_EQ(complaint("array_read", {{3}, {}, {}}), "array_read: number of indices is 2, array is f32[3]");
  EXPECT_EQ(complaint("array_write", {{3, 2}, {3}, {}}, {}, index_2),
            "array_write: value is f32[3], an entry of the array is f32[2]");
  EXPECT_EQ(complaint("array_add", {{3, 2}, {2}, {}}, {}, {{1, DType::f64}, {2, DType::i64}}),
            "array_add: value is f64[2], an entry of the array is f32[2]");
  EXPECT_EQ(complaint("array_clear", {{}, {}}, {}, {{1, DType::i64}}),
            "array_clear: number of indices is 1, array is f32[]");
}

TEST(Array, LayerMakesZerosForEverySample) {
  Builder net({.batch = 2, .dtype = DType::f64});
  const VarId x = net.input("x", {6});
  const VarId array = net.layer("array", x, {{"length", 7}, {"shape", Ints{3, 4, 5}}, {"layout", "image"}});
  EXPECT_EQ(text_of(net.program().vars[array]), "f64[7,2,4,5,3]");
  EXPECT_EQ(net.program().blocks[0].ops[0].attrs.number("value"), 0);
  EXPECT_EQ(net.shape(net.layer("array", x, {{"length", 7}})), (Shape{7, 2}));
  EXPECT_TRUE(fails_with("'length' of 'array' is 0, expected at least 1", [&] {
    net.layer("array", x, {{"length", 0}});
  }));
}

TEST(Array, LayersWriteAndReadIt) {
  Builder net({.batch = 2});
  const VarId x = net.input("x", {5});
  const VarId array = net.layer("array", x, {{"length", 7}, {"shape", Ints{5}}});
  net.layer("dropout", x, {{"p", 0.5}});
  const VarId step = find_var(net.program(), "step");  // of dropout: an i64 scalar
  EXPECT_EQ(net.layer("array_write", {array, x, step}), array);
  EXPECT_EQ(net.shape(net.layer("array_read", {array, step})), (Shape{2, 5}));
  EXPECT_TRUE(fails_with("array_read: index 0 is f32[2,5], expected an i64 scalar", [&] {
    net.layer("array_read", {array, x});
  }));
}

TEST(SequenceMask, IsOneWithinEachLength) {
  const Tensor lengths{{3}, {2, 0, 9}, DType::i32};
  EXPECT_EQ(run_op("sequence_mask", {lengths}, {{"shape", Ints{3, 3}}, {"dtype", "u8"}}),
            (Tensor{{3, 3}, {1, 0, 1, 1, 0, 1, 0, 0, 1}, DType::u8}));
}

TEST(SequenceMask, LayerFitsItsSecondInput) {
  Builder net({.batch = 4});
  const VarId lengths = net.input("lengths", {}, DType::i32), x = net.input("x", {8});
  EXPECT_EQ(text_of(net.program().vars[net.layer("sequence_mask", lengths, {{"length", 6}})]), "u8[6,4]");
  EXPECT_EQ(text_of(net.program().vars[net.layer("sequence_mask", {lengths, x}, {{"length", 6}})]), "f32[6,4,1]");
  EXPECT_TRUE(fails_with("'length' of 'sequence_mask' is -1, expected at least 1", [&] {
    net.layer("sequence_mask", lengths, {{"length", -1}});
  }));
  EXPECT_TRUE(fails_with("sequence_mask: lengths are f32[4,8], expected i32[N] or i64[N]", [&] {
    net.layer("sequence_mask", x, {{"length", 6}});
  }));
}

TEST(SequenceMask, RefusesAnotherNumberOfSamples) {
  EXPECT_EQ(complaint("sequence_mask", {{4}}, {{"shape", Ints{6, 5}}, {"dtype", "u8"}}, {{0, DType::i32}}),
            "sequence_mask: shape is [6,5], expected [T,4,1...]");
}

}  // namespace
}  // namespace lethe::testing
