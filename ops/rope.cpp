// Rotary positions (Su et al., "RoFormer", 2021): of x [B, T, heads * head_size] the first `rotated` heads are turned,
// elements k and k + head_size / 2 of a head, paired as in Hugging Face's Llama, by the angle
// p * base^(-2k / head_size), p being t, or t + offset (i32, one for all or one a sample); with a `factor` slow pairs
// are slowed. The heads after them pass through. The gradient turns back.
#include <cmath>

#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/error.h"
#include "framework/language/op_def.h"
#include "kernels/divisor.h"
#include "kernels/dtypes.h"
#include "kernels/each_device.h"
#include "kernels/positions.h"
#include "kernels/workspace.h"

namespace lethe {
namespace {

/// Which elements are turned. Samples share their angles unless each has an offset of its own.
struct RopeExtent {
  std::int64_t steps, heads, rotated, half;  // half: pairs of a head
  std::int64_t tables;                       // 1, or one a sample
  std::int64_t angles() const { return tables * steps * half; }
};

template <class C>
struct FillAngles {
  PositionAngles angles;
  SlowedPairs slowed;
  std::int64_t steps, half;
  double sign;
  const std::int32_t* offset;  // one a table; null: 0
  C *cos, *sin;
  HD void operator()(std::int64_t i) const {
    const std::int64_t row = i / half, table = row / steps, pair = i - row * half;
    const std::int64_t first = offset ? offset[table] : 0;
    const double angle = angles(first + row - table * steps, pair) * slowed(angles(1, pair));
    cos[i] = static_cast<C>(std::cos(angle));
    sin[i] = static_cast<C>(sign * std::sin(angle));
  }
};

/// Pair k of head h in row r, r counting all steps of all samples.
template <class T>
struct TurnPair {
  RopeExtent extent;
  const T* x;
  const Compute<T>*cos, *sin;
  T* y;
  HD std::int64_t first_angle(std::int64_t r) const {
    return (extent.tables == 1 ? r % extent.steps : r) * extent.half;
  }
  HD void turn(std::int64_t at, std::int64_t angle) const {
    const Compute<T> a = x[at], b = x[at + extent.half], c = cos[angle], s = sin[angle];
    y[at] = a * c - b * s;
    y[at + extent.half] = b * c + a * s;
  }
  HD void pass(std::int64_t at) const {
    y[at] = x[at];
    y[at + extent.half] = x[at + extent.half];
  }
};

template <class T>
void turn_pairs(Cpu device, void* stream, std::int64_t rows, const TurnPair<T>& pair) {
  const RopeExtent of = pair.extent;
  const auto turn_row = [of, pair](std::int64_t r) {
    const std::int64_t angle = pair.first_angle(r);
    for (std::int64_t h = 0; h < of.heads; ++h) {
      const std::int64_t at = (r * of.heads + h) * 2 * of.half;
      if (h < of.rotated) {
#pragma GCC ivdep
        for (std::int64_t k = 0; k < of.half; ++k) pair.turn(at + k, angle + k);
      } else if (pair.x != pair.y) {
        for (std::int64_t k = 0; k < of.half; ++k) pair.pass(at + k);
      }
    }
  };
  parallel_for(device, stream, rows, turn_row, kElementGrain / (of.heads * of.half) + 1);
}
#ifdef LETHE_DEVICE_CODE
template <class T>
struct TurnIndex {
  TurnPair<T> pair;
  Divisor half, heads;
  HD void operator()(std::int64_t i) const {
    const std::int64_t head = half.quotient(i), k = i - head * half.by();
    const std::int64_t r = heads.quotient(head), h = head - r * heads.by();
    const std::int64_t at = head * 2 * half.by() + k;
    if (h < pair.extent.rotated)
      pair.turn(at, pair.first_angle(r) + k);
    else
      pair.pass(at);
  }
};
template <class T>
void turn_pairs(Cuda device, void* stream, std::int64_t rows, const TurnPair<T>& pair) {
  parallel_for(device, stream, rows * pair.extent.heads * pair.extent.half,
               TurnIndex<T>{pair, Divisor(pair.extent.half), Divisor(pair.extent.heads)});
}
#endif

RopeExtent rope_extent(const PrepareArgs& args) {
  const Shape& x = args.in(0).shape;
  const std::int64_t size = args.op.attrs.integer("head_size"), heads = x[2] / size;
  const bool each = args.has_in(1) && !args.in(1).shape.empty();
  return {.steps = x[1],
          .heads = heads,
          .rotated = args.op.attrs.integer("rotated", heads),
          .half = size / 2,
          .tables = each ? x[0] : 1};
}

SlowedPairs slowed_pairs(const Attrs& attrs) {
  SlowedPairs slowed;
  slowed.factor = attrs.number("factor", slowed.factor);
  slowed.low = attrs.number("low_freq_factor", slowed.low);
  slowed.high = attrs.number("high_freq_factor", slowed.high);
  slowed.length = attrs.number("original_length", slowed.length);
  return slowed;
}

struct Rope {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const RopeExtent extent = rope_extent(args);
    const PositionAngles angles(args.op.attrs.number("base"), 2 * extent.half);
    const SlowedPairs slowed = slowed_pairs(args.op.attrs);
    const std::int64_t rows = args.in(0).shape[0] * extent.steps;
    const double sign = args.op.attrs.flag("inverse", false) ? -1 : 1;
    const bool shifted = args.has_in(1);
    return for_float(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      using C = Compute<T>;
      WorkspaceLayout layout;
      const WorkspacePart cosines = layout.add_array<C>(extent.angles()), sines = layout.add_array<C>(extent.angles());
      return make_kernel(
          [=](const KernelArgs& a) {
            C *const cos = cosines.at<C>(a), *const sin = sines.at<C>(a);
            const std::int32_t* const offset = shifted ? a.in<std::int32_t>(1) : nullptr;
            parallel_for(Device{}, a.stream, extent.angles(),
                         FillAngles<C>{angles, slowed, extent.steps, extent.half, sign, offset, cos, sin},
                         kElementGrain / 32);
            turn_pairs(Device{}, a.stream, rows, TurnPair<T>{extent, a.in<T>(0), cos, sin, a.out<T>(0)});
          },
          layout.bytes());
    });
  }
};

