// A model's value as it lies in the memory of one of our layers. Reshape and Transpose of a model mostly change how the
// same memory is read: a view says that, so that no layer is made until one needs another order.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "framework/language/program.h"

namespace lethe::onnx {

/// Stands for the batch among the memory axes of a view.
constexpr std::int64_t kBatchAxis = -1;

struct View {
  std::string layer;
  Shape memory;            // sizes of the axes that a sample's memory is seen to have, the slowest first
  std::vector<Ints> axes;  // for each axis of the model: the memory axes that it is made of, the slowest first
};

/// A view of a layer whose memory has the model's axes in their order, after the batch.
View plain_view(const std::string& layer, const Shape& sample);
/// Of a layer that gives images: the model's [N,C,H,W] is [H,W,C] in memory.
View image_view(const std::string& layer, const Shape& chw);

/// The model's shape; the batch counts as `batch` samples.
Shape shape_of(const View& view, std::int64_t batch);
/// The size of one axis of the model.
std::int64_t size_of(const View& view, std::size_t axis, std::int64_t batch);
/// Whether the axis is the batch and nothing else.
bool is_batch(const View& view, std::size_t axis);
bool has_batch(const View& view);

View transposed(const View& view, const Ints& perm);
/// With an axis of size 1 more, before `axis`, and without one that has size 1.
View with_one(const View& view, std::int64_t axis);
View without_one(const View& view, std::int64_t axis);
/// With the model's axes of `to`, whose product is that of the view; none where the same memory cannot be read so.
std::optional<View> reshaped(const View& view, const Shape& to, std::int64_t batch);
/// With as few memory axes as say the same: none of size 1, and none that always follow another.
View simplified(const View& view);

/// The memory axes in the order in which the model's axes name them, without the batch: a copy in this order has the
/// axes of the model one after the other.
Ints order_of(const View& view);
/// Whether the memory axes are in this order already.
bool is_in_order(const Ints& order);
/// The view after its memory axes were brought into `order`: axis i is then the one that was order[i].
View reordered(const View& view, const Ints& order, const std::string& layer);

/// Splits memory axes of both so that each axis of the model that is larger than 1 in both is made of equal parts;
/// false where no parts are.
bool refine(View& a, View& b);

}  // namespace lethe::onnx
