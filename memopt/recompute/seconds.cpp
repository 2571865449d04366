#include "memopt/recompute/seconds.h"

#include <algorithm>

#include "framework/language/op_def.h"

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
    const double flops = 2 * static_cast<double>(mult_adds_of(program, op));
    return std::max(flops / rates.flops, static_cast<double>(bytes_moved(program, op)) / rates.bytes);
  };
}

}  // namespace lethe
