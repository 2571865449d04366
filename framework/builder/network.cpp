#include "framework/builder/network.h"

namespace lethe {

bool is_image(const Network& network, VarId var) {
  const auto found = network.layouts.find(var);
  return network.program.vars[var].shape.size() == 4 && found != network.layouts.end() &&
         found->second == Layout::Image;
}

Shape sample_shape(const Network& network, VarId var) {
  const Shape& shape = network.program.vars[var].shape;
  Shape sample = stated_shape(shape, is_image(network, var) ? Layout::Image : Layout::Plain);
  if (!sample.empty()) sample.erase(sample.begin());
  return sample;
}

}  // namespace lethe
