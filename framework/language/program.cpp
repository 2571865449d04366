#include "framework/language/program.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "framework/error.h"

namespace lethe {
namespace {

struct DTypeFact {
  DType dtype;
  std::string_view name;
  std::int64_t bytes;
};
constexpr std::array<DTypeFact, 7> kDTypes = {{{DType::f32, "f32", 4},
                                               {DType::f64, "f64", 8},
                                               {DType::bf16, "bf16", 2},
                                               {DType::f16, "f16", 2},
                                               {DType::i32, "i32", 4},
                                               {DType::i64, "i64", 8},
                                               {DType::u8, "u8", 1}}};
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

std::int64_t bytes_of(DType dtype) { return kDTypes[static_cast<std::size_t>(dtype)].bytes; }
std::int64_t bytes_of(const Var& var) { return elements(var.shape) * bytes_of(var.dtype); }
bool is_float(DType dtype) { return dtype <= DType::f16; }
DType wide_of(DType dtype) { return dtype == DType::bf16 || dtype == DType::f16 ? DType::f32 : dtype; }

std::string_view name_of(DType dtype) { return kDTypes[static_cast<std::size_t>(dtype)].name; }
std::string_view name_of(Kind kind) { return kKinds[static_cast<std::size_t>(kind)]; }
std::string_view name_of(Role role) { return kRoles[static_cast<std::size_t>(role)]; }

DType dtype_named(std::string_view name) {
  for (const DTypeFact& fact : kDTypes)
    if (fact.name == name) return fact.dtype;
  fail("unknown dtype ", quote(name), "; known: f32, f64, bf16, f16, i32, i64, u8");
}

std::string text_of(const Shape& shape) { return text_of(Attr(shape)); }
std::string text_of(const Var& var) {
  const std::string type = std::string(name_of(var.dtype)).append(text_of(var.shape));
  return var.pitch == 0 ? type : message(type, " pitch ", var.pitch);
}

}  // namespace lethe
