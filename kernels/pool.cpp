#include "kernels/pool.h"

#include <limits>

#include "framework/builder/layer_call.h"
#include "framework/checked.h"

namespace lethe {
namespace {

/// Of an attribute that says height and width.
std::int64_t along(const Op& op, const std::string& key, std::size_t axis) {
  const Ints& both = op.attrs.ints(key);
  check(both.size() == 2, op.type, ": ", key, " is ", text_of(Attr(both)), ", expected height and width");
  return both[axis];
}

PoolAxis axis_of(const Op& op, std::int64_t in, std::size_t axis) {
  const auto if_named = [&](const char* key, std::int64_t absent) {
    return op.attrs.has(key) ? along(op, key, axis) : absent;
  };
  const std::int64_t k = along(op, "k", axis), stride = along(op, "stride", axis), pad = along(op, "pad", axis);
  const std::int64_t after = if_named("after", pad), dilation = if_named("dilation", 1);
  check(k >= 1 && stride >= 1 && dilation >= 1, op.type, ": window ", k, ", stride ", stride, " and dilation ",
        dilation, ", expected at least 1");
  const std::int64_t reach = reach_of(k, dilation);
  for (const std::int64_t side : {pad, after})
    check(side >= 0 && side < reach, op.type, ": padding ", side, ", expected less than the ", reach,
          " positions that a window reaches over");
  check(pad == 0 || in >= dilation, op.type, ": a window's positions, ", dilation, " apart, could all miss the ", in,
        " of the input");
  const std::int64_t room = checked_add(checked_add(in, pad, "a padded size"), after, "a padded size") - reach;
  check(room >= 0, op.type, ": a window of ", k, " does not fit ", in, " positions with padding ", pad);
  const bool ceil = op.attrs.flag("ceil_mode", false);
  std::int64_t out = room / stride + (ceil && room % stride != 0 ? 1 : 0) + 1;
  if (out - 1 > (in + pad - 1) / stride) --out;  // the last would begin after the input
  return {.in = in,
          .out = out,
          .k = k,
          .pad = pad,
          .after = after,
          .stride = Divisor(stride),
          .dilation = Divisor(dilation),
          .reach = reach};
}

}  // namespace

Pooling pooling_of(const Op& op, const Shape& image) {
  check(image.size() == 4, op.type, ": input ", text_of(image), " is no image [N,H,W,C]");
  const PoolAxis height = axis_of(op, image[1], 0), width = axis_of(op, image[2], 1);
  check(checked_mul(height.k, width.k, "places of a window") <= std::numeric_limits<std::int32_t>::max(), op.type,
        ": a window of ", height.k, " by ", width.k, " has more places than 32 bits count");
  return {.images = image[0],
          .channels = image[3],
          .height = height,
          .width = width,
          .in_pixels = PixelGrid(height.in, width.in),
          .out_pixels = PixelGrid(height.out, width.out)};
}

Attrs pooling_grad_attrs(const Attrs& attrs, const Shape& image) {
  Attrs with_size = attrs;
  with_size.set("height", image[1]);
  with_size.set("width", image[2]);
  return with_size;
}

Pooling pooling_of_grad(const Op& op, const Shape& dy) {
  check(dy.size() == 4, op.type, ": dy ", text_of(dy), " is no image [N,H,W,C]");
  return pooling_of(op, {dy[0], op.attrs.integer("height"), op.attrs.integer("width"), dy[3]});
}

std::vector<Key> pooling_keys() {
  return {
      {.name = "k", .type = KeyType::IntPair, .min = 1, .max = kMostPixels, .help = "window"},
      {.name = "stride",
       .type = KeyType::IntPair,
       .min = 1,
       .max = kMostPixels,
       .help = "distance of windows; without it: k",
       .optional = true},
      {.name = "pad", .type = KeyType::Pad, .absent = 0, .min = 0, .max = kMostPixels, .help = "padding on each side"},
      {.name = "after",
       .type = KeyType::IntPair,
       .min = 0,
       .max = kMostPixels,
       .help = "padding below and to the right, if it differs",
       .optional = true},
      {.name = "dilation",
       .type = KeyType::IntPair,
       .absent = 1,
       .min = 1,
       .max = kMostPixels,
       .help = "distance of the pixels of a window"},
      {.name = "ceil", .type = KeyType::Bool, .absent = false, .help = "a last window may reach over the edge"}};
}

Attrs pooling_attrs(LayerCall& c) {
  c.image();
  const auto k = c.pair("k"), stride = c.settings().has("stride") ? c.pair("stride") : k;
  const auto dilation = c.pair("dilation"), pad = c.pad("pad", k, dilation);
  Attrs attrs{{"k", Ints{k[0], k[1]}},
              {"stride", Ints{stride[0], stride[1]}},
              {"pad", Ints{pad[0], pad[1]}},
              {"ceil_mode", c.settings().flag("ceil")}};
  if (const auto after = c.settings().has("after") ? c.pair("after") : pad; after != pad)
    attrs.set("after", Ints{after[0], after[1]});
  if (dilation[0] != 1 || dilation[1] != 1) attrs.set("dilation", Ints{dilation[0], dilation[1]});
  return attrs;
}

}  // namespace lethe
