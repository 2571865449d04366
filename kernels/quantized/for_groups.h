// What codes mean, by the dtype of a weight.
#pragma once
#include "kernels/quantized/groups.h"

namespace lethe {

/// Calls `body` with the groups of its format.
template <class Body>
auto for_groups(const BlockedWeight& weight, const Body& body) {
  const BlockFormat format = block_format(weight.dtype, weight.shape);
  switch (weight.dtype) {
    case DType::int8:
      return body(Int8Groups{format});
    case DType::q8_0:
      return body(Q80Groups{format});
    case DType::q4_0:
      return body(Q40Groups{{format}});
    case DType::q4_1:
      return body(Q41Groups{{format}});
    case DType::nf4:
      return body(Nf4Groups{format});
    default:
      check(weight.dtype == DType::nf4_dq, "no weights are in ", name_of(weight.dtype));
      return body(Nf4DoubleGroups{{format}});
  }
}

}  // namespace lethe
