// One exception type, with the exit code it asks for. Context is added on the way up; main prints it once.
#pragma once
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace lethe {

/// Exit codes of `train`.
enum class Exit { Done = 0, Internal = 1, Usage = 2, Budget = 3, Data = 4, Numeric = 5, Device = 6 };

/// The text with a blank for each control character: what is quoted may have line ends, or what a terminal obeys.
std::string in_one_line(std::string text);

/// A message for people: one line, lower case, what it is about first, both values, no full stop.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, Exit code = Exit::Usage);
  Exit code;
};

/// Text of a user as messages show it: its first characters and "..." if it has more than `most`, in one line.
std::string shortened(std::string_view text, std::size_t most = 60);
/// The same between ' and '.
std::string quote(std::string_view text);
/// "a, b, c", each shortened; the first hundred of them.
std::string joined(const std::vector<std::string>& words);

/// A part of a message: text, which it points to, a character, or a number, to six digits if it is real. One type for
/// all, so that what makes and throws a message is compiled once.
class MessagePart {
 public:
  MessagePart(std::string_view text) : kind_(Kind::Text), text_(text) {}
  MessagePart(const std::string& text) : MessagePart(std::string_view(text)) {}
  MessagePart(const char* text) : MessagePart(std::string_view(text)) {}
  MessagePart(char one) : kind_(Kind::Char), char_(one) {}
  template <class N, class = std::enable_if_t<std::is_arithmetic_v<N>>>
  MessagePart(N number) {
    if constexpr (std::is_floating_point_v<N>)
      kind_ = Kind::Real, real_ = static_cast<double>(number);
    else if constexpr (std::is_signed_v<N>)
      kind_ = Kind::Integer, integer_ = number;
    else
      kind_ = Kind::Count, count_ = number;
  }
  /// What might be converted to one of these by itself is written as the caller says.
  template <class Other, class = std::enable_if_t<std::is_class_v<Other>>>
  MessagePart(const Other&) = delete;
  void append_to(std::string& all) const;

 private:
  enum class Kind { Text, Char, Integer, Count, Real } kind_;
  union {
    std::string_view text_;
    char char_;
    long long integer_;
    unsigned long long count_;
    double real_;
  };
};
using MessageParts = std::initializer_list<MessagePart>;
std::string message_of(MessageParts parts);
[[noreturn]] void fail_with(Exit code, MessageParts parts);

template <class... Parts>
std::string message(const Parts&... parts) {
  return message_of({MessagePart(parts)...});
}
template <class... Parts>
[[noreturn]] void fail_as(Exit code, const Parts&... parts) {
  fail_with(code, {MessagePart(parts)...});
}
template <class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  fail_with(Exit::Usage, {MessagePart(parts)...});
}
/// Throws unless `ok`. The message is only built when it is needed.
template <class... Parts>
void check(bool ok, const Parts&... parts) {
  if (!ok) fail_with(Exit::Usage, {MessagePart(parts)...});
}
template <class... Parts>
void check_as(Exit code, bool ok, const Parts&... parts) {
  if (!ok) fail_with(code, {MessagePart(parts)...});
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
