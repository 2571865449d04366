// Files that what the program says is held to, byte for byte; LETHE_WRITE_GOLDEN=1 writes them.
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/train/train_process.h"

namespace lethe::testing {

inline const std::string kGoldenFiles = LETHE_SOURCE_DIR "/tests/train/golden/";

inline void expect_golden(const std::string& name, const std::string& text) {
  if (std::getenv("LETHE_WRITE_GOLDEN")) std::ofstream(kGoldenFiles + name) << text;
  std::istringstream now(text), before(bytes_in(kGoldenFiles + name));
  for (int number = 1; now && before; ++number) {
    std::string line, expected;
    std::getline(now, line), std::getline(before, expected);
    ASSERT_EQ(line, expected) << "line " << number << " of golden/" << name;
  }
  EXPECT_TRUE(text == bytes_in(kGoldenFiles + name)) << "golden/" << name << ": one ends before the other";
}

}  // namespace lethe::testing
