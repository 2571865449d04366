#include "framework/error.h"

#include <gtest/gtest.h>

namespace lethe::testing {
namespace {

TEST(Error, IsOneLineWhateverItQuotes) {
  try {
    with_context("a\rfile", [] { fail("unknown column '", "x\ny\x1b[2J\x7f", "', täglich"); });
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "a file: unknown column 'x y [2J ', täglich");
  }
}

}  // namespace
}  // namespace lethe::testing
