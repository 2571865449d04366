// A JSON file that remembers where every value stands, so that each complaint can point at line and column.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "framework/error.h"

namespace lethe {

using Json = nlohmann::ordered_json;  // members in the order of the file: the first input is where the layers start

/// Most lists and objects in one another. No file needs more, and the library walks values by calls in calls.
inline constexpr int kDeepestJson = 100;
/// For files that are not complained of place by place: a discarded value if the text is no JSON or nested deeper.
Json parse_json(const std::string& text);

/// A complaint about a place in a file; what() is "FILE:LINE:COLUMN: PATH: TEXT". The path is that of the layer, empty
/// outside of layers.
struct SourceError : Error {
  SourceError(const std::string& where, const std::string& path, const std::string& text)
      : Error(message(where, ": ", shortened(path, 200), path.empty() ? "" : ": ", text)),
        where(where),
        path(path),
        text(text) {}
  std::string where, path, text;
};

class JsonNode;

class JsonSource {
 public:
  /// Reads a file. Comments (// and /* */) are allowed. Throws SourceError for wrong syntax, a key that stands twice in
  /// one object, and nesting deeper than kDeepestJson.
  explicit JsonSource(const std::string& file);
  /// The same for text that is already there; `file` is what messages call it.
  JsonSource(std::string file, std::string text);
  JsonSource(const JsonSource&) = delete;
  JsonSource& operator=(const JsonSource&) = delete;

  JsonNode root() const;
  const std::string& file() const { return file_; }

 private:
  friend class JsonNode;
  friend class PositionScan;
  struct Offsets {
    std::size_t key, value;  // bytes into the text; key: of the member's name, for array items that of the value
  };

  /// "FILE:LINE:COLUMN" of a byte; both count from 1, columns in characters.
  std::string where(std::size_t offset) const;

  std::string file_, text_;
  Json root_;
  std::unordered_map<const Json*, Offsets> offsets_;
};

/// A value in a source: cheap to copy, valid as long as the source.
class JsonNode {
 public:
  JsonNode(const JsonSource& source, const Json& value) : source_(&source), value_(&value) {}

  const Json& json() const { return *value_; }
  bool has(const std::string& key) const { return value_->contains(key); }
  /// A member; fails if it is missing.
  JsonNode at(const std::string& key) const;
  /// Members of an object, items of an array, in the order of the file; fails if it is none.
  std::vector<std::pair<std::string, JsonNode>> members() const;
  std::vector<JsonNode> items() const;
  /// The text that it is; fails if it is none.
  const std::string& text() const;

  /// "FILE:LINE:COLUMN" of this value.
  std::string where() const { return source_->where(offsets().value); }
  /// Fails at this value.
  template <class... Parts>
  [[noreturn]] void fail(const Parts&... parts) const {
    throw SourceError(where(), "", message(parts...));
  }
  /// Fails at this value's name in its object.
  template <class... Parts>
  [[noreturn]] void fail_at_key(const Parts&... parts) const {
    throw SourceError(source_->where(offsets().key), "", message(parts...));
  }
  /// Fails unless this is an object that has no other members than `known`; `what` says whose keys they are.
  void check_keys(const std::string& what, const std::vector<std::string>& known) const;
  /// The value as it would be written, shortened for a message.
  std::string shown() const;

 private:
  const JsonSource::Offsets& offsets() const { return source_->offsets_.at(value_); }

  const JsonSource* source_;
  const Json* value_;
};

}  // namespace lethe
