// y = not x, of truth values.
#include "framework/builder/layer_call.h"
#include "kernels/compare.h"

namespace lethe {
namespace {

struct Not {
  HD std::uint8_t operator()(std::uint8_t x) const { return x == 0; }
};

const Register logical_not{{
    .type = "logical_not",
    .inputs = {"x"},
    .outputs = {"y"},
    .infer = infer_logic,
    .inplace = {{.in = 0, .out = 0}},
    .kernels = map<Not, 1, Flags>(),
    .layer = {.name = "logical_not",
              .aliases = {"Not"},
              .build = [](LayerCall& c) { return c.emit("logical_not", {c.in()}); },
              .help = "1 where the input is false"},
}};

}  // namespace
}  // namespace lethe
