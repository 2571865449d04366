// y = a^b, where b may broadcast, or is the number `exponent`. Where a power is 0 or 1 whatever the base, or whatever
// the exponent, the gradient is 0 and not NaN, as PyTorch's.
#include <cmath>

#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/error.h"
#include "kernels/broadcast.h"

namespace lethe {
namespace {

struct Pow {
  template <class T>
  HD T operator()(T a, T b) const {
    return std::pow(a, b);
  }
};

struct PowBaseGrad {
  template <class T>
  HD T operator()(T a, T b, T dy) const {
    return b == T(0) ? T(0) : dy * (b * std::pow(a, b - T(1)));
  }
};

struct PowExponentGrad {
  template <class T>
  HD T operator()(T a, T b, T dy) const {
    return a == T(0) && b >= T(0) ? T(0) : dy * (std::pow(a, b) * std::log(a));
  }
};

/// With the number `exponent` in the place of b.
struct OfExponent {
  double exponent;
  explicit OfExponent(const Attrs& attrs) : exponent(attrs.number("exponent")) {}
};
struct PowOfExponent : OfExponent {
  using OfExponent::OfExponent;
  template <class T>
  HD T operator()(T a) const {
    return Pow{}(a, static_cast<T>(exponent));
  }
};
struct PowOfExponentGrad : OfExponent {
  using OfExponent::OfExponent;
  template <class T>
  HD T operator()(T a, T dy) const {
    return PowBaseGrad{}(a, static_cast<T>(exponent), dy);
  }
};

struct PowKernels {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    if (args.has_in(1)) return Pairs<Pow, Floats>::prepare<Device>(args);
    return Map<PowOfExponent, 1, Floats>::prepare<Device>(args);
  }
};

std::vector<Type> infer_pow(const InferArgs& args) {
  const bool has_exponent = args.op.attrs.has("exponent");
  check(args.has_in(1) != has_exponent, "pow: give a second input or an exponent", has_exponent ? ", not both" : "");
  return args.has_in(1) ? same_as_broadcast(args) : same_as_first(args);
}

void pow_grad_rule(GradBuilder& g) {
  if (g.attrs().has("exponent")) {
    g.set(0, "pow_of_exponent_grad", {g.x(0), g.dy()}, g.attrs());
    return;
  }
  g.set(0, "pow_base_grad", {g.x(0), g.x(1), g.dy()});
  set_second(g, "pow_exponent_grad", {g.x(0), g.x(1), g.dy()}, {});
}

VarId build_pow(LayerCall& c) {
  if (!c.settings().has("exponent")) {
    check(c.inputs() == 2, "pow: give a second input or an exponent");
    return emit_pair(c, "pow", c.in(0), c.in(1), Commutes::No);
  }
  check(c.inputs() == 1, "pow: give a second input or an exponent, not both");
  const double exponent = c.settings().number("exponent");
  if (exponent == 2) return c.emit("square", {c.in()});
  if (exponent == 0.5) return c.emit("sqrt", {c.in()});
  return c.emit("pow", {c.in()}, {{"exponent", exponent}});
}

const Register pow{{
    .type = "pow",
    .inputs = {"a", "b?"},
    .outputs = {"y"},
    .infer = infer_pow,
    .grad = pow_grad_rule,
    .inplace = {{.in = 0, .out = 0}, {.in = 1, .out = 0}},
    .along = Along::Elements,
    .kernels = each_device<PowKernels>(),
    .layer =
        {.name = "pow",
         .aliases = {"Pow"},
         .keys = {{.name = "exponent", .type = KeyType::Number, .help = "instead of a second input", .optional = true}},
         .min_inputs = 1,
         .max_inputs = 2,
         .build = build_pow,
         .help = "first input to the power of the second, both broadcast, or of exponent"},
}};

const Register pow_of_exponent_grad{{
    .type = "pow_of_exponent_grad",
    .inputs = {"a", "dy"},
    .outputs = {"da"},
    .infer = same_as_first,
    .inplace = {{.in = 0, .out = 0}, {.in = 1, .out = 0}},
    .kernels = map<PowOfExponentGrad, 2>(),
}};

template <class F>
OpDef pow_pair_grad(const char* type, const char* output) {
  return {.type = type,
          .inputs = {"a", "b", "dy"},
          .outputs = {output},
          .infer = same_as_broadcast,
          .inplace = {{.in = 0, .out = 0}, {.in = 1, .out = 0}, {.in = 2, .out = 0}},
          .kernels = map_pairs<F, Floats, 3>()};
}
const Register pow_base_grad{pow_pair_grad<PowBaseGrad>("pow_base_grad", "da")};
const Register pow_exponent_grad{pow_pair_grad<PowExponentGrad>("pow_exponent_grad", "db")};

}  // namespace
}  // namespace lethe
