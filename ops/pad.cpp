// y = x with `before` and `after` elements of `value` along each axis. The gradient is the part of dy that x stood in.
// The layer also repeats what is there instead, by gather along each axis, and cuts off where it is told a number below
// 0, by slice.
#include <algorithm>
#include <numeric>

#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/builder/settings.h"
#include "framework/checked.h"
#include "framework/language/op_def.h"
#include "kernels/copy_parts.h"
#include "kernels/number.h"

namespace lethe {
namespace {

/// Where x begins in the padded array.
std::int64_t offset_of(const Ints& before, const Shape& padded) {
  const Shape strides = strides_of(padded);
  return std::inner_product(before.begin(), before.end(), strides.begin(), std::int64_t{0});
}

template <class T>
struct FillPads {
  T* y;
  T value;
  HD void operator()(std::int64_t i) const { y[i] = value; }
};

struct Pad {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const Shape &x = args.in(0).shape, &y = args.out(0).shape;
    const Part part{.box = make_box(x, strides_of(y), strides_of(x)), .to = offset_of(args.op.attrs.ints("before"), y)};
    const double value = args.op.attrs.number("value", 0);
    if (value == 0) return copy_parts<Device>(args, {part}, true);
    return for_number(args.out(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      const auto run = [part, n = elements(y), pads = static_cast<T>(value)](const KernelArgs& a) {
        parallel_for(Device{}, a.stream, n, FillPads<T>{a.out<T>(0), pads});
        copy_part(Device{}, a.stream, part.box, a.out<T>(0) + part.to, a.in<T>(0));
      };
      return make_kernel(run, 0, part.box.count() * std::int64_t{sizeof(T)});
    });
  }
};

struct PadGrad {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const Shape &dy = args.in(0).shape, &dx = args.out(0).shape;
    return copy_parts<Device>(args, {{.box = make_box(dx, strides_of(dx), strides_of(dy)),
                                      .from = offset_of(args.op.attrs.ints("before"), dy)}});
  }
};

/// The input's shape with `sign` times the pads.
Shape padded(const InferArgs& args, std::int64_t sign) {
  Shape shape = args.in(0).shape;
  const Ints &before = args.op.attrs.ints("before"), &after = args.op.attrs.ints("after");
  check(before.size() == shape.size() && after.size() == shape.size(), "pad: before is ", text_of(before), ", after ",
        text_of(after), ", input has ", shape.size(), " axes");
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    check(before[axis] >= 0 && after[axis] >= 0, "pad: before is ", text_of(before), ", after ", text_of(after),
          ", expected none below 0");
    const std::int64_t pads = checked_add(before[axis], after[axis], "pad: the pads of an axis");
    shape[axis] = checked_add(shape[axis], sign * pads, "pad: the size of an axis");
    check(shape[axis] > 0, "pad: ", pads, " pads leave nothing of ", shape[axis] + pads);
  }
  return shape;
}

std::vector<Type> infer_pad(const InferArgs& args) {
  const DType dtype = args.in(0).dtype;
  const double value = args.op.attrs.number("value", 0);
  check(holds(dtype, value), "pad: value is ", value, ", which ", name_of(dtype), " does not hold");
  return {{padded(args, 1), dtype}};
}

/// For each axis in memory; a number below 0 cuts off.
struct Pads {
  Ints before, after;
};

Pads pads_of(LayerCall& c) {
  const Attrs& settings = c.settings();
  if (settings.has("pad") == settings.has("pads"))
    throw SettingError("pad", "'pad' takes either 'pad', with 'after' beside it, or 'pads'");
  if (settings.has("pad")) {
    c.image();
    const auto before = c.pair("pad"), after = settings.has("after") ? c.pair("after") : before;
    return {{0, before[0], before[1], 0}, {0, after[0], after[1], 0}};
  }
  if (settings.has("after")) throw SettingError("after", "'after' stands beside 'pad'; 'pads' says both sides itself");
  const Ints& pads = settings.ints("pads");
  const std::size_t rank = c.shape().size(), sides = 2 * c.sample_shape().size();
  if (pads.size() != sides || sides == 0)
    throw SettingError("pads",
                       message("'pads' is ", shortened(text_of(pads)), ", expected ", sides, " numbers for a sample ",
                               text_of(c.sample_shape()), ": those before each axis and then those after"));
  const Ints in_memory = stated_axes(rank, c.is_image(c.in()) ? Layout::Image : Layout::Plain);
  Pads of{Ints(rank), Ints(rank)};
  for (std::size_t axis = 1; axis < rank; ++axis) {
    of.before[static_cast<std::size_t>(in_memory[axis])] = pads[axis - 1];
    of.after[static_cast<std::size_t>(in_memory[axis])] = pads[axis - 1 + sides / 2];
  }
  return of;
}

