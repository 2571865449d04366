#include "models/expression.h"

#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <vector>

#include "framework/did_you_mean.h"
#include "framework/error.h"
#include "framework/language/op_def.h"

namespace lethe {
namespace {

constexpr int kDeepestNesting = 100;

bool is_name_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }

template <class T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::int64_t apply_whole(std::string_view op, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  bool overflow = false;
  if (op == "+") overflow = __builtin_add_overflow(a, b, &result);
  if (op == "-") overflow = __builtin_sub_overflow(a, b, &result);
  if (op == "*") overflow = __builtin_mul_overflow(a, b, &result);
  if (op == "/" || op == "%") {
    check(b != 0, a, ' ', op, " 0");
    if (b == -1) return op == "/" ? apply_whole("-", 0, a) : 0;  // the machine's division traps on the smallest number
    const std::int64_t rest = a % b;
    check(op == "%" || rest == 0, a, " / ", b, " is not whole; write ", a, ".0 / ", b, " for a fraction");
    result = op == "/" ? a / b : rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  }
  check(!overflow, a, ' ', op, ' ', b, " is too large");
  return result;
}

double apply_real(std::string_view op, double a, double b) {
  if (op == "+") return a + b;
  if (op == "-") return a - b;
  if (op == "*") return a * b;
  check(op != "%", "% is for whole numbers, found ", a, " % ", b);
  check(b != 0, a, " / 0");
  return a / b;
}

bool compare(std::string_view op, double a, double b) {
  if (op == "==") return a == b;
  if (op == "!=") return a != b;
  if (op == "<=") return a <= b;
  if (op == ">=") return a >= b;
  return op == "<" ? a < b : a > b;
}

/// Recursive descent over the grammar in the header.
class Parser {
 public:
  Parser(std::string_view text, const Bindings& values) : text_(text), values_(values) {}

  Attr all() {
    Attr value = comparison();
    check(peek() == '\0', "unexpected ", quote(text_.substr(at_)));
    return value;
  }

 private:
  Attr comparison() {
    Attr left = sum();
    const std::string_view op = take({"==", "!=", "<=", ">=", "<", ">"});
    if (op.empty()) return left;
    return Attr(compare(op, number(left), number(sum())));
  }

  Attr sum() {
    Attr left = product();
    for (std::string_view op; !(op = take({"+", "-"})).empty();) left = apply(op, left, product());
    return left;
  }

  Attr product() {
    Attr left = factor();
    for (std::string_view op; !(op = take({"*", "/", "%"})).empty();) left = apply(op, left, factor());
    return left;
  }

  Attr factor() {
    check(++depth_ <= kDeepestNesting, "nested deeper than ", kDeepestNesting);
    const Attr value = unguarded_factor();
    --depth_;
    return value;
  }

  Attr unguarded_factor() {
    if (!take({"-"}).empty()) return apply("-", Attr(0), factor());
    if (!take({"("}).empty()) return rest_of_parentheses();
    if (!take({"sqrt("}).empty()) {
      const double of = number(rest_of_parentheses());
      check(of >= 0, "sqrt of ", of);
      return Attr(std::sqrt(of));
    }
    const char next = peek();
    check(next != '\0', "a value is missing at the end");
    if (is_name_start(next)) return named();
    check(is_digit(next) || next == '.', "unexpected ", quote(text_.substr(at_)));
    return literal();
  }

  Attr rest_of_parentheses() {
    const Attr inner = comparison();
    check(!take({")"}).empty(), "')' is missing");
    return inner;
  }

  Attr named() {
    std::size_t end = at_;
    while (end < text_.size() && (is_name_start(text_[end]) || is_digit(text_[end]))) ++end;
    const std::string name(text_.substr(at_, end - at_));
    at_ = end;
    if (const auto found = values_.find(name); found != values_.end()) return found->second;
    std::vector<std::string> known;
    for (const auto& [key, value] : values_) known.push_back(key);
    fail("unknown name ", quote(name), did_you_mean(name, known), "; known: ", known.empty() ? "none" : joined(known));
  }

  Attr literal() {
    std::size_t end = at_;
    while (end < text_.size() && (is_digit(text_[end]) || text_[end] == '.')) ++end;
    if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
      ++end;
      if (end < text_.size() && (text_[end] == '-' || text_[end] == '+')) ++end;
      while (end < text_.size() && is_digit(text_[end])) ++end;
    }
    const std::string_view word = text_.substr(at_, end - at_);
    at_ = end;
    if (const auto whole = parse_number<std::int64_t>(word)) return Attr(*whole);
    if (const auto real = parse_number<double>(word)) return Attr(*real);
    fail(quote(word), " is no number");
  }

  static Attr apply(std::string_view op, const Attr& a, const Attr& b) {
    const auto* left = std::get_if<std::int64_t>(&a.base());
    const auto* right = std::get_if<std::int64_t>(&b.base());
    if (left && right) return Attr(apply_whole(op, *left, *right));
    return Attr(apply_real(op, number(a), number(b)));
  }

  static double number(const Attr& value) {
    if (const auto* whole = std::get_if<std::int64_t>(&value.base())) return static_cast<double>(*whole);
    const auto* real = std::get_if<double>(&value.base());
    check(real, shortened(text_of(value)), " is not a number");
    return *real;
  }

  char peek() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  /// The first of `words` that comes next, taken; else "".
  std::string_view take(std::initializer_list<std::string_view> words) {
    peek();
    for (const std::string_view word : words)
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return word;
      }
    return {};
  }

  std::string_view text_;
  const Bindings& values_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Attr evaluate(std::string_view text, const Bindings& values) {
  return with_context("in " + quote(message('=', text)), [&] { return Parser(text, values).all(); });
}

Attr parse_value(const std::string& text) {
  if (text == "true" || text == "false") return Attr(text == "true");
  if (const auto whole = parse_number<std::int64_t>(text)) return Attr(*whole);
  if (const auto real = parse_number<double>(text)) return Attr(*real);
  return Attr(text);
}

}  // namespace lethe
