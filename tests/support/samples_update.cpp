#include "tests/support/samples.h"

namespace lethe::testing {
namespace {

SampleInput param() { return {.shape = {3, 5}, .kind = Kind::Param}; }
SampleInput momentum() { return {.shape = {3, 5}, .kind = Kind::State}; }
SampleInput mean_square(const Shape& shape = {3, 5}) { return {.shape = shape, .low = 0.1, .kind = Kind::State}; }
SampleInput gradient() { return {.shape = {3, 5}}; }
SampleInput rate() { return {.shape = {}, .low = 0.01, .high = 0.1}; }
SampleInput scale() { return {.shape = {}, .low = 0.5}; }
SampleInput step() { return {.shape = {}, .low = 0, .high = 20, .dtype = DType::i64, .kind = Kind::State}; }

SampleInput wide(SampleInput input) {
  input.wide = true;
  return input;
}

SampleInput loss_scale_state() {
  return {.shape = {3}, .low = 0, .high = 12, .dtype = DType::i64, .kind = Kind::State};
}

}  // namespace

std::vector<Sample> update_samples() {
  return {
      {.op = "sgd",
       .in = {param(), gradient(), rate()},
       .attrs = {{"weight_decay", 0.1}},
       .gradient = false,
       .dtypes = kWide},
      {.op = "sgd",
       .in = {param(), gradient(), rate(), scale()},
       .attrs = {{"weight_decay", 0.1}, {"rate_scale", 0.3}},
       .gradient = false,
       .dtypes = kWide},
      {.op = "momentum",
       .in = {param(), momentum(), gradient(), rate(), scale()},
       .attrs = {{"momentum", 0.9}, {"nesterov", 1}, {"weight_decay", 0.1}},
       .gradient = false,
       .dtypes = kWide},
      {.op = "adam",
       .in = {param(), momentum(), mean_square(), gradient(), rate(), step(), scale()},
       .attrs = {{"beta1", 0.9},
                 {"beta2", 0.99},
                 {"eps", 1e-8},
                 {"weight_decay", 0.1},
                 {"decoupled", 1},
                 {"rate_scale", 0.3}},
       .gradient = false,
       .dtypes = kWide},
      {.op = "rmsprop",
       .in = {param(), mean_square(), gradient(), rate()},
       .attrs = {{"alpha", 0.9}, {"eps", 1e-8}, {"weight_decay", 0.1}},
       .gradient = false,
       .dtypes = kWide},
      {.op = "rmsprop_momentum",
       .in = {param(), mean_square(), momentum(), gradient(), rate(), scale()},
       .attrs = {{"alpha", 0.9}, {"eps", 1e-8}, {"momentum", 0.9}},
       .gradient = false,
       .dtypes = kWide},
      {.op = "lion",
       .in = {param(), momentum(), gradient(), rate(), scale()},
       .attrs = {{"beta1", 0.9}, {"beta2", 0.99}, {"weight_decay", 0.1}},
       .gradient = false,
       .dtypes = kWide},
      {.op = "adafactor",
       .in = {param(), mean_square({3}), mean_square({5}), gradient(), rate(), step(), scale()},
       .attrs = {{"beta2_decay", -0.8}, {"eps", 1e-3}, {"clip", 0.5}, {"weight_decay", 0.1}, {"rate_scale", 0.3}},
       .gradient = false,
       .dtypes = kWide},
      {.op = "adafactor_vector",
       .in = {param(), mean_square(), gradient(), rate(), step()},
       .attrs = {{"beta2_decay", -0.8}, {"eps", 1e-3}, {"clip", 1.0}},
       .gradient = false,
       .dtypes = kWide},
      {.op = "average", .in = {mean_square(), param()}, .attrs = {{"decay", 0.9}}, .gradient = false, .dtypes = kWide},
      {.op = "sgd",
       .in = {wide(param()), gradient(), wide(rate())},
       .attrs = {{"weight_decay", 0.1}},
       .gradient = false},
      {.op = "momentum",
       .in = {wide(param()), wide(momentum()), gradient(), wide(rate()), wide(scale())},
       .attrs = {{"momentum", 0.9}, {"weight_decay", 0.1}},
       .gradient = false},
      {.op = "adam",
       .in = {wide(param()), wide(momentum()), wide(mean_square()), gradient(), wide(rate()), step()},
       .attrs = {{"beta1", 0.9}, {"beta2", 0.99}, {"eps", 1e-8}},
       .gradient = false},
      {.op = "adafactor",
       .in = {wide(param()), wide(mean_square({3})), wide(mean_square({5})), gradient(), wide(rate()), step()},
       .attrs = {{"beta2_decay", -0.8}, {"eps", 1e-3}, {"clip", 1.0}},
       .gradient = false},
      {.op = "matmul_sgd", .in = {param(), {{4, 3}}, {{4, 5}}, rate()}, .gradient = false, .dtypes = kWide},
      {.op = "matmul_momentum",
       .in = {param(), momentum(), {{4, 3}}, {{4, 5}}, rate(), scale()},
       .attrs = {{"momentum", 0.9}, {"weight_decay", 0.1}},
       .gradient = false,
       .dtypes = kWide},
      {.op = "matmul_momentum",
       .in = {wide(param()), wide(momentum()), {{4, 3}}, {{4, 5}}, wide(rate())},
       .attrs = {{"momentum", 0.9}},
       .gradient = false},
      {.op = "matmul_adam",
       .in = {param(), momentum(), mean_square(), {{4, 3}}, {{4, 5}}, rate(), step()},
       .attrs = {{"beta1", 0.9}, {"beta2", 0.99}, {"eps", 1e-8}},
       .gradient = false,
       .dtypes = kWide},
      {.op = "matmul_rmsprop",
       .in = {param(), mean_square(), {{4, 3}}, {{4, 5}}, rate()},
       .attrs = {{"alpha", 0.9}, {"eps", 1e-8}},
       .gradient = false,
       .dtypes = kWide},
      {.op = "matmul_rmsprop_momentum",
       .in = {param(), mean_square(), momentum(), {{4, 3}}, {{4, 5}}, rate(), scale()},
       .attrs = {{"alpha", 0.9}, {"eps", 1e-8}, {"momentum", 0.9}},
       .gradient = false,
       .dtypes = kWide},
      {.op = "matmul_lion",
       .in = {param(), momentum(), {{4, 3}}, {{4, 5}}, rate()},
       .attrs = {{"beta1", 0.9}, {"beta2", 0.99}},
       .gradient = false,
       .dtypes = kWide},
      {.op = "clip_scale",
       .in = {{.shape = {}, .absent = true}, {{3, 5}}, {{700}}, {{1}}},
       .attrs = {{"max_norm", 2.0}},
       .gradient = false,
       .dtypes = kWide},
      {.op = "clip_scale",
       .in = {{.shape = {}, .low = 4, .high = 9}, {{3, 5}}, {{700}}, {{1}}},
       .attrs = {{"max_norm", 0.0}},
       .gradient = false,
       .dtypes = kWide},
      {.op = "loss_scale",
       .in = {loss_scale_state()},
       .attrs = {{"initial", 65536.0}},
       .gradient = false,
       .dtypes = {DType::i64}},
      {.op = "count_unskipped",
       .in = {step(), {.shape = {}, .low = 1, .dtype = DType::f32}},
       .gradient = false,
       .dtypes = {DType::i64}},
      {.op = "loss_scale_update",
       .in = {loss_scale_state(), {.shape = {}, .low = 1, .dtype = DType::f32}},
       .attrs = {{"interval", 10}},
       .gradient = false,
       .dtypes = {DType::i64}},
  };
}

}  // namespace lethe::testing
