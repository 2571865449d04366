// y[n, h * r + i, w * r + j, c] = x[n, h, w, (c * r + i) * r + j]: channels become pixels, r times as many along both
// axes (Shi et al., 2016; depth to space in the order column, row, depth). pixel_unshuffle is its inverse, and each the
// gradient of the other.
#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/error.h"
#include "framework/language/op_def.h"
#include "kernels/copy_parts.h"

namespace lethe {
namespace {

/// A value's elements by [n, h, i, w, j, c], and where they lie in both forms: with many pixels, with many channels.
struct Shuffle {
  Shape size, fine, deep;
};
Shuffle shuffle_of(const Shape& fine, std::int64_t r) {
  const std::int64_t height = fine[1] / r, width = fine[2] / r, channels = fine[3], pixel = channels * r * r;
  const Shape size{fine[0], height, r, width, r, channels};
  return {size, strides_of(size), {height * width * pixel, width * pixel, r, pixel, 1, r * r}};
}

struct PixelShuffle {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const Shuffle s = shuffle_of(args.out(0).shape, args.op.attrs.integer("r"));
    return copy_parts<Device>(args, {{.box = make_box(s.size, s.fine, s.deep)}});
  }
};

struct PixelUnshuffle {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const Shuffle s = shuffle_of(args.in(0).shape, args.op.attrs.integer("r"));
    return copy_parts<Device>(args, {{.box = make_box(s.size, s.deep, s.fine)}});
  }
};

std::int64_t checked_r(const InferArgs& args) {
  const Shape& x = args.in(0).shape;
  const std::int64_t r = args.op.attrs.integer("r");
  check(x.size() == 4, args.op.type, ": input ", text_of(x), " is no image [N,H,W,C]");
  check(r >= 1 && r <= INT16_MAX, args.op.type, ": r is ", r, ", expected 1 to ", INT16_MAX);
  return r;
}

std::vector<Type> infer_shuffle(const InferArgs& args) {
  const Shape& x = args.in(0).shape;
  const std::int64_t r = checked_r(args);
  check(x[3] % (r * r) == 0, "pixel_shuffle: input has ", x[3], " channels, which ", r, " * ", r, " does not divide");
  return {{{x[0], x[1] * r, x[2] * r, x[3] / (r * r)}, args.in(0).dtype}};
}

std::vector<Type> infer_unshuffle(const InferArgs& args) {
  const Shape& x = args.in(0).shape;
  const std::int64_t r = checked_r(args);
  check(x[1] % r == 0 && x[2] % r == 0, "pixel_unshuffle: ", r, " does not divide an image of ", x[1], 'x', x[2]);
  return {{{x[0], x[1] / r, x[2] / r, x[3] * r * r}, args.in(0).dtype}};
}

const std::vector<Key> kShuffleKeys = {
    {.name = "r", .min = 1, .max = INT16_MAX, .help = "pixels of each side for one"}};

VarId build_shuffle(LayerCall& c, const char* type) {
  c.image();
  return c.emit(type, {c.in()}, c.settings());
}

const Register pixel_shuffle{{
    .type = "pixel_shuffle",
    .inputs = {"x"},
    .outputs = {"y"},
    .infer = infer_shuffle,
    .grad = [](GradBuilder& g) { g.set(0, "pixel_unshuffle", {g.dy()}, g.attrs()); },
    .kernels = each_device<PixelShuffle>(),
    .layer =
        {.name = "pixel_shuffle",
         .aliases = {"DepthToSpace"},
         .keys = kShuffleKeys,
         .build = [](LayerCall& c) { return build_shuffle(c, "pixel_shuffle"); },
         .help =
             "r * r channels become r times as many pixels along both axes, as in PyTorch (DepthToSpace: mode CRD)"},
}};

const Register pixel_unshuffle{{
    .type = "pixel_unshuffle",
    .inputs = {"x"},
    .outputs = {"y"},
    .infer = infer_unshuffle,
    .grad = [](GradBuilder& g) { g.set(0, "pixel_shuffle", {g.dy()}, g.attrs()); },
    .kernels = each_device<PixelUnshuffle>(),
    .layer = {.name = "pixel_unshuffle",
              .keys = kShuffleKeys,
              .build = [](LayerCall& c) { return build_shuffle(c, "pixel_unshuffle"); },
              .help = "squares of r * r pixels become channels: undoes pixel_shuffle"},
}};

}  // namespace
}  // namespace lethe
