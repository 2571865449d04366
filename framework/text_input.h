// Text files that users write.
#pragma once
#include <istream>
#include <string>
#include <string_view>

#include "framework/error.h"

namespace lethe {

/// How many bytes the mark takes that some editors put before a text (UTF-8's byte order mark): 3 or 0.
std::size_t mark_length(std::string_view text);

/// What is left in a text file, without a mark. Fails with `code` beyond 64 MiB: a device would never end.
std::string rest_of(std::istream& in, Exit code);

/// A whole file of it. Fails with Exit::Usage if it cannot be read.
std::string read_text(const std::string& file);

/// The next line, without its end; false if there is none. Fails with Exit::Data on one of more than 64 KiB.
bool read_line(std::istream& in, std::string& line);

}  // namespace lethe
