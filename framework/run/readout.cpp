#include "framework/run/readout.h"

#include <algorithm>

#include "framework/error.h"

namespace lethe {

Readout::Readout(const Executor& executor, std::vector<VarId> vars) : executor_(executor), vars_(std::move(vars)) {
  constexpr std::int64_t kAlignment = alignof(std::max_align_t);
  const std::vector<Var>& all = executor_.program().vars;
  std::int64_t bytes = 0;
  for (const VarId v : vars_) bytes += round_up(bytes_of(all[v]), kAlignment);
  memory_ = executor_.device().host_memory(bytes);
  std::byte* next = memory_.get();
  for (const VarId v : vars_) {
    copies_.push_back({.to_host = next, .bytes = bytes_of(all[v])});
    next += round_up(bytes_of(all[v]), kAlignment);
  }
}

void Readout::fetch() {
  for (std::size_t i = 0; i < vars_.size(); ++i) copies_[i].from = executor_.address(vars_[i]);
  executor_.device().copy_all_out(copies_);
}

double Readout::scalar(VarId var) const {
  return scalar_of(executor_.program().vars[var], copies_[place_of(var)].to_host);
}

std::size_t Readout::place_of(VarId var) const {
  const auto found = std::find(vars_.begin(), vars_.end(), var);
  check_as(Exit::Internal, found != vars_.end(), "'", executor_.program().vars[var].name,
           "' is not among what is read");
  return static_cast<std::size_t>(found - vars_.begin());
}

}  // namespace lethe
