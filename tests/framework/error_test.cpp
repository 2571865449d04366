#include "framework/error.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <sstream>

namespace lethe::testing {
namespace {

TEST(Message, WritesNumbersAsStreamsDo) {
  const auto streamed = [](const auto&... parts) {
    std::ostringstream out;
    (out << ... << parts);
    return out.str();
  };
  const auto expect_same = [&](const auto&... parts) { EXPECT_EQ(message(parts...), streamed(parts...)); };
  expect_same(0.1F, ' ', 1.0 / 3, ' ', 1e10, ' ', -2.5e-7, ' ', 123456789.0, ' ', 100000.0, ' ', 1e6);
  expect_same(std::numeric_limits<double>::infinity(), -std::numeric_limits<float>::infinity());
  expect_same(std::numeric_limits<std::int64_t>::min(), ',', std::numeric_limits<std::uint64_t>::max());
  expect_same(std::int16_t{-3}, true, std::string("text"), std::string_view("view"), "literal");
  EXPECT_EQ(message(), "");
}

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
