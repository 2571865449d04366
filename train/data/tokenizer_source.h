// Files of rules by which other programs make tokens: what they say is taken, or refused by name.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace lethe {

using RuleJson = nlohmann::json;  // sorted: looks keys up fast

/// Fails with Exit::Data if the file cannot be read, is no JSON, or is nested deeper than any needs; without `whole`
/// leaves out vocabulary and merges, which are most of it.
RuleJson read_rules(const std::string& file, bool whole);

/// A value in such a file, and where it stands: "pre_tokenizer/type". Valid as long as the JSON. What fails, does so
/// with Exit::Data, place and value.
class Rule {
 public:
  explicit Rule(const RuleJson& json, std::string place = "") : json_(&json), place_(std::move(place)) {}
  /// The member, null if it is missing.
  Rule operator[](const std::string& key) const;
  bool is_null() const { return json_->is_null(); }
  bool is(const RuleJson& value) const { return *json_ == value; }
  const RuleJson& json() const { return *json_; }
  /// What its "type" is; "" without one.
  std::string type() const;
  /// These fail for other values; null is `absent`.
  bool flag(bool absent) const;
  std::int64_t number(std::int64_t absent) const;  // from 0 to 2^31 - 1
  std::string text() const;
  std::vector<Rule> items() const;  // none of null
  /// The items that a sequence has under `key`; of null none, of another rule itself.
  std::vector<Rule> steps(const std::string& key) const;
  /// Fails unless it is one of these.
  void expect(std::initializer_list<RuleJson> known) const;
  /// Fails if it says more than null or false of another member than these.
  void only(std::initializer_list<const char*> keys) const;
  [[noreturn]] void refuse(const std::string& known) const;

 private:
  const RuleJson* json_;
  std::string place_;
};

}  // namespace lethe
