#include "train/option_row.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "framework/error.h"

namespace lethe {

bool OptionInfo::takes(const std::string& kind) const {
  std::istringstream kinds(value);
  for (std::string one; std::getline(kinds, one, '|');)
    if (one == kind) return true;
  return false;
}

OptionRow* OptionRow::check(ValueCheck check) {
  info.words = check.words;
  good = std::move(check);
  return this;
}

OptionRow* OptionRow::excludes(const char* other) {
  excluded.emplace_back(other);
  return this;
}

OptionRow* OptionRow::needs(const char* other) {
  lethe::check(!needed, name, " needs ", needed.value_or(""), " already");
  needed = other;
  return this;
}

OptionRow* OptionRow::required() {
  is_required = true;
  return this;
}

OptionRow* OptionRow::is(const std::vector<Fact>& more) {
  facts.insert(facts.end(), more.begin(), more.end());
  return this;
}

bool OptionRow::has(Fact fact) const { return std::ranges::count(facts, fact) > 0; }

bool OptionRow::is_excluded_by(const OptionRow& other) const {
  return std::ranges::count(excluded, other.name) > 0 || std::ranges::count(other.excluded, name) > 0;
}

void OptionRow::check_text(const std::string& text) const {
  if (!good.complaint || (form == Form::MayBeEmpty && text.empty())) return;
  if (const std::string complaint = good.complaint(text); !complaint.empty()) fail(name, ": ", complaint);
}

void OptionRow::read(const std::string& text) const {
  const auto read_one = [&](const std::string& one) {
    check_text(one);
    take(one);
  };
  if (form != Form::List) return read_one(text);
  std::istringstream items(text);
  for (std::string item; std::getline(items, item, ',');)
    if (!item.empty()) read_one(item);
}

}  // namespace lethe
