// The language: a Program is a list of vars and of blocks of ops. Values throughout: copyable and comparable;
// passes take one and give one. Ids are indices, so every analysis is a plain vector.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "framework/language/attrs.h"
#include "framework/language/dtype.h"

namespace lethe {

using VarId = int;                  // index into Program::vars
using BlockId = int;                // index into Program::blocks; block 0 is the entry
inline constexpr VarId kNone = -1;  // an input that is absent

/// Dimensions, batch first; images are [N, H, W, C]. A scalar has none.
using Shape = std::vector<std::int64_t>;

enum class Kind : std::uint8_t { Input, Param, State, Temp };  // State: momentum, running statistics, step counter
enum class Role : std::uint8_t { Forward, Backward, Optimize };

struct Var {
  std::string name;
  Shape shape = {};
  DType dtype = DType::f32;
  Kind kind = Kind::Temp;
  BlockId block = 0;
  std::int64_t pitch = 0;  // elements from row to row of the last axis, in a part of a wider var; 0: as many as it has
  bool operator==(const Var&) const = default;
};

struct Op {
  std::string type;
  std::vector<VarId> in = {}, out = {};  // an absent input is kNone; only the last slot is variadic
  Attrs attrs = {};
  std::vector<BlockId> blocks = {};
  Role role = Role::Forward;
  bool operator==(const Op&) const = default;
};

struct Block {
  BlockId parent = -1;
  std::vector<VarId> results = {};  // what a while or an if takes from it
  std::vector<Op> ops = {};
  bool operator==(const Block&) const = default;
};

/// Names of vars, so that add_var need not look at all of them. No part of a program's value: a copy begins without and
/// finds them again.
class TakenNames {
 public:
  TakenNames() = default;
  TakenNames(const TakenNames&) {}
  TakenNames(TakenNames&&) = default;
  TakenNames& operator=(const TakenNames&) { return *this = TakenNames(); }
  TakenNames& operator=(TakenNames&&) = default;
  ~TakenNames() = default;
  bool operator==(const TakenNames&) const { return true; }
  /// The name of a var that is appended next: `name`, or that with ".2", ".3"... after it if one of `vars` has it.
  std::string take(const std::vector<Var>& vars, const std::string& name);

 private:
  std::unordered_map<std::string, int> next_;  // the number that a further var of that name is tried with
  std::size_t known_ = 0;                      // vars whose names these are
};

struct Program {
  std::vector<Var> vars = {};  // whoever renames one sees to it that its name is its own
  std::vector<Block> blocks = {Block{}};
  TakenNames names = {};
  bool operator==(const Program&) const = default;
};

/// Adds a var under `name`, or `name` with ".2", ".3"... after it if that is taken.
VarId add_var(Program& program, Var var);
/// The var of that name, or kNone.
VarId find_var(const Program& program, std::string_view name);

bool is_persistable(Kind kind);             // Param or State: lives from step to step
std::int64_t elements(const Shape& shape);  // 1 for a scalar; fails from 2^40 on
std::int64_t bytes_of(const Var& var);

std::string_view name_of(Kind kind);      // "param"
std::string_view name_of(Role role);      // "forward"
std::string text_of(const Shape& shape);  // "[128,32,32,16]"
std::string text_of(const Var& var);      // "f32[128,32,32,16]", "f32[128,32,32,16] pitch 48"

}  // namespace lethe
