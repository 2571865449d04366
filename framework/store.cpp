#include "framework/store.h"

#include "framework/error.h"
#include "framework/host_memory.h"

namespace lethe {
namespace {

/// Zeros.
std::vector<std::byte> host_copy(const Var& var) {
  return taking(message("a copy of '", var.name, "'"), bytes_of(var),
                [&] { return std::vector<std::byte>(static_cast<std::size_t>(bytes_of(var))); });
}

}  // namespace

void Store::add(const Program& program) {
  for (const Var& var : program.vars) {
    if (!is_persistable(var.kind)) continue;
    const auto found = entries_.find(var.name);
    if (found == entries_.end()) {
      Entry added{var, with_context(message("'", var.name, "'"), [&] { return Buffer(device_, bytes_of(var)); })};
      const std::vector<std::byte> zeros = host_copy(var);
      device_.copy_in(added.memory.data(), zeros.data(), bytes_of(var));
      entries_.emplace(var.name, std::move(added));
      continue;
    }
    const Var& known = found->second.var;
    check(known.shape == var.shape && known.dtype == var.dtype, "'", var.name, "' is ", text_of(var),
          ", but the store holds ", text_of(known));
  }
}

void Store::initialize(const Program& program, const std::vector<ParamInfo>& params, std::uint64_t seed) {
  add(program);
  for (const ParamInfo& info : params) {
    const Var& var = program.vars[info.var];
    std::vector<std::byte> values = host_copy(var);
    fill_initial(info.init, seed, var.name, var.dtype, elements(var.shape), values.data());
    write(var.name, values.data(), bytes_of(var));
  }
}

std::vector<std::string> Store::names() const {
  std::vector<std::string> all;
  for (const auto& [name, entry] : entries_) all.push_back(name);
  return all;
}

std::vector<std::byte> Store::read(const std::string& name) const {
  const Entry& found = entry(name);
  std::vector<std::byte> values = host_copy(found.var);
  device_.copy_out(values.data(), found.memory.data(), bytes_of(found.var));
  return values;
}

void Store::write(const std::string& name, const void* data, std::int64_t bytes) {
  const Entry& found = entry(name);
  check(bytes == bytes_of(found.var), "'", name, "' has ", bytes_of(found.var), " bytes, given ", bytes);
  device_.copy_in(found.memory.data(), data, bytes);
}

std::int64_t Store::bytes(Kind kind) const {
  std::int64_t sum = 0;
  for (const auto& [name, entry] : entries_)
    if (entry.var.kind == kind) sum += bytes_of(entry.var);
  return sum;
}

const Store::Entry& Store::entry(const std::string& name) const {
  const auto found = entries_.find(name);
  check(found != entries_.end(), "no parameter or state named '", name, "'");
  return found->second;
}

}  // namespace lethe
