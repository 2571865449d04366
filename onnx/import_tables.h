// How each op of ONNX becomes layers, by its type.
#pragma once
#include "onnx/import_state.h"

namespace lethe::onnx {

using ImportOp = void (*)(ImportState&, const ReadNode&);
using ImportTable = std::map<std::string, ImportOp>;
void add_window_imports(ImportTable& table);
void add_image_imports(ImportTable& table);
void add_resize_imports(ImportTable& table);
void add_matrix_imports(ImportTable& table);
void add_shape_imports(ImportTable& table);
void add_part_imports(ImportTable& table);
void add_activation_imports(ImportTable& table);
void add_norm_imports(ImportTable& table);
void add_fold_imports(ImportTable& table);
void add_loss_imports(ImportTable& table);
void add_attention_imports(ImportTable& table);
void add_elementwise_imports(ImportTable& table);

/// Gives the view with other axes; where the same memory cannot be read so, a copy in the model's order can.
void give_reshaped(ImportState& state, const ReadNode& node, const View& x, const Shape& to);
/// An input as a value: a constant becomes a tensor of the network, with axes of size 1 in front up to `rank`.
View value_of(ImportState& state, const ReadNode& node, std::size_t input, std::size_t rank);
/// Whether a Slice takes every so many pixels of an image, and is a layer now, with the Pad that adds channels of zeros
/// after it: the shortcut of residual networks without parameters.
bool import_thinning(ImportState& state, const ReadNode& node);

/// What the table has for the node's type.
void import_by_type(ImportState& state, const ReadNode& node);
/// An axis of so many, counted from the front; fails for one that is not there.
std::size_t axis_of(const ReadNode& node, std::int64_t axis, std::size_t rank);

}  // namespace lethe::onnx
