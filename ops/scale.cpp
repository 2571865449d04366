// y = a * x + b, with numbers a and b.
#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/language/op_def.h"
#include "kernels/map.h"

namespace lethe {
namespace {

struct Scale {
  double a, b;
  explicit Scale(const Attrs& attrs) : a(attrs.number("a")), b(attrs.number("b")) {}
  template <class T>
  HD T operator()(T x) const {
    return static_cast<T>(a) * x + static_cast<T>(b);
  }
};

VarId build_scale(LayerCall& c) {
  return c.emit("scale", {c.in()}, {{"a", c.settings().number("a")}, {"b", c.settings().number("b")}});
}

const Register scale{{
    .type = "scale",
    .inputs = {"x"},
    .outputs = {"y"},
    .infer = same_as_first,
    .grad =
        [](GradBuilder& g) {
          g.set(0, "scale", {g.dy()}, {{"a", g.attrs().number("a")}, {"b", 0.0}});
        },
    .inplace = {{.in = 0, .out = 0}},
    .kernels = map<Scale, 1>(),
    .layer = {.name = "scale",
              .keys = {{.name = "a", .type = KeyType::Number, .absent = 1.0, .help = "factor"},
                       {.name = "b", .type = KeyType::Number, .absent = 0.0, .help = "added to each product"}},
              .build = build_scale,
              .help = "a * x + b"},
}};

}  // namespace
}  // namespace lethe
