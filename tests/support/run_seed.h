// Seeds for what a test may do in any order: it does so in many, and a failure comes again.
#pragma once
#include <gtest/gtest.h>

#include <utility>

#include "framework/error.h"
#include "framework/random.h"

namespace lethe::testing {

/// Another one for each run within a test, the same ones whenever that test runs, alone or with others.
inline std::uint64_t seed_of_next_run() {
  static const ::testing::TestInfo* last = nullptr;
  static std::uint64_t runs = 0;
  const ::testing::TestInfo* const test = ::testing::UnitTest::GetInstance()->current_test_info();
  if (std::exchange(last, test) != test) runs = 0;
  std::uint64_t seed = runs++;
  if (test)
    for (const char c : message(test->test_suite_name(), '.', test->name()))
      seed = stream_key(seed, static_cast<unsigned char>(c));
  return seed;
}

}  // namespace lethe::testing
