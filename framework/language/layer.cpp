#include "framework/language/layer.h"

#include <utility>

namespace lethe {
namespace {

std::deque<Layer>& lone_layers() {
  static std::deque<Layer> all;  // a deque: adding moves none
  return all;
}

}  // namespace

RegisterLayer::RegisterLayer(Layer layer) { lone_layers().push_back(std::move(layer)); }

const std::deque<Layer>& layers_without_op() { return lone_layers(); }

}  // namespace lethe
