// The reader of the text form: one line a var, a block's head or an op.
#include <algorithm>
#include <charconv>
#include <iterator>
#include <unordered_map>

#include "framework/error.h"
#include "framework/language/text.h"

namespace lethe {
namespace {

/// Words and marks of one line.
class Line {
 public:
  explicit Line(std::string_view text) : rest_(text) { skip_space(); }

  bool done() const { return rest_.empty(); }
  char peek() const { return rest_.empty() ? '\0' : rest_.front(); }
  bool take(char mark) {
    if (peek() != mark) return false;
    drop(1);
    return true;
  }
  void expect(char mark) { check(take(mark), "expected '", mark, "' at '", rest_, "'"); }
  bool take(std::string_view word) {
    if (rest_.substr(0, word.size()) != word || (rest_.size() > word.size() && !ends_word(rest_[word.size()])))
      return false;
    drop(word.size());
    return true;
  }
  std::string word() {
    std::size_t size = 0;
    while (size < rest_.size() && !ends_word(rest_[size])) ++size;
    check(size > 0, "expected a name at '", rest_, "'");
    std::string word(rest_.substr(0, size));
    drop(size);
    return word;
  }
  std::string quoted() {
    std::string text;
    std::size_t at = 1;
    for (; at < rest_.size() && rest_[at] != '"'; ++at) {
      if (rest_[at] == '\\') ++at;
      if (at < rest_.size()) text += rest_[at];
    }
    check(at < rest_.size(), "text without an end");
    drop(at + 1);
    return text;
  }

 private:
  static bool ends_word(char c) { return std::string_view(" ,(){}[]=\"").find(c) != std::string_view::npos; }
  void skip_space() {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
  }
  void drop(std::size_t count) {
    rest_.remove_prefix(count);
    skip_space();
  }
  std::string_view rest_;
};

template <class T>
T number_of(const std::string& word) {
  T value{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  check(error == std::errc() && end == word.data() + word.size(), "'", word, "' is no number");
  return value;
}

class Parser {
 public:
  Program parse(std::string_view text) {
    program_.blocks.clear();
    for (int number = 1; !text.empty(); ++number) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      with_context(message("line ", number), [&] { read_line(Line(text.substr(0, end))); });
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    check(!in_block_, "the last block has no end");
    check(!program_.blocks.empty(), "there is no block");
    return std::move(program_);
  }

 private:
  void read_line(Line line) {
    if (line.done()) return;
    if (in_block_ && line.take('}'))
      in_block_ = false;
    else if (in_block_)
      read_op(line);
    else if (line.take("block"))
      read_block(line);
    else
      read_var(line);
    check(line.done(), "something is left at the end of the line");
  }

  void read_var(Line& line) {
    const std::string kind = line.word();
    Var var{.name = line.word()};
    var.kind = enum_named<Kind>(kind, {Kind::Input, Kind::Param, Kind::State, Kind::Temp}, "kind of var");
    var.dtype = dtype_named(line.word());
    var.shape = ints(line);
    if (line.take("pitch")) var.pitch = number_of<std::int64_t>(line.word());
    if (line.take("block")) var.block = number_of<int>(line.word());
    check(ids_.emplace(var.name, static_cast<VarId>(program_.vars.size())).second, "'", var.name,
          "' is declared twice");
    program_.vars.push_back(std::move(var));
  }

  void read_block(Line& line) {
    check(number_of<std::size_t>(line.word()) == program_.blocks.size(), "expected block ", program_.blocks.size());
    Block block;
    if (line.take("parent")) block.parent = number_of<int>(line.word());
    if (line.take("results")) block.results = vars(line);
    line.expect('{');
    program_.blocks.push_back(std::move(block));
    in_block_ = true;
  }

  void read_op(Line& line) {
    Op op;
    std::vector<std::string> words{line.word()};
    while (line.take(',')) words.push_back(line.word());
    if (line.take('=')) {
      for (const std::string& word : words) op.out.push_back(var(word));
      words = {line.word()};
    }
    check(words.size() == 1, "expected '='");
    op.type = words.front();
    op.in = vars(line);
    if (line.take('{')) read_attrs(line, op.attrs);
    while (line.take("block")) op.blocks.push_back(number_of<int>(line.word()));
    if (!line.done()) op.role = enum_named<Role>(line.word(), {Role::Forward, Role::Backward, Role::Optimize}, "role");
    program_.blocks.back().ops.push_back(std::move(op));
  }

  static void read_attrs(Line& line, Attrs& attrs) {
    do {
      const std::string key = line.word();
      line.expect('=');
      attrs.set(key, value(line));
    } while (line.take(','));
    line.expect('}');
  }

  static Attr value(Line& line) {
    if (line.peek() == '"') return line.quoted();
    if (line.peek() == '[') return list(line);
    const std::string word = line.word();
    if (is_whole(word)) return number_of<std::int64_t>(word);
    return number_of<double>(word);
  }

  static bool is_whole(const std::string& word) { return word.find_first_not_of("-0123456789") == std::string::npos; }

  static Attr list(Line& line) {
    const std::vector<std::string> items = words(line);
    if (std::all_of(items.begin(), items.end(), is_whole)) return numbers_of<std::int64_t>(items);
    return numbers_of<double>(items);
  }

  static Ints ints(Line& line) { return numbers_of<std::int64_t>(words(line)); }

  static std::vector<std::string> words(Line& line) {
    std::vector<std::string> words;
    line.expect('[');
    while (!line.take(']')) {
      words.push_back(line.word());
      if (line.peek() != ']') line.expect(',');
    }
    return words;
  }

  template <class T>
  static std::vector<T> numbers_of(const std::vector<std::string>& words) {
    std::vector<T> values;
    std::transform(words.begin(), words.end(), std::back_inserter(values), number_of<T>);
    return values;
  }

  std::vector<VarId> vars(Line& line) const {
    std::vector<VarId> ids;
    line.expect('(');
    while (!line.take(')')) {
      const std::string word = line.word();
      ids.push_back(word == "_" ? kNone : var(word));
      if (line.peek() != ')') line.expect(',');
    }
    return ids;
  }

  VarId var(const std::string& name) const {
    const auto found = ids_.find(name);
    check(found != ids_.end(), "no var named '", name, "'");
    return found->second;
  }

  template <class Enum>
  static Enum enum_named(const std::string& word, std::initializer_list<Enum> all, const char* what) {
    for (const Enum each : all)
      if (name_of(each) == word) return each;
    fail("'", word, "' is no ", what);
  }

  Program program_;
  std::unordered_map<std::string, VarId> ids_;
  bool in_block_ = false;
};

}  // namespace

Program parse_program(std::string_view text) { return Parser().parse(text); }

}  // namespace lethe