/// Which place of an axis of `size` stands at each place with its pads, as ONNX and NumPy have the modes.
Ints repeated(const std::string& mode, std::int64_t size, std::int64_t before, std::int64_t after) {
  constexpr std::int64_t kMostOfEdge = 1 << 20;  // each is a number in the program
  const std::int64_t most = mode == "reflect" ? size - 1 : mode == "wrap" ? size : kMostOfEdge;
  if (std::max(before, after) > most)
    throw SettingError("mode", message("'", mode, "' gives an axis of ", size, " at most ", most, " pads, found ",
                                       std::max(before, after)));
  Ints places;
  for (std::int64_t i = -before; i < size + after; ++i) {
    const std::int64_t nearest = std::clamp<std::int64_t>(i, 0, size - 1);
    places.push_back(mode == "edge" ? nearest : mode == "wrap" ? (i + size) % size : 2 * nearest - i);
  }
  return places;
}

VarId build_pad(LayerCall& c) {
  Pads pads = pads_of(c);
  const std::string& mode = c.settings().text("mode");
  const double value = c.settings().number("value");
  if (value != 0 && mode != "constant")
    throw SettingError("value", message("'value' is for the mode \"constant\", found \"", mode, '"'));
  VarId y = c.in();
  for (std::size_t axis = 0; axis < pads.before.size(); ++axis) {
    std::int64_t &before = pads.before[axis], &after = pads.after[axis], size = c.var(y).shape[axis];
    const std::int64_t begin = std::max<std::int64_t>(-before, 0), end = size + std::min<std::int64_t>(after, 0);
    check(begin < end, "pad: pads of ", before, " and ", after, " leave nothing of ", size);
    before = std::max<std::int64_t>(before, 0), after = std::max<std::int64_t>(after, 0);
    if (end - begin < size) y = c.emit("slice", {y}, {{"axis", axis}, {"begin", begin}, {"end", end}});
    if (mode != "constant" && before + after > 0)
      y = c.emit("gather", {y}, {{"axis", axis}, {"indices", repeated(mode, end - begin, before, after)}});
  }
  if (mode != "constant" || (y != c.in() && pads.before == Ints(pads.before.size()) && pads.after == pads.before))
    return y;
  Attrs attrs{{"before", pads.before}, {"after", pads.after}};
  if (value != 0) attrs.set("value", value);
  return c.emit("pad", {y}, attrs);
}

std::vector<Key> pad_keys() {
  return {{.name = "pad",
           .type = KeyType::IntPair,
           .min = -kMostPixels,
           .max = kMostPixels,
           .help = "rows and columns on both sides of an image; numbers below 0 cut off",
           .optional = true},
          {.name = "after",
           .type = KeyType::IntPair,
           .min = -kMostPixels,
           .max = kMostPixels,
           .help = "those below and to the right, if they differ",
           .optional = true},
          {.name = "pads",
           .type = KeyType::IntList,
           .min = -kMostPixels,
           .max = kMostPixels,
           .help = "instead: those before each axis of a sample, images [C, H, W], and then those after each",
           .optional = true},
          {.name = "value", .type = KeyType::Number, .absent = 0, .help = "that is added in the mode constant"},
          {.name = "mode",
           .type = KeyType::Choice,
           .absent = "constant",
           .help = "what is added: value, the nearest element, those inside mirrored, or those of the other side",
           .choices = {"constant", "edge", "reflect", "wrap"}}};
}

const Register pad{{
    .type = "pad",
    .inputs = {"x"},
    .outputs = {"y"},
    .infer = infer_pad,
    .grad =
        [](GradBuilder& g) {
          g.set(0, "pad_grad", {g.dy()}, {{"before", g.attrs().ints("before")}, {"after", g.attrs().ints("after")}});
        },
    .kernels = each_device<Pad>(),
    .layer = {.name = "pad",
              .aliases = {"Pad"},
              .keys = pad_keys(),
              .build = build_pad,
              .help = "elements around a sample: rows and columns of an image, or along any axes"},
}};

const Register pad_grad{{
    .type = "pad_grad",
    .inputs = {"dy"},
    .outputs = {"dx"},
    .infer = [](const InferArgs& args) -> std::vector<Type> {
      return {{padded(args, -1), args.in(0).dtype}};
    },
    .kernels = each_device<PadGrad>(),
}};

}  // namespace
}  // namespace lethe
