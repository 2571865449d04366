// The options of a command.
#pragma once
#include <deque>
#include <map>

#include "framework/error.h"
#include "train/option_row.h"

namespace lethe {

/// Values by the options' long names: {"batch", "128"}, {"weight-decay", "1e-4"}, {"set", "n=3,w=16"}.
using OptionValues = std::map<std::string, std::string>;

class OptionSet {
 public:
  using Form = OptionRow::Form;

  /// Under which title of --help the options stand that are added from here on.
  void in(const char* group) { group_ = group; }
  /// An option whose last value counts, with `text` for what it takes.
  template <class T>
  OptionRow* add(const char* name, T& to, const char* text, std::string help);
  OptionRow* add_read(const char* name, std::function<void(const std::string&)> take, const char* text,
                      std::string help);
  OptionRow* add_flag(const char* name, bool& to, std::string help);
  OptionRow* add_flag_read(const char* name, std::function<void(bool)> take, std::string help);
  /// Its values are items with commas between, of all times that it is given.
  OptionRow* add_list(const char* name, std::function<void(const std::string& item)> take, const char* text,
                      std::string help);
  /// One that may stand without a value, which is "" then.
  OptionRow* add_maybe(const char* name, std::optional<std::string>& to, const char* text, std::string help);
  /// An argument that is no option; with `many` any number of them.
  OptionRow* add_positional(const char* name, std::vector<std::string>& to, const char* text, std::string help,
                            bool many);
  /// Is done when all values have gone where they go, in the order in which it was asked for.
  void finally(std::function<void()> step) { last_.push_back(std::move(step)); }

  const std::deque<OptionRow>& rows() const { return rows_; }
  /// Null if there is none.
  const OptionRow* find(const std::string& name) const;
  /// The same by its key.
  const OptionRow* find_key(const std::string& key) const { return find("--" + key); }
  const std::vector<std::function<void()>>& last_steps() const { return last_; }

 private:
  OptionRow* add_row(const char* name, Form form, const char* type, const char* text, std::string help,
                     std::function<void(const std::string&)> take);

  const char* group_ = "Options";
  std::deque<OptionRow> rows_ = {};
  std::vector<std::function<void()>> last_ = {};
};

/// Reads a text as a value of the field; false if it is none.
bool read_value(const std::string& text, std::string& to);
bool read_value(const std::string& text, bool& to);
bool read_value(const std::string& text, int& to);
bool read_value(const std::string& text, std::int64_t& to);
bool read_value(const std::string& text, std::uint64_t& to);
bool read_value(const std::string& text, double& to);
template <class T>
bool read_value(const std::string& text, std::optional<T>& to) {
  return read_value(text, to.emplace());
}

/// What a message calls a missing value of that type.
template <class T>
constexpr const char* type_word(const T&) {
  return std::is_same_v<T, std::string>     ? "TEXT"
         : std::is_floating_point_v<T>      ? "FLOAT"
         : std::is_same_v<T, std::uint64_t> ? "UINT"
                                            : "INT";
}
template <class T>
constexpr const char* type_word(const std::optional<T>&) {
  return type_word(T{});
}

template <class T>
OptionRow* OptionSet::add(const char* name, T& to, const char* text, std::string help) {
  const auto take = [name, &to](const std::string& value) {
    lethe::check(read_value(value, to), "Could not convert: ", name, " = ", value);
  };
  return add_row(name, Form::Value, type_word(to), text, std::move(help), take);
}

}  // namespace lethe
