#include "train/data/json_lines.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "framework/did_you_mean.h"
#include "framework/error.h"
#include "train/data/data_files.h"

namespace lethe {
namespace {

/// Takes one line.
class TextLine final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit TextLine(std::string place) : place_(std::move(place)) {}

  bool start_object(std::size_t) override { return depth_++ == 0 || complain(); }
  bool end_object() override { return true; }
  bool key(std::string& key) override {
    if (key == "messages")
      fail_as(Exit::Data, place_,
              ": messages become a text by a model's chat template, and none is applied; write \"prompt\" and "
              "\"completion\" as the template would put them");
    value_ = key == "prompt" ? &prompt_ : key == "completion" ? &completion_ : key == "text" ? &text_ : nullptr;
    check_as(Exit::Data, value_, place_, ": unknown key ", quote(key),
             did_you_mean(key, {"prompt", "completion", "text"}), "; known: prompt, completion, text");
    check_as(Exit::Data, !value_->has_value(), place_, ": ", quote(key), " stands twice");
    return true;
  }
  bool string(std::string& text) override {
    if (!value_) complain();
    *value_ = text;
    return true;
  }
  bool null() override { return complain(); }
  bool boolean(bool) override { return complain(); }
  bool number_integer(std::int64_t) override { return complain(); }
  bool number_unsigned(std::uint64_t) override { return complain(); }
  bool number_float(double, const std::string&) override { return complain(); }
  bool binary(nlohmann::json::binary_t&) override { return complain(); }
  bool start_array(std::size_t) override { return complain(); }
  bool end_array() override { return complain(); }
  bool parse_error(std::size_t byte, const std::string&, const nlohmann::json::exception&) override {
    fail_as(Exit::Data, place_, ": is no JSON at byte ", byte);
  }

  TuningText taken(std::int64_t line) const {
    if (text_ ? prompt_ || completion_ : !prompt_ || !completion_) complain();
    const std::string& learned = text_ ? *text_ : *completion_;
    check_as(Exit::Data, !learned.empty(), place_, ": the ", text_ ? "text" : "completion", " is empty");
    return {.prompt = prompt_.value_or(""), .completion = learned, .line = line};
  }

 private:
  [[noreturn]] bool complain() const {
    fail_as(Exit::Data, place_, R"(: expected {"prompt": TEXT, "completion": TEXT} or {"text": TEXT})");
  }

  const std::string place_;
  std::optional<std::string> prompt_ = {}, completion_ = {}, text_ = {};
  std::optional<std::string>* value_ = nullptr;  // of the key that was read last
  int depth_ = 0;
};

}  // namespace

std::vector<TuningText> read_json_lines(const std::string& file) {
  const FileBytes bytes = read_text_file(file);
  std::string_view left(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::vector<TuningText> texts;
  for (std::int64_t line = 1; !left.empty(); ++line) {
    const std::size_t end = std::min(left.find('\n'), left.size());
    const std::string_view own = left.substr(0, end);
    left.remove_prefix(std::min(end + 1, left.size()));
    if (own.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    TextLine reader(message(file, ':', line));
    nlohmann::json::sax_parse(own.begin(), own.end(), &reader);
    texts.push_back(reader.taken(line));
  }
  check_as(Exit::Data, !texts.empty(), file, ": has no text");
  return texts;
}

}  // namespace lethe
