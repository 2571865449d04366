// Ops y = f(x) and their gradients dy * f'(x), each from one struct F:
//
//   struct Sin : SlopeOfX {
//     static constexpr const char *kType = "sin", *kAlias = "Sin", *kHelp = "sine, of radians";
//     template <class T> HD T value(T x) const { return std::sin(x); }
//     template <class T> HD T slope(T x) const { return std::cos(x); }
//   };
//   const RegisterUnary<Sin, Cos> functions;
//
// One that reads attributes has a constructor from them.
#pragma once
#include <string>
#include <utility>

#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/language/op_def.h"
#include "kernels/map.h"

namespace lethe {

/// What the slope is computed from, and so what backward keeps. From y where that is as exact: x may be overwritten.
struct SlopeOfX {
  static bool takes_y(const Attrs&) { return false; }
};
struct SlopeOfY {
  static bool takes_y(const Attrs&) { return true; }
};

template <class F>
struct UnaryValue : F {
  using F::F;
  template <class T>
  HD T operator()(T x) const {
    return F::value(x);
  }
};

template <class F>
struct UnaryGrad : F {
  using F::F;
  template <class T>
  HD T operator()(T seen, T dy) const {
    return dy * F::slope(seen);
  }
};

template <class F>
void unary_grad_rule(GradBuilder& g) {
  g.set(0, std::string(F::kType) + "_grad", {F::takes_y(g.attrs()) ? g.y() : g.x(0), g.dy()}, g.attrs());
}

template <class F>
Layer unary_layer() {
  return {.name = F::kType,
          .aliases = {F::kAlias},
          .build = [](LayerCall& c) { return c.emit(F::kType, {c.in()}); },
          .help = F::kHelp};
}

template <class F>
OpDef unary_op(Layer layer, Grad grad = unary_grad_rule<F>, Infer infer = same_as_first) {
  return {.type = F::kType,
          .inputs = {"x"},
          .outputs = {"y"},
          .infer = infer,
          .grad = grad,
          .inplace = {{.in = 0, .out = 0}},
          .kernels = map<UnaryValue<F>, 1>(),
          .layer = std::move(layer)};
}

template <class F>
OpDef unary_grad_op() {
  return {.type = std::string(F::kType) + "_grad",
          .inputs = {"seen", "dy"},
          .outputs = {"dx"},
          .infer = same_as_second,
          .inplace = {{.in = 0, .out = 0}, {.in = 1, .out = 0}},
          .kernels = map<UnaryGrad<F>, 2>()};
}

/// Each with its gradient and a layer without keys.
template <class... F>
struct RegisterUnary {
  Register ops[sizeof...(F)] = {Register(unary_op<F>(unary_layer<F>()))...};
  Register gradients[sizeof...(F)] = {Register(unary_grad_op<F>())...};
};

}  // namespace lethe
