// The options of a command, each a row that holds all there is to know of it: name, what it takes, check, help, where
// its value goes, and facts.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "framework/error.h"
#include "train/values.h"

namespace lethe {

/// Values by the options' long names: {"batch", "128"}, {"weight-decay", "1e-4"}, {"set", "n=3,w=16"}.
using OptionValues = std::map<std::string, std::string>;

/// What rules of several options ask of one.
enum class Fact : std::uint8_t {
  Kept,         // a run that goes on must find it again
  OfKind,       // of a device: means nothing to one of the other kind
  OfOptimizer,  // does not outlive a change of the optimizer
  OfNetwork,    // a run says it to whoever takes its weights
  Rounds,       // results may differ in last digits by it
  PartOfData    // is kept as a part of what --data says
};

/// An option as help, completion and the manual page list it.
struct OptionInfo {
  std::vector<std::string> names = {};  // "-h", "--help"; none of a positional
  std::string value = {};               // what it takes: "FILE", "NAME|FILE"; "" of a flag
  std::string group = {};               // "Training"; "" of a positional
  std::string help = {};
  std::vector<std::string> words = {};  // values that can be listed
  bool many = false;                    // whether it is a positional that may stand more than once

  bool takes(const std::string& kind) const;  // whether `value` lists `kind`: "NAME|FILE" lists two
  bool operator==(const OptionInfo&) const = default;
};

struct OptionRow {
  enum class Form : std::uint8_t { Value, List, MayBeEmpty, Flag, Positional };

  std::string name;  // "--batch"; of a positional a word for messages
  Form form;
  const char* type;  // what a message calls a missing value
  OptionInfo info;
  std::function<void(const std::string& text)> take;  // hands it to where it goes
  ValueCheck good = {};
  std::vector<std::string> excluded = {};
  std::optional<std::string> needed = {};
  bool is_required = false;
  std::vector<Fact> facts = {};

  OptionRow* group(const char* title);
  OptionRow* check(ValueCheck check);
  OptionRow* excludes(const char* other);  // either excludes the other
  OptionRow* needs(const char* other);
  OptionRow* required();
  OptionRow* is(std::vector<Fact> all);

  /// "batch": by which OptionValues know it.
  std::string key() const { return name.substr(name.find_first_not_of('-')); }
  bool has(Fact fact) const;
  bool is_excluded_by(const OptionRow& other) const;
  /// Fails, naming the option, unless it takes the text; of a list the text is an item.
  void check_text(const std::string& text) const;
  /// Checks a text and takes it; of a list each item between commas.
  void read(const std::string& text) const;
};

class OptionSet {
 public:
  using Form = OptionRow::Form;

  /// An option whose last value counts, with `text` for what it takes.
  template <class T>
  OptionRow* add(const char* name, T& to, const char* text, std::string help);
  OptionRow* add_read(const char* name, std::function<void(const std::string&)> take, const char* text,
                      std::string help);
  OptionRow* add_flag(const char* name, bool& to, std::string help);
  /// Its values are items with commas between, of all times that it is given.
  OptionRow* add_list(const char* name, std::vector<std::string>& to, const char* text, std::string help);
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
