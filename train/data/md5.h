// MD5 (RFC 1321), to recognise the official files of a data set: not a protection against anyone.
#pragma once
#include <cstddef>
#include <string>

namespace lethe {

/// 32 lower-case hexadecimal digits.
std::string md5_of(const void* data, std::size_t bytes);

}  // namespace lethe
