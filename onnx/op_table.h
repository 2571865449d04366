// How each op is said in ONNX, by its type.
#pragma once
#include <functional>
#include <map>
#include <string>

#include "onnx/emitter.h"

namespace lethe::onnx {

using OpTable = std::map<std::string, std::function<void(Emitter&, const Op&)>>;

void add_elementwise_ops(OpTable& table);
void add_image_ops(OpTable& table);
void add_shape_ops(OpTable& table);
void add_product_ops(OpTable& table);
void add_norm_ops(OpTable& table);
void add_attention_ops(OpTable& table);

}  // namespace lethe::onnx
