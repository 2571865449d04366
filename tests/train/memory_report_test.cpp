#include "train/report/memory_report.h"

#include <gtest/gtest.h>

#include "kernels/cpu/device.h"
#include "train/session/metered_device.h"

namespace lethe::testing {
namespace {

TEST(MemoryReport, BytesReadAsKibAndMib) {
  EXPECT_EQ(mebibytes(2048), "2.0 KiB");
  EXPECT_EQ(mebibytes(512 * 1024), "0.5 MiB");
  EXPECT_EQ(mebibytes(851'863'142), "812.4 MiB");
  EXPECT_EQ(mib(851'863'142), "812.40");
}

TEST(MemoryReport, PredictionNamesEveryCategoryInBytes) {
  EXPECT_EQ(predicted_line({.params = 1, .states = 2, .inputs = 3, .temps = 4, .workspace = 5}),
            "memory predicted 15 bytes (0.0 KiB): params 1 state 2 inputs 3 temps 4 workspace 5");
  EXPECT_EQ(predicted_line({.params = 15}, true),
            "memory predicted at most 15 bytes (0.0 KiB): params 15 state 0 inputs 0 temps 0 workspace 0");
}

TEST(MemoryReport, ASettingShowsWhatItSaves) {
  EXPECT_EQ(setting_line("none", 1 << 30, 1 << 30), "memory none 1024.0 MiB");
  EXPECT_EQ(setting_line("level=1", 1 << 30, 1 << 28), "memory none 1024.0 MiB -> level=1 256.0 MiB (-75 %)");
}

TEST(MemoryReport, AWrongPredictionIsSaid) {
  EXPECT_EQ(taken_line(100, 100), "memory taken 100 bytes, as predicted");
  EXPECT_EQ(taken_line(120, 100), "memory taken 120 bytes, more than the predicted 100");
  EXPECT_EQ(taken_line(80, 100), "memory taken 80 bytes, less than the predicted 100");
}

TEST(MemoryReport, LessThanABoundIsAsPredicted) {
  EXPECT_EQ(taken_line(100, 100, true), "memory taken 100 bytes, as predicted");
  EXPECT_EQ(taken_line(80, 100, true), "memory taken 80 bytes, at most 100 predicted");
  EXPECT_EQ(taken_line(120, 100, true), "memory taken 120 bytes, more than the predicted 100");
}

TEST(MeteredDevice, RemembersTheMostThatWasTakenAtOnce) {
  MeteredDevice device(open_cpu(1));
  {
    const Buffer a(device, 1000);
    const Buffer b(device, 24);
    EXPECT_EQ(device.taken(), 1024);
  }
  const Buffer c(device, 8);
  EXPECT_EQ(device.taken(), 8);
  EXPECT_EQ(device.peak(), 1024);
}

}  // namespace
}  // namespace lethe::testing
