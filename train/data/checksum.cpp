#include "train/data/checksum.h"

#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "framework/error.h"

namespace lethe {

std::uint32_t checksum_of(std::span<const std::byte> bytes, std::uint32_t before) {
  return static_cast<std::uint32_t>(
      crc32_z(before, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

std::uint32_t checksum_of(std::string_view text, std::uint32_t before) {
  return checksum_of(std::as_bytes(std::span(text)), before);
}

std::uint32_t checksum_of_file(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  check_as(Exit::Data, in.good() && std::filesystem::is_regular_file(file), file, ": cannot be opened as a file");
  std::vector<std::byte> piece(std::size_t{1} << 20);
  std::uint32_t checksum = 0;
  do {
    in.read(reinterpret_cast<char*>(piece.data()), std::ssize(piece));
    checksum = checksum_of(std::span(piece).first(static_cast<std::size_t>(in.gcount())), checksum);
  } while (in);
  check_as(Exit::Data, in.eof(), file, ": cannot be read");
  return checksum;
}

}  // namespace lethe
