// An option as a row that holds all there is to know of it: name, what it takes, check, help, where its value goes, and
// facts.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "train/values.h"

namespace lethe {

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

  OptionRow* check(ValueCheck check);
  OptionRow* excludes(const char* other);  // either excludes the other
  OptionRow* needs(const char* other);
  OptionRow* required();
  OptionRow* is(const std::vector<Fact>& more);

  /// "batch": by which OptionValues know it.
  std::string key() const { return name.substr(name.find_first_not_of('-')); }
  bool has(Fact fact) const;
  bool is_excluded_by(const OptionRow& other) const;
  /// Fails, naming the option, unless it takes the text; of a list the text is an item.
  void check_text(const std::string& text) const;
  /// Checks a text and takes it; of a list each item between commas.
  void read(const std::string& text) const;
};

}  // namespace lethe
