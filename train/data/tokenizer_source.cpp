#include "train/data/tokenizer_source.h"

#include <algorithm>

#include "framework/error.h"
#include "models/json_source.h"
#include "train/data/data_files.h"

namespace lethe {

RuleJson read_rules(const std::string& file, bool whole) {
  const FileBytes bytes = read_file(file);
  bool deep = false;
  const auto keeps = [&](int depth, RuleJson::parse_event_t event, RuleJson& value) {
    deep |= depth > kDeepestJson;
    return !deep && (whole || !(event == RuleJson::parse_event_t::key && (value == "vocab" || value == "merges")));
  };
  RuleJson json = RuleJson::parse(bytes.begin(), bytes.end(), keeps, false);
  check_as(Exit::Data, !json.is_discarded() && !deep, file, ": is no JSON");
  return json;
}

Rule Rule::operator[](const std::string& key) const {
  static const RuleJson none;
  const bool has = json_->is_object() && json_->contains(key);
  return Rule(has ? json_->at(key) : none, place_.empty() ? key : place_ + '/' + key);
}

std::string Rule::type() const {
  const Rule type = (*this)["type"];
  return type.is_null() ? "" : type.text();
}

bool Rule::flag(bool absent) const {
  if (is_null()) return absent;
  if (!json_->is_boolean()) refuse("true, false");
  return json_->get<bool>();
}

std::int64_t Rule::number(std::int64_t absent) const {
  if (is_null()) return absent;
  if (!json_->is_number_unsigned() || json_->get<std::uint64_t>() > INT32_MAX) refuse("a number from 0 on");
  return json_->get<std::int64_t>();
}

std::string Rule::text() const {
  if (!json_->is_string()) refuse("a text");
  return json_->get<std::string>();
}

std::vector<Rule> Rule::items() const {
  if (!is_null() && !json_->is_array()) refuse("a list");
  std::vector<Rule> rules;
  for (const RuleJson& item : *json_) rules.emplace_back(item, message(place_, '/', rules.size()));
  return rules;
}

std::vector<Rule> Rule::steps(const std::string& key) const {
  if (is_null()) return {};
  return type() == "Sequence" ? (*this)[key].items() : std::vector<Rule>{*this};
}

void Rule::expect(std::initializer_list<RuleJson> known) const {
  if (std::ranges::count(known, *json_) > 0) return;
  std::vector<std::string> words;
  for (const RuleJson& each : known) words.push_back(each.dump());
  refuse(joined(words));
}

void Rule::only(std::initializer_list<const char*> keys) const {
  if (!json_->is_object()) refuse("an object");
  for (const auto& [key, value] : json_->items())
    if (std::ranges::count(keys, key) == 0 && !value.is_null() && value != false)
      (*this)[key].refuse(joined({keys.begin(), keys.end()}));
}

void Rule::refuse(const std::string& known) const {
  const std::string what = is_null() ? "missing" : shortened(json_->dump());
  fail_as(Exit::Data, place_.empty() ? "the file" : place_, " is ", what, ", which is not read (known: ", known, ")");
}

}  // namespace lethe
