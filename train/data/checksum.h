// CRC-32, by which files are told from damaged ones, MD5, by which official files of data sets are recognised, neither
// of which protects against anyone; and SHA-256, by which others know a file, too.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace lethe {

/// The CRC-32 of bytes that follow those of which it is `before`.
std::uint32_t checksum_of(std::span<const std::byte> bytes, std::uint32_t before = 0);
std::uint32_t checksum_of(std::string_view text, std::uint32_t before = 0);
/// The same of a whole file, read a piece at a time. Fails with Exit::Data if it cannot be read.
std::uint32_t checksum_of_file(const std::string& file);

/// The MD5 (RFC 1321) of bytes: 32 lower-case hexadecimal digits.
std::string md5_of(const void* data, std::size_t bytes);

/// The SHA-256 (FIPS 180-4) of bytes, 64 lower-case hexadecimal digits, as `sha256sum` prints it.
std::string sha256_of(std::string_view text);
/// The same of a whole file, as checksum_of_file() reads one.
std::string sha256_of_file(const std::string& file);

}  // namespace lethe
