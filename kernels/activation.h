// Activations that an op may compute on the way, before it writes a result.
#pragma once
#include "kernels/device_code.h"

namespace lethe {

struct NoActivation {
  template <class T>
  HD T operator()(T x) const {
    return x;
  }
};

/// max(x, 0); NaN stays NaN.
struct Relu {
  template <class T>
  HD T operator()(T x) const {
    return x < T(0) ? T(0) : x;
  }
};

/// body(Relu{}) or body(NoActivation{}).
template <class Body>
auto for_activation(bool relu, const Body& body) {
  return relu ? body(Relu{}) : body(NoActivation{});
}

}  // namespace lethe
