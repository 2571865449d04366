#include "framework/ranks/part_sums.h"

#include "framework/builder/step_counter.h"
#include "framework/error.h"
#include "framework/language/init.h"
#include "framework/language/op_def.h"

namespace lethe {

void PartSums::add_up(VarId var, VarId value, const std::string& name, bool last) {
  const DType own = program_.vars[value].dtype;
  const DType dtype = bytes_of(shards_.sums) > bytes_of(own) ? shards_.sums : own;
  add_to(sums_[var], in_dtype(value, dtype), name, last);
}

void PartSums::add_gradient(VarId var, VarId value, const std::string& name, bool last) {
  if (shards_.accumulate != DType::bf16) return add_up(var, value, name, last);
  TreeSum& sum = sums_[var];
  std::vector<VarId> due = sum.due(last);
  const std::size_t added = due.size();
  if (due.empty() && !last) due = {kNone};
  for (std::size_t i = 0; i < due.size(); ++i) {
    const std::uint64_t key = hash_of(message(name, '/', i)) >> 1;
    const Attrs attrs{{"seed", static_cast<std::int64_t>(shards_.seed)}, {"key", static_cast<std::int64_t>(key)}};
    value = append(kAccumulate, {due[i], value, step_counter(program_)}, attrs, name);
  }
  sum.take(value, added);
}

void PartSums::add_to(TreeSum& sum, VarId value, const std::string& name, bool last) {
  const std::vector<VarId> due = sum.due(last);
  for (const VarId before : due) value = append(kSum, {before, value}, {}, name);
  sum.take(value, due.size());
}

VarId PartSums::in_dtype(VarId value, DType dtype) {
  if (program_.vars[value].dtype == dtype) return value;
  const std::string to(name_of(dtype)), name = message(program_.vars[value].name, '/', to);
  return append(kCast, {value}, {{"dtype", to}}, name);
}

VarId PartSums::append(const char* type, std::vector<VarId> in, Attrs attrs, const std::string& name) {
  return append_op(program_, 0, Role::Optimize, type, std::move(in), std::move(attrs), name).front();
}

}  // namespace lethe
