#include "framework/text_input.h"

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace lethe {

std::size_t mark_length(std::string_view text) { return text.substr(0, 3) == "\xef\xbb\xbf" ? 3 : 0; }

std::string rest_of(std::istream& in, Exit code) {
  constexpr std::size_t kMost = std::size_t{64} << 20;
  std::string text;
  std::array<char, 65536> piece;
  while (in.read(piece.data(), piece.size()), in.gcount() > 0) {
    text.append(piece.data(), static_cast<std::size_t>(in.gcount()));
    check_as(code, text.size() <= kMost, "goes on beyond 64 MiB, which is no text file");
  }
  return text.substr(mark_length(text));
}

std::string read_text(const std::string& file) {
  check(!std::filesystem::is_directory(file), "cannot read '", file, "': it is a directory");
  std::ifstream in(file, std::ios::binary);
  check(in.good(), "cannot open '", file, "': ", std::generic_category().message(errno));
  return with_context(file, [&] { return rest_of(in, Exit::Usage); });
}

bool read_line(std::istream& in, std::string& line) {
  std::array<char, 65536> text;
  in.getline(text.data(), text.size());
  check_as(Exit::Data, !in.fail() || in.gcount() + 1 < std::ssize(text), "a line goes on beyond 64 KiB");
  if (in.fail()) return false;
  line.assign(text.data(), static_cast<std::size_t>(in.gcount()) - (in.eof() ? 0 : 1));
  return true;
}

}  // namespace lethe
