// y = a and b, of truth values; b may broadcast.
#include "framework/builder/layer_call.h"
#include "kernels/compare.h"

namespace lethe {
namespace {

struct And {
  HD std::uint8_t operator()(std::uint8_t a, std::uint8_t b) const { return a != 0 && b != 0; }
};

const Register logical_and{{
    .type = "logical_and",
    .inputs = {"a", "b"},
    .outputs = {"y"},
    .infer = infer_logic,
    .inplace = {{.in = 0, .out = 0}, {.in = 1, .out = 0}},
    .kernels = map_pairs<And, Flags>(),
    .layer = {.name = "logical_and",
              .aliases = {"And"},
              .min_inputs = 2,
              .max_inputs = 2,
              .build = [](LayerCall& c) { return emit_pairs(c, "logical_and", Commutes::Yes); },
              .help = "1 where both inputs are true"},
}};

}  // namespace
}  // namespace lethe
