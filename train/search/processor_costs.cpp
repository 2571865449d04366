#include "train/search/processor_costs.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <span>

#include "framework/error.h"
#include "framework/language/device_info.h"
#include "framework/language/op_def.h"
#include "train/search/shipped_costs.h"

namespace lethe {
namespace {

struct Processor {
  const char* name;
  std::span<const KernelCost> (*costs)();
};
constexpr Processor kProcessors[] = {{"avx2", costs_of_avx2}, {"avx512", costs_of_avx512}};

/// Of the nearest density; null if the type has none in this dtype.
const KernelCost* nearest(std::span<const KernelCost> costs, const KernelKind& kind) {
  const KernelCost* best = nullptr;
  for (const KernelCost& cost : costs)
    if (cost.type == kind.type && cost.dtype == kind.dtype &&
        (!best || std::abs(cost.density - kind.density) < std::abs(best->density - kind.density)))
      best = &cost;
  return best;
}

}  // namespace

KernelKind kind_of(const Program& program, const Op& op) {
  const VarId first = op.in.empty() || op.in.front() == kNone ? op.out.front() : op.in.front();
  const double flops = 2 * static_cast<double>(mult_adds_of(program, op));
  const double bytes = std::max(1.0, static_cast<double>(bytes_moved(program, op)));
  return {.type = op.type,
          .dtype = program.vars[first].dtype,
          .density = flops > bytes ? static_cast<int>(std::ceil(std::log2(flops / bytes) / 2)) : 0};
}

std::vector<std::string> processors_with_costs() {
  std::vector<std::string> names;
  for (const Processor& processor : kProcessors) names.emplace_back(processor.name);
  return names;
}

SecondsOf costs_on_processor(const std::string& name) {
  const auto* const known = std::ranges::find(kProcessors, name, &Processor::name);
  check(known != std::end(kProcessors), "no costs of '", name, "' are shipped; there are those of ",
        joined(processors_with_costs()));
  return [costs = known->costs(), by_rule = seconds_on({})](const Program& program, const Op& op) {
    KernelKind kind = kind_of(program, op);
    const KernelCost* cost = nearest(costs, kind);
    if (!cost) {
      kind.dtype = DType::f32;
      cost = nearest(costs, kind);
    }
    return by_rule(program, op) * (cost ? cost->factor : 1);
  };
}

}  // namespace lethe
