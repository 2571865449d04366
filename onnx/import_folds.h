// What norms, losses and reductions share.
#pragma once
#include "onnx/import_state.h"

namespace lethe::onnx {

/// Those axes of x folded into size 1, by a layer that takes `axes`.
View folded_over(ImportState& state, const ReadNode& node, const View& x, const std::set<std::size_t>& axes,
                 const std::string& op, const std::string& name);
/// A layer of each element, as x lies; x itself without an op.
View like(ImportState& state, const std::string& op, View x, const std::string& name);
/// The view with all axes from `axis` on as one.
View with_last_axes_joined(ImportState& state, const ReadNode& node, const View& x, std::size_t axis);
/// Gives the node's output the axes that x has, after a layer on a view with other ones.
void give_back_axes(ImportState& state, const ReadNode& node, const View& x);

}  // namespace lethe::onnx