std::vector<Type> infer_rope(const InferArgs& args) {
  const Var& x = args.in(0);
  const Attrs& attrs = args.op.attrs;
  check(x.shape.size() == 3, "rope: input is ", text_of(x.shape), ", expected sequences [N,T,heads*head_size]");
  const std::int64_t size = attrs.integer("head_size");
  check(size >= 2 && size % 2 == 0, "rope: head_size is ", size, ", expected an even number from 2");
  check(x.shape[2] % size == 0, "rope: a width of ", x.shape[2], " is not made of heads of ", size);
  const std::int64_t heads = x.shape[2] / size, rotated = attrs.integer("rotated", heads);
  check(rotated >= 0 && rotated <= heads, "rope: rotated is ", rotated, ", expected 0 to the ", heads, " heads");
  check(attrs.number("base") > 0, "rope: base is ", attrs.number("base"), ", expected above 0");
  const SlowedPairs slowed = slowed_pairs(attrs);
  check(slowed.factor >= 1, "rope: factor is ", slowed.factor, ", expected at least 1");
  check(slowed.low > 0 && slowed.high > slowed.low, "rope: low_freq_factor is ", slowed.low, ", high_freq_factor ",
        slowed.high, ", expected the first above 0 and below the second");
  check(slowed.length > 0, "rope: original_length is ", slowed.length, ", expected above 0");
  if (args.has_in(1)) {
    const Var& offset = args.in(1);
    check(offset.dtype == DType::i32 && (offset.shape.empty() || offset.shape == Shape{x.shape[0]}), "rope: offset is ",
          text_of(offset), ", expected an i32 scalar or i32[", x.shape[0], ']');
  }
  return same_as_first(args);
}

void rope_gradient(GradBuilder& g) {
  Attrs back = g.attrs();
  back.set("inverse", !back.flag("inverse", false));
  g.set(0, "rope", {g.dy(), g.x(1)}, back);
}

VarId build_rope(LayerCall& c) {
  Attrs attrs{{"head_size", c.settings().integer("head_size")}, {"base", c.settings().number("base")}};
  if (c.settings().has("rotated")) attrs.set("rotated", c.settings().integer("rotated"));
  if (c.settings().number("factor") != 1)
    for (const char* key : {"factor", "low_freq_factor", "high_freq_factor", "original_length"})
      attrs.set(key, c.settings().number(key));
  return c.emit("rope", {c.in(), c.inputs() > 1 ? c.in(1) : kNone}, attrs);
}

const Register rope{{
    .type = "rope",
    .inputs = {"x", "offset?"},
    .outputs = {"y"},
    .infer = infer_rope,
    .grad = rope_gradient,
    .inplace = {{.in = 0, .out = 0}},
    .kernels = each_device<Rope>(),
    .layer = {.name = "rope",
              .keys = {{.name = "head_size", .type = KeyType::Int, .min = 2, .help = "numbers of a head, even"},
                       {.name = "rotated",
                        .type = KeyType::Int,
                        .min = 0,
                        .help = "heads that are turned, the first ones; default: all",
                        .optional = true},
                       {.name = "base",
                        .type = KeyType::Number,
                        .absent = 10000.0,
                        .min = 1,
                        .help = "the slowest pair turns about once in 2 pi base steps"},
                       {.name = "factor",
                        .type = KeyType::Number,
                        .absent = 1.0,
                        .min = 1,
                        .help = "slow pairs turn so many times slower, as in Llama 3.1; 1: none do"},
                       {.name = "low_freq_factor",
                        .type = KeyType::Number,
                        .absent = 1.0,
                        .help = "pairs that turn at most so often in original_length are slowed wholly"},
                       {.name = "high_freq_factor",
                        .type = KeyType::Number,
                        .absent = 4.0,
                        .help = "pairs that turn so often or more are not slowed"},
                       {.name = "original_length",
                        .type = KeyType::Number,
                        .absent = 8192.0,
                        .help = "positions that the network was taught first"}},
              .max_inputs = 2,
              .build = build_rope,
              .help = "turn heads of [T, heads * head_size] by their positions; a second input is added to these"},
}};

}  // namespace
}  // namespace lethe
