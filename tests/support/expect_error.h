// Errors with words in them.
#pragma once
#include <gtest/gtest.h>

#include <string>

#include "framework/error.h"

namespace lethe::testing {

/// What `body` throws, as text; "(nothing)" if it throws no Error.
template <class Body>
std::string error_of(const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "(nothing)";
}

/// Holds if `body` throws an Error whose message has `words` in it.
template <class Body>
::testing::AssertionResult fails_with(const std::string& words, const Body& body) {
  const std::string text = error_of(body);
  if (text.find(words) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "expected an error with '" << words << "', got: " << text;
}

}  // namespace lethe::testing
