// Images that are stated with their channels last, as Keras has them.
#pragma once
#include <string>

#include "framework/language/program.h"

namespace lethe {

/// Of a sample's shape as files state it: "; shapes are [C,H,W]: is [3,32,32] meant?" for [32,32,3], which looks like
/// an image with its channels last; else "".
std::string channel_order_hint(const Shape& stated);

}  // namespace lethe
