#include "framework/language/program.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "framework/error.h"
#include "framework/language/block_formats.h"

namespace lethe {
namespace {

constexpr std::int64_t kMostElements = std::int64_t{1} << 40;  // so that the bytes of a million vars can be added
constexpr std::size_t kMostAxes = 32;
constexpr std::string_view kKinds[] = {"input", "param", "state", "temp"};
constexpr std::string_view kRoles[] = {"forward", "backward", "optimize"};

}  // namespace

std::string TakenNames::take(const std::vector<Var>& vars, const std::string& name) {
  constexpr int kFirst = 2;
  if (known_ > vars.size()) *this = TakenNames();
  for (; known_ < vars.size(); ++known_) next_.emplace(vars[known_].name, kFirst);
  ++known_;
  const auto [found, is_new] = next_.emplace(name, kFirst);
  if (is_new) return name;
  for (int& next = found->second;;)
    if (const std::string numbered = name + '.' + std::to_string(next++); next_.emplace(numbered, kFirst).second)
      return numbered;
}

VarId add_var(Program& program, Var var) {
  with_context(var.name, [&] { return elements(var.shape); });  // sizes that no machine has end here
  var.name = program.names.take(program.vars, var.name);
  program.vars.push_back(std::move(var));
  return static_cast<VarId>(program.vars.size()) - 1;
}

VarId find_var(const Program& program, std::string_view name) {
  const auto found =
      std::find_if(program.vars.begin(), program.vars.end(), [&](const Var& v) { return v.name == name; });
  return found == program.vars.end() ? kNone : static_cast<VarId>(std::distance(program.vars.begin(), found));
}

bool is_persistable(Kind kind) { return kind == Kind::Param || kind == Kind::State; }

std::int64_t elements(const Shape& shape) {
  // Not by check(): it is asked in every step, and the text of a shape takes memory.
  if (shape.size() > kMostAxes)
    fail(shortened(text_of(shape)), " has ", shape.size(), " axes, expected at most ", kMostAxes);
  std::int64_t count = 1;
  for (const std::int64_t size : shape) {
    if (size < 0) fail(shortened(text_of(shape)), " has a negative size");
    if (__builtin_mul_overflow(count, size, &count) || count >= kMostElements)
      fail(shortened(text_of(shape)), " has too many elements: more than 2^40");
  }
  return count;
}

std::int64_t bytes_of(const Var& var) { return bytes_of(var.dtype, var.shape); }
std::string_view name_of(Kind kind) { return kKinds[static_cast<std::size_t>(kind)]; }
std::string_view name_of(Role role) { return kRoles[static_cast<std::size_t>(role)]; }

std::string text_of(const Shape& shape) { return text_of(Attr(shape)); }
std::string text_of(const Var& var) {
  const std::string type = std::string(name_of(var.dtype)).append(text_of(var.shape));
  return var.pitch == 0 ? type : message(type, " pitch ", var.pitch);
}

}  // namespace lethe
