// Images of a model, and lines as images of one row.
#pragma once
#include "onnx/import_state.h"

namespace lethe::onnx {

constexpr std::int64_t kMostPads = 1 << 20;

/// An image that a node takes: its layer and shape. Of [N,C,L] one of one row.
struct Plane {
  std::string layer;
  Shape shape;
  bool is_line = false;
};

Plane plane_of(ImportState& state, const ReadNode& node);

/// The node's output is that layer, of a line again if it took one.
void give_plane(ImportState& state, const ReadNode& node, Json entry, const Plane& of, const std::string& in,
                const Shape& shape);

}  // namespace lethe::onnx
