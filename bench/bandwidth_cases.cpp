#include "bench/bandwidth_cases.h"

#include <algorithm>
#include <set>

#include "framework/autodiff/autodiff.h"
#include "framework/error.h"
#include "framework/language/device_info.h"
#include "framework/language/op_def.h"
#include "kernels/dtypes.h"

namespace lethe {
namespace {

using testing::Sample, testing::SampleInput, testing::kAbsent, testing::kUnderTest;

/// Shapes of one size.
struct Shapes {
  std::int64_t rows, width;
  std::int64_t images = std::max<std::int64_t>(1, rows / (kSide * kSide));
  static constexpr std::int64_t kSide = 16;

  Shape matrix() const { return {rows, width}; }
  /// So many times fewer images, for an op that gives `fewer` times what it takes.
  Shape image(std::int64_t fewer = 1) const { return {std::max<std::int64_t>(1, images / fewer), kSide, kSide, width}; }
  std::int64_t pixels() const { return images * kSide * kSide; }
};

SampleInput of(Shape shape) { return {.shape = std::move(shape)}; }
SampleInput positive(Shape shape) { return {.shape = std::move(shape), .low = 0.5, .high = 2}; }
SampleInput wide(Shape shape) { return {.shape = std::move(shape), .wide = true}; }
SampleInput wide_positive(Shape shape) { return {.shape = std::move(shape), .low = 0.5, .high = 2, .wide = true}; }
SampleInput state(Shape shape) { return {.shape = std::move(shape), .low = 0.5, .kind = Kind::State, .wide = true}; }
SampleInput below(Shape shape, std::int64_t limit, DType dtype = DType::i32) {
  return {.shape = std::move(shape), .low = 0, .high = static_cast<double>(limit), .dtype = dtype};
}
SampleInput step() { return {.shape = {}, .low = 3, .high = 4, .dtype = DType::i64}; }

using Cases = std::vector<Sample>;

Cases elementwise(const Shapes& s, DType dtype) {
  const Shape x = s.matrix();
  Cases cases;
  for (const char* op : {"relu", "sigmoid", "tanh",     "softplus",   "gelu", "silu",  "abs",  "square", "exp",
                         "erf",  "mish",    "softsign", "hard_swish", "sign", "floor", "ceil", "round",  "sin",
                         "cos",  "tan",     "asin",     "acos",       "atan", "sinh",  "cosh", "asinh",  "atanh"})
    cases.push_back({.op = op, .in = {of(x)}});
  for (const char* op : {"sqrt", "log", "reciprocal"}) cases.push_back({.op = op, .in = {positive(x)}});
  for (const char* op : {"pow", "mod"}) cases.push_back({.op = op, .in = {positive(x), positive(x)}});
  for (const char* op : {"add", "sub", "mul", "max", "min", "mse_loss", "l1_loss"})
    cases.push_back({.op = op, .in = {of(x), of(x)}});
  for (const char* op : {"less", "greater", "equal"})
    cases.push_back({.op = op, .in = {of(x), of(x)}, .gradient = false});
  const Cases others = {
      {.op = "leaky_relu", .in = {of(x)}, .attrs = {{"slope", 0.1}}},
      {.op = "acosh", .in = {{.shape = x, .low = 1.25, .high = 4}}},
      {.op = "elu", .in = {of(x)}, .attrs = {{"alpha", 1.0}}},
      {.op = "hard_sigmoid", .in = {of(x)}, .attrs = {{"alpha", 0.2}, {"beta", 0.5}}},
      {.op = "shrink", .in = {of(x)}, .attrs = {{"bias", 0.0}, {"lambd", 0.5}}},
      {.op = "pow", .in = {positive(x)}, .attrs = {{"exponent", 1.5}}},
      {.op = "prelu", .in = {of(x), of({s.width})}},
      {.op = "where", .in = {below(x, 2, DType::u8), of(x), of(x)}},
      {.op = "threshold", .in = {of(x)}, .attrs = {{"threshold", 0.25}, {"value", 0.25}}},
      {.op = "clip", .in = {of(x)}, .attrs = {{"min", -0.5}, {"max", 0.25}}},
      {.op = "scale", .in = {of(x)}, .attrs = {{"a", -1.5}, {"b", 0.25}}},
      {.op = "offset", .in = {of(x)}, .attrs = {{"by", 0.25}}},
      {.op = "cast", .in = {of(x)}, .attrs = {{"dtype", dtype == DType::f32 ? "bf16" : "f32"}}},
      {.op = "dropout", .in = {of(x), step()}, .attrs = {{"p", 0.4}, {"seed", 7}, {"key", 11}}},
      {.op = "drop_path", .in = {of(x), step()}, .attrs = {{"p", 0.4}, {"seed", 7}, {"key", 11}}},
      {.op = "div", .in = {of(x), positive(x)}},
      {.op = "sum_n", .in = {of(x), of(x), of(x)}},
      {.op = "relu_grad", .in = {of(x), of(x), of(x)}, .gradient = false},
      {.op = "huber_loss", .in = {of(x), of(x)}, .attrs = {{"delta", 0.5}}},
      {.op = "sigmoid_cross_entropy", .in = {of(x), {.shape = x, .low = 0}}},
      {.op = "normalize",
       .in = {below({std::max<std::int64_t>(1, s.rows * s.width / (224 * 224 * 3)), 224, 224, 3}, 256, DType::u8)},
       .attrs = {{"mean", Doubles{0.485, 0.456, 0.406}},
                 {"deviation", Doubles{0.229, 0.224, 0.225}},
                 {"dtype", kUnderTest}},
       .gradient = false},
  };
  cases.insert(cases.end(), others.begin(), others.end());
  return cases;
}

Cases moves(const Shapes& s) {
  const Shape x = s.matrix();
  const Ints shape = {s.rows, s.width};
  Ints reversed;
  for (std::int64_t row = Shapes::kSide; row-- > 0;) reversed.push_back(row);
  const SampleInput array{.shape = {1, s.rows, s.width}, .kind = Kind::State}, first = below({}, 1, DType::i64);
  return {
      {.op = "assign", .in = {of(x)}},
      // Before what gives parts to others: those are slices and pads too, of which less is read.
      {.op = "pad", .in = {of(s.image())}, .attrs = {{"before", Ints{0, 1, 1, 0}}, {"after", Ints{0, 1, 1, 0}}}},
      {.op = "slice", .in = {of(x)}, .attrs = {{"axis", 1}, {"begin", 0}, {"end", s.width}}},
      {.op = "gather", .in = {of(s.image())}, .attrs = {{"axis", 1}, {"indices", reversed}}},
      {.op = "cumsum", .in = {of({1, s.rows, s.width})}, .attrs = {{"axis", 1}}},
      {.op = "transpose", .in = {of(x)}, .attrs = {{"perm", Ints{1, 0}}}},
      {.op = "concat", .in = {of(x), of(x)}, .attrs = {{"axis", 1}}},
      {.op = "pad_channels", .in = {of(s.image())}, .attrs = {{"out", s.width + 8}, {"stride", Ints{1, 1}}}},
      {.op = "expand",
       .in = {of({1, std::max<std::int64_t>(1, s.rows / 2), s.width})},
       .attrs = {{"shape", Ints{2, -1, -1}}}},
      {.op = "array_read", .in = {array, first}, .gradient = false},
      {.op = "array_add", .in = {array, of(x), first}, .gradient = false},
      {.op = "fill_constant",
       .in = {},
       .attrs = {{"shape", shape}, {"dtype", kUnderTest}, {"value", 0.5}},
       .gradient = false},
      {.op = "sinusoidal_positions",
       .in = {},
       .attrs = {{"length", s.rows}, {"width", s.width}, {"base", 10000.0}, {"dtype", kUnderTest}},
       .gradient = false},
      // As many ids as the table has rows: what is read of it is its size, though not each row once.
      {.op = "embedding", .in = {below({s.rows}, s.rows), wide(x)}, .attrs = {{"dtype", kUnderTest}}},
      {.op = "rope",
       .in = {of({1, s.rows, round_up(s.width, 64)}), kAbsent},
       .attrs = {{"head_size", 64}, {"base", 10000.0}}},
  };
}

Cases images(const Shapes& s) {
  const auto window = [](std::int64_t k, std::int64_t stride) {
    return Attrs{
        {"k", Ints{k, k}}, {"stride", Ints{stride, stride}}, {"pad", Ints{k / 2, k / 2}}, {"ceil_mode", false}};
  };
  const std::int64_t side = Shapes::kSide;
  Shape shuffled = s.image();
  shuffled = {shuffled[0], side / 2, side / 2, 4 * s.width};
  return {
      {.op = "max_pool", .in = {of(s.image())}, .attrs = window(3, 2)},
      {.op = "max_pool_value", .in = {of(s.image())}, .attrs = window(3, 2)},
      {.op = "avg_pool", .in = {of(s.image())}, .attrs = window(3, 2)},
      {.op = "global_avg_pool", .in = {of(s.image())}},
      {.op = "lrn", .in = {of(s.image())}, .attrs = {{"size", 5}, {"alpha", 1e-4}, {"beta", 0.75}, {"k", 1.0}}},
      {.op = "upsample",
       .in = {of(s.image(4))},
       .attrs = {{"size", Ints{2 * side, 2 * side}}, {"mode", "bilinear"}, {"align_corners", false}}},
      {.op = "pixel_shuffle", .in = {of(shuffled)}, .attrs = {{"r", 2}}},
      {.op = "unfold",
       .in = {of(s.image(9))},
       .attrs = {{"kernel", Ints{3, 3}}, {"stride", Ints{1, 1}}, {"pad", Ints{1, 1}}, {"dilation", Ints{1, 1}}}},
  };
}

Cases norms(const Shapes& s) {
  const Attrs eps{{"eps", 1e-5}}, counted{{"eps", 1e-5}, {"count", s.pixels()}};
  const SampleInput x = of(s.image()), channel = wide({s.width}), var = wide_positive({s.width});
  return {
      {.op = "batch_norm", .in = {x, channel, channel}, .attrs = eps, .through = {0}},
      {.op = "batch_norm_inference", .in = {x, channel, channel, channel, var}, .attrs = eps, .gradient = false},
      {.op = "batch_norm_join_grad", .in = {x, channel, channel, var, x, x, x}, .attrs = eps, .gradient = false},
      {.op = "channel_statistics", .in = {x}, .gradient = false},
      {.op = "batch_norm_moments", .in = {x}, .attrs = {{"count", s.pixels()}}, .gradient = false},
      {.op = "batch_norm_over_parts", .in = {x, channel, channel, channel, var}, .attrs = counted, .gradient = false},
      {.op = "batch_norm_grad_sums", .in = {x, channel, var, x}, .attrs = eps, .gradient = false},
      {.op = "batch_norm_grad_of_sums",
       .in = {x, channel, channel, var, x, {.shape = {2, s.width}, .dtype = DType::f64}},
       .attrs = counted,
       .gradient = false},
      {.op = "layer_norm", .in = {of(s.matrix()), channel, channel}, .attrs = eps, .through = {0}},
      {.op = "group_norm",
       .in = {x, channel, channel},
       .attrs = {{"groups", s.width % 4 == 0 ? 4 : 1}, {"eps", 1e-5}},
       .through = {0}},
      {.op = "rms_norm", .in = {of(s.matrix()), channel}, .attrs = eps, .through = {0}},
  };
}

Cases rows(const Shapes& s) {
  const SampleInput x = of(s.matrix()), label = below({s.rows}, s.width);
  return {
      {.op = "softmax", .in = {x}},
      {.op = "log_softmax", .in = {x}},
      {.op = "softmax_cross_entropy", .in = {x, label}},
      {.op = "nll_loss", .in = {x, label}},
      {.op = "accuracy", .in = {x, label}, .attrs = {{"k", 1}}, .gradient = false},
      {.op = "sum", .in = {x}, .attrs = {{"axes", Ints{1}}}},
      {.op = "mean", .in = {x}, .attrs = {{"axes", Ints{0}}}},
      {.op = "reduce_max", .in = {x}, .attrs = {{"axes", Ints{1}}}},
      {.op = "reduce_min", .in = {x}, .attrs = {{"axes", Ints{0}}}},
      {.op = "reduce_prod", .in = {x}, .attrs = {{"axes", Ints{1}}}},
      {.op = "sum_to", .in = {x, x}, .attrs = {{"shape", Ints{1, s.width}}}, .gradient = false},
      {.op = "bias_grad", .in = {x}, .gradient = false},
  };
}

/// Of parameters in f32, by gradients of the dtype.
Cases updates(const Shapes& s) {
  const SampleInput gradient = of(s.matrix()), wide_gradient = wide(s.matrix()), kept = state(s.matrix());
  const SampleInput rate{.shape = {}, .low = 1e-5, .high = 1e-4, .wide = true};
  const SampleInput param{.shape = s.matrix(), .kind = Kind::Param, .wide = true};
  const SampleInput rows = state({s.matrix()[0]}), columns = state({s.matrix()[1]});
  const Attrs momentum{{"alpha", 0.9}, {"eps", 1e-8}, {"momentum", 0.9}};
  const Attrs adafactor{{"beta2_decay", -0.8}, {"eps", 1e-3}, {"clip", 1.0}};
  return {
      {.op = "sgd", .in = {param, gradient, rate}, .gradient = false},
      {.op = "momentum", .in = {param, kept, gradient, rate}, .attrs = {{"momentum", 0.9}}, .gradient = false},
      {.op = "adam",
       .in = {param, kept, kept, gradient, rate, step()},
       .attrs = {{"beta1", 0.9}, {"beta2", 0.99}, {"eps", 1e-8}},
       .gradient = false},
      {.op = "rmsprop",
       .in = {param, kept, gradient, rate},
       .attrs = {{"alpha", 0.9}, {"eps", 1e-8}},
       .gradient = false},
      {.op = "rmsprop_momentum", .in = {param, kept, kept, gradient, rate}, .attrs = momentum, .gradient = false},
      {.op = "lion",
       .in = {param, kept, gradient, rate},
       .attrs = {{"beta1", 0.9}, {"beta2", 0.99}},
       .gradient = false},
      {.op = "adafactor", .in = {param, rows, columns, gradient, rate, step()}, .attrs = adafactor, .gradient = false},
      {.op = "adafactor_vector", .in = {param, kept, gradient, rate, step()}, .attrs = adafactor, .gradient = false},
      {.op = "average", .in = {kept, param}, .attrs = {{"decay", 0.999}}, .gradient = false},
      {.op = "accumulate",
       .in = {{.shape = s.matrix(), .dtype = DType::bf16}, {.shape = s.matrix(), .dtype = DType::f32}, step()},
       .attrs = {{"seed", 7}, {"key", 11}},
       .gradient = false},
      {.op = "clip_scale", .in = {kAbsent, wide_gradient}, .attrs = {{"max_norm", 2.0}}, .gradient = false},
      {.op = "square_sums", .in = {wide_gradient}, .gradient = false},
  };
}

/// What never moves much.
const std::set<std::string> kSmall = {
    // a number, or one a channel
    "increment", "count_unskipped", "loss_scale", "loss_scale_update", "batch_norm_update", "batch_norm_statistics",
    // flags and labels
    "logical_and", "logical_or", "logical_xor", "logical_not", "ignore_label", "sequence_mask", "arange",
    // nothing at all, a number of each row, an entry of an array that is not read
    "empty", "nll_loss", "array_write", "array_clear",
    // what ranks give each other
    kAllReduceStart, kAllReduceWait, kReduceScatterStart, kReduceScatterWait, kAllGatherStart, kAllGatherWait,
    kGatherParamsStart, kGatherParamsWait, "own_share"};

}  // namespace

std::vector<Sample> bandwidth_cases(std::int64_t bytes, std::int64_t width, DType dtype) {
  const Shapes shapes{std::max<std::int64_t>(1, bytes / (width * bytes_of(dtype))), width};
  Cases all;
  for (const Cases& part :
       {rows(shapes), norms(shapes), images(shapes), elementwise(shapes, dtype), moves(shapes), updates(shapes)})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

VarId CaseProgram::give(const testing::SampleInput& like, DType dtype) {
  if (like.absent) return kNone;
  const std::string name = message("given", given.size());
  const VarId v = add_var(program, {.name = name, .shape = like.shape, .dtype = dtype, .kind = like.kind});
  given[v] = like;
  return v;
}

CaseProgram program_of(const Sample& sample, DType dtype) {
  CaseProgram made;
  std::vector<VarId> in;
  std::vector<bool> wants;
  for (const testing::SampleInput& like : sample.in) {
    in.push_back(made.give(like, dtype_of(like, dtype)));
    wants.push_back(!like.absent && is_float(made.program.vars[in.back()].dtype));
  }
  const OpDef& def = op_def(sample.op);
  append_op(made.program, 0, def.updates ? Role::Optimize : Role::Forward, sample.op, in, attrs_of(sample, dtype),
            "out");
  if (!sample.gradient) return made;
  const Op forward = made.program.blocks[0].ops.front();
  std::vector<VarId> dy(forward.out.size(), kNone);
  for (std::size_t slot = 0; slot < dy.size(); ++slot) {
    const Var y = made.program.vars[forward.out[slot]];
    const auto& through = sample.through;
    const bool is_through = through.empty() || std::count(through.begin(), through.end(), static_cast<int>(slot)) > 0;
    if (is_through && is_float(y.dtype)) dy[slot] = made.give({.shape = y.shape}, y.dtype);
  }
  GradBuilder builder(made.program, 0, forward, dy, wants);
  def.grad(builder);
  return made;
}

std::vector<std::string> bandwidth_ops() {
  std::vector<std::string> names;
  for (const OpDef* def : all_ops())
    if (def->kernels.cpu && !def->mult_adds && kSmall.count(def->type) == 0) names.push_back(def->type);
  return names;
}

}  // namespace lethe
