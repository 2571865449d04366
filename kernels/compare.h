// Ops that give truth values: u8, 1 for true and 0 for false; whatever is not 0 reads as true.
#pragma once
#include "framework/builder/layer_call.h"
#include "kernels/broadcast.h"
#include "kernels/number.h"

namespace lethe {

/// The shape rule of a comparison: of a with b, which may broadcast, or with the number `value` if b is absent. Fails
/// for both or neither, and for a value that a's dtype cannot hold.
std::vector<Type> infer_comparison(const InferArgs& args);
/// The shape rule of logic on one or two u8 inputs.
std::vector<Type> infer_logic(const InferArgs& args);
/// A comparison as a layer: of two inputs, or of one with the setting `value`.
Layer comparison_layer(std::string name, std::string alias, BuildLayer build, std::string help);
VarId build_comparison(LayerCall& call, const std::string& type, Commutes commutes);

template <class F>
struct WithValue {
  double value;
  WithValue(const Attrs& attrs, DType dtype) : value(nearest(dtype, attrs.number("value"))) {}
  template <class T>
  HD std::uint8_t operator()(T a) const {
    return F{}(a, static_cast<T>(value));
  }
};

template <class F>
struct Comparison {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    if (args.has_in(1)) return Pairs<F, Numbers>::template prepare<Device>(args);
    return Map<WithValue<F>, 1, Numbers>::template prepare<Device>(args);
  }
};

}  // namespace lethe
