// Memory of the host in amounts that it may not have.
#pragma once
#include <cstdint>
#include <new>
#include <string>

#include "framework/error.h"

namespace lethe {

/// Does `body`, which takes `bytes` bytes of the host for `what`; fails with Exit::Device and both if there are none.
template <class Body>
auto taking(const std::string& what, std::int64_t bytes, const Body& body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    fail_as(Exit::Device, what, ": the machine has no memory for ", bytes, " bytes");
  }
}

}  // namespace lethe
