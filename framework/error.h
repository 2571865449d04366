// One exception type, with the exit code it asks for. Context is added on the way up; main prints it once.
#pragma once
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace lethe {

/// Exit codes of `train`.
enum class Exit { Done = 0, Internal = 1, Usage = 2, Budget = 3, Data = 4, Numeric = 5, Device = 6 };

/// The text with a blank for each control character. What messages quote from files may have line ends in it, or what a
/// terminal obeys.
inline std::string in_one_line(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 32 || c == 127) c = ' ';
  return text;
}

/// A message for people: one line, lower case, what it is about first, both values, no full stop.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, Exit code = Exit::Usage)
      : std::runtime_error(in_one_line(message)), code(code) {}
  Exit code;
};

/// Text of a user as messages show it: its first characters and "..." if it has more than `most`, in one line.
std::string shortened(std::string_view text, std::size_t most = 60);
/// The same between ' and '.
std::string quote(std::string_view text);
/// "a, b, c", each shortened; the first hundred of them.
std::string joined(const std::vector<std::string>& words);

template <class... Parts>
std::string message(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

template <class... Parts>
[[noreturn]] void fail_as(Exit code, const Parts&... parts) {
  throw Error(message(parts...), code);
}
template <class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  fail_as(Exit::Usage, parts...);
}
/// Throws unless `ok`. The message is only built when it is needed.
template <class... Parts>
void check(bool ok, const Parts&... parts) {
  if (!ok) fail_as(Exit::Usage, parts...);
}
template <class... Parts>
void check_as(Exit code, bool ok, const Parts&... parts) {
  if (!ok) fail_as(code, parts...);
}

/// Runs `body`; an Error that leaves it gets `where` and a colon in front and keeps its exit code.
template <class Body>
auto with_context(const std::string& where, const Body& body) -> decltype(body()) {
  try {
    return body();
  } catch (const Error& error) {
    throw Error(where + ": " + error.what(), error.code);
  }
}

}  // namespace lethe
