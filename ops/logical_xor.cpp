// y = a or b, but not both, of truth values; b may broadcast.
#include "framework/builder/layer_call.h"
#include "kernels/compare.h"

namespace lethe {
namespace {

struct Xor {
  HD std::uint8_t operator()(std::uint8_t a, std::uint8_t b) const { return (a != 0) != (b != 0); }
};

const Register logical_xor{{
    .type = "logical_xor",
    .inputs = {"a", "b"},
    .outputs = {"y"},
    .infer = infer_logic,
    .inplace = {{.in = 0, .out = 0}, {.in = 1, .out = 0}},
    .kernels = map_pairs<Xor, Flags>(),
    .layer = {.name = "logical_xor",
              .aliases = {"Xor"},
              .min_inputs = 2,
              .max_inputs = 2,
              .build = [](LayerCall& c) { return emit_pairs(c, "logical_xor", Commutes::Yes); },
              .help = "1 where one of the inputs is true, and not both"},
}};

}  // namespace
}  // namespace lethe
