#include "models/json_source.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <unordered_set>

#include "framework/did_you_mean.h"
#include "framework/language/op_def.h"
#include "framework/text_input.h"

namespace lethe {
namespace {

constexpr std::size_t kLongestReason = 200;  // characters of a message of the JSON parser

/// Reads a text without keeping it: says where and why it cannot be read, be it for its syntax, for a number that a
/// double does not hold or for its nesting.
class Reading : public nlohmann::json_sax<Json> {
 public:
  /// What is wrong, and at which byte; "" for a text that can be read.
  std::string reason;
  std::size_t offset = 0;

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool key(string_t&) override { return true; }
  bool start_object(std::size_t) override { return deeper(); }
  bool start_array(std::size_t) override { return deeper(); }
  bool end_object() override { return --depth_, true; }
  bool end_array() override { return --depth_, true; }

  bool parse_error(std::size_t position, const std::string& token, const nlohmann::detail::exception& error) override {
    const bool number = dynamic_cast<const Json::out_of_range*>(&error) != nullptr;
    reason = number ? message("the number ", shortened(token), " is too large") : syntax_of(error.what());
    offset = number ? position - token.size() : std::max<std::size_t>(position, 1) - 1;
    return false;
  }

 private:
  /// The parser's message without its own tag and position: "... column 5: syntax error ..." -> "syntax error ...".
  static std::string syntax_of(const std::string& text) {
    const std::size_t colon = text.find(": ");
    return shortened(colon == std::string::npos ? text : text.substr(colon + 2), kLongestReason);
  }

  bool deeper() { return ++depth_ <= kDeepestJson + 1; }  // the scan below says where

  int depth_ = 0;
};

}  // namespace

/// Walks the text, which is known to parse, and notes where each value of the parsed document stands. The parser keeps
/// the last of members with one name, so until the second one is met the text may say other things than the value.
class PositionScan {
 public:
  explicit PositionScan(JsonSource& source) : source_(source), text_(source.text_) {}

  /// A value and what became of it, which may be null; `key` is where its name stands.
  void value(const Json* node, std::optional<std::size_t> key, int depth) {
    skip_blank();
    if (node) source_.offsets_[node] = {key.value_or(at_), at_};
    if (depth > kDeepestJson) fail(at_, "nested deeper than ", kDeepestJson);
    if (text_[at_] == '{') return object(node, depth);
    if (text_[at_] == '[') return array(node, depth);
    if (text_[at_] == '"') return skip_string();
    while (at_ < text_.size() && !std::strchr(",]} \t\r\n/", text_[at_])) ++at_;
  }

 private:
  void object(const Json* node, int depth) {
    std::unordered_set<std::string> seen;
    std::optional<Json::const_iterator> next;  // member, in the order of the file
    if (node && node->is_object()) next = node->begin();
    for (++at_; skip_blank(), text_[at_] != '}';) {
      const std::size_t start = at_;
      skip_string();
      const std::string key = Json::parse(text_.substr(start, at_ - start));
      if (!seen.insert(key).second) fail(start, "key ", quote(key), " stands twice");
      skip_to_value(':');
      const bool known = next && *next != node->end();
      value(known ? &(*next)++.value() : nullptr, start, depth + 1);
      skip_to_value(',');
    }
    ++at_;
  }

  void array(const Json* node, int depth) {
    std::size_t index = 0;
    for (++at_; skip_blank(), text_[at_] != ']'; ++index) {
      value(node && node->is_array() && index < node->size() ? &node->at(index) : nullptr, std::nullopt, depth + 1);
      skip_to_value(',');
    }
    ++at_;
  }

  /// Past blanks and, if it comes next, the separator.
  void skip_to_value(char separator) {
    skip_blank();
    if (text_[at_] == separator) ++at_;
  }

  void skip_string() {
    for (++at_; text_[at_] != '"'; ++at_)
      if (text_[at_] == '\\') ++at_;
    ++at_;
  }

  void skip_blank() {
    for (;;) {
      while (at_ < text_.size() && std::strchr(" \t\r\n", text_[at_])) ++at_;
      if (text_.compare(at_, 2, "//") == 0) {  // to where the parser sees the line's end
        at_ = std::min(text_.find_first_of(std::string_view("\n\r\0", 3), at_), text_.size());
      } else if (text_.compare(at_, 2, "/*") == 0) {
        at_ = text_.find("*/", at_ + 2) + 2;
      } else {
        return;
      }
    }
  }

  template <class... Parts>
  [[noreturn]] void fail(std::size_t offset, const Parts&... parts) const {
    throw SourceError(source_.where(offset), "", message(parts...));
  }

  JsonSource& source_;
  const std::string& text_;
  std::size_t at_ = 0;
};

Json parse_json(const std::string& text) {
  bool deep = false;
  const auto note_depth = [&](int depth, Json::parse_event_t, Json&) {
    deep |= depth > kDeepestJson;
    return !deep;
  };
  Json json = Json::parse(text, note_depth, false);
  return deep ? Json(Json::value_t::discarded) : json;
}

JsonSource::JsonSource(const std::string& file) : JsonSource(file, read_text(file)) {}

JsonSource::JsonSource(std::string file, std::string text) : file_(std::move(file)), text_(std::move(text)) {
  text_.erase(0, mark_length(text_));  // which is no character
  Reading reading;
  if (Json::sax_parse(text_, &reading, Json::input_format_t::json, true, true))
    root_ = Json::parse(text_, nullptr, true, true);
  else if (!reading.reason.empty())
    throw SourceError(where(reading.offset), "", reading.reason);
  PositionScan(*this).value(&root_, std::nullopt, 0);
}

std::string JsonSource::where(std::size_t offset) const {
  const std::string_view before = std::string_view(text_).substr(0, offset);
  const std::size_t newline = before.rfind('\n');
  const std::string_view line = before.substr(newline == std::string_view::npos ? 0 : newline + 1);
  const auto is_character = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };  // of UTF-8
  return message(file_, ':', 1 + std::count(before.begin(), before.end(), '\n'), ':',
                 1 + std::count_if(line.begin(), line.end(), is_character));
}

JsonNode JsonSource::root() const { return {*this, root_}; }

JsonNode JsonNode::at(const std::string& key) const {
  if (!value_->is_object()) fail("found ", shown(), ", expected an object with ", quote(key));
  const auto found = value_->find(key);
  if (found == value_->end()) fail(quote(key), " is missing");
  return {*source_, *found};
}

std::vector<std::pair<std::string, JsonNode>> JsonNode::members() const {
  if (!value_->is_object()) fail("found ", shown(), ", expected an object {...}");
  std::vector<std::pair<std::string, JsonNode>> all;
  for (const auto& [key, value] : value_->items()) all.emplace_back(key, JsonNode(*source_, value));
  return all;
}

std::vector<JsonNode> JsonNode::items() const {
  if (!value_->is_array()) fail("found ", shown(), ", expected a list [...]");
  std::vector<JsonNode> all;
  for (const Json& item : *value_) all.emplace_back(*source_, item);
  return all;
}

const std::string& JsonNode::text() const {
  if (!value_->is_string()) fail("found ", shown(), ", expected text");
  return value_->get_ref<const std::string&>();
}

void JsonNode::check_keys(const std::string& what, const std::vector<std::string>& known) const {
  for (const auto& [key, value] : members())
    if (std::find(known.begin(), known.end(), key) == known.end())
      value.fail_at_key("unknown key ", quote(key), " in ", what, key_meant(key, known), "; keys: ", joined(known));
}

std::string JsonNode::shown() const { return shortened(value_->dump(), 40); }

}  // namespace lethe
