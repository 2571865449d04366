// What memory holds at each time: the values of a planned program, their lives and places, for tables and pictures.
#pragma once
#include <array>
#include <string_view>
#include <vector>

#include "memopt/memopt.h"

namespace lethe {

enum class Category : std::uint8_t {
  Inputs,
  Params,       // and States that no update by a gradient reads: running statistics
  Frozen,       // Params that no op updates, where one updates others
  ParamCopies,  // of parameters, in the dtype that the network computes in
  ParamGrads,   // what optimizer ops take as gradients, and the parts that are summed to them
  Optimizer,    // all other States, and temps of the updates
  Activations,
  ActivationGrads,
  Workspace
};
inline constexpr std::size_t kCategories = 9;
/// "activation grads".
std::string_view name_of(Category category);

using BytesBy = std::array<std::int64_t, kCategories>;  // by Category

/// By VarId.
std::vector<Category> categories_of(const Program& program);

/// A value in memory: a var with its views, or the workspace of an op.
struct Resident {
  VarId var = kNone;  // kNone: a workspace
  OpTicks op = {};    // of a workspace: whose
  Category category = Category::Activations;
  std::int64_t bytes = 0;
  Life life = {};  // persistable and pinned ones: to the last step at most
  Tick until =
      0;  // from here its storage is the next value's: life.dies, or earlier if an op writes over what it reads
  Place place = {};  // no buffer: in the Store
  int storage = -1;  // index into Sharing::storages: equal means the same memory; -1: a workspace
};

/// Gives all values that are ever used, in order of birth.
std::vector<Resident> residents(const Planned& planned);

/// What a plan holds while the most bytes live: by category, and what is held without being alive.
struct Peak {
  Tick step = 0;
  BytesBy bytes = {};
  std::int64_t idle = 0;         // held, but dead or padding
  std::vector<Resident> living;  // largest first; where a storage is handed over the new value
  std::int64_t total() const;    // the plan's bytes
};
Peak peak_of(const Planned& planned);

/// Bytes of all vars that have memory of their own before anything is shared, by category; the largest workspace.
BytesBy bytes_of_all_vars(const Program& program, const Workspaces& workspaces);

}  // namespace lethe
