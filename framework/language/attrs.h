// Named settings of an op or a layer: whole numbers, numbers, text, lists of numbers.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace lethe {

using Ints = std::vector<std::int64_t>;
using Doubles = std::vector<double>;

/// Booleans are the whole numbers 0 and 1.
struct Attr : std::variant<std::int64_t, double, std::string, Ints, Doubles> {
  using Base = std::variant<std::int64_t, double, std::string, Ints, Doubles>;
  Attr() = default;
  template <class T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
  Attr(T value) : Base(static_cast<std::int64_t>(value)) {}
  Attr(double value) : Base(value) {}
  Attr(const char* value) : Base(std::string(value)) {}
  Attr(std::string value) : Base(std::move(value)) {}
  Attr(Ints value) : Base(std::move(value)) {}
  Attr(Doubles value) : Base(std::move(value)) {}  // not empty: it would read back as Ints
  const Base& base() const { return *this; }
  bool operator==(const Attr& other) const { return base() == other.base(); }
};

class Attrs {
 public:
  Attrs() = default;
  Attrs(std::initializer_list<std::pair<const std::string, Attr>> values) : values_(values) {}
  bool operator==(const Attrs&) const = default;

  bool has(const std::string& key) const { return values_.count(key) != 0; }
  void set(const std::string& key, Attr value) { values_.insert_or_assign(key, std::move(value)); }

  /// The value; fails if it is absent or of another type (a whole number is also a number).
  std::int64_t integer(const std::string& key) const;
  double number(const std::string& key) const;
  const std::string& text(const std::string& key) const;
  const Ints& ints(const std::string& key) const;
  const Doubles& doubles(const std::string& key) const;
  bool flag(const std::string& key) const { return integer(key) != 0; }
  /// The same, with a value for when it is absent.
  std::int64_t integer(const std::string& key, std::int64_t absent) const { return has(key) ? integer(key) : absent; }
  double number(const std::string& key, double absent) const { return has(key) ? number(key) : absent; }
  bool flag(const std::string& key, bool absent) const { return has(key) ? flag(key) : absent; }
  Ints ints(const std::string& key, const Ints& absent) const { return has(key) ? ints(key) : absent; }

  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }
  bool empty() const { return values_.empty(); }

 private:
  std::map<std::string, Attr> values_;
};

/// `3`, `0.5`, `"text"`, `[1,2]`, `[1.0,0.5]`; a double always has a point or an exponent and reads back to the same
/// bits.
std::string text_of(const Attr& value);

}  // namespace lethe
