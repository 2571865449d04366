#include "memopt/recompute/seconds.h"

#include <algorithm>

#include "framework/op_def.h"

namespace lethe {
namespace {

/// Of a second.
struct Rates {
  double flops, bytes;
};

/// Two cores of a server; a GPU such as an H200 in f32. The same for any number of threads, so that plans are, too.
Rates rates_of(DeviceKind kind) {
  if (kind == DeviceKind::Cuda) return {.flops = 40e12, .bytes = 3e12};
  return {.flops = 120e9, .bytes = 10e9};
}

}  // namespace

SecondsOf seconds_on(const DeviceInfo& device) {
  return [rates = rates_of(device.kind)](const Program& program, const Op& op) {
    double bytes = 0;
    for (const auto* vars : {&op.in, &op.out})
      for (const VarId v : *vars)
        if (v != kNone) bytes += static_cast<double>(bytes_of(program.vars[v]));
    const MultAdds mult_adds = op_def(op.type).mult_adds;
    const double flops = mult_adds && !op.out.empty() ? 2 * static_cast<double>(mult_adds({program, op})) : 0;
    return std::max(flops / rates.flops, bytes / rates.bytes);
  };
}

}  // namespace lethe
