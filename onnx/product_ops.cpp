// Products of matrices.
#include "onnx/op_table.h"

namespace lethe::onnx {
namespace {

/// Adds a bias if the op has one.
void give_with_bias(Emitter& e, const Op& op, std::size_t slot, const std::string& product) {
  if (op.in.size() > slot && op.in[slot] != kNone)
    e.give_in_memory_order(op.out[0], "Add", {product, e.value(op.in[slot])});
  else
    e.give_in_memory_order(op.out[0], "Identity", {product});
}

/// y = x w^T + bias, w [O, C]
void fc(Emitter& e, const Op& op) {
  const bool has_bias = op.in.size() > 2 && op.in[2] != kNone;
  if (e.shape(op.in[0]).size() != 2)
    return give_with_bias(e, op, 2, e.node("MatMul", {e.in_memory_order(op.in[0]), e.permuted(op.in[1], {1, 0})}));
  Names inputs = {e.value(op.in[0]), e.columns_of_image(op.in[1], op.in[0])};
  if (has_bias) inputs.push_back(e.value(op.in[2]));
  e.give(op.out[0], "Gemm", inputs, {{"transB", std::int64_t{1}}});
}

/// A factor, transposed if asked.
std::string factor(Emitter& e, VarId id, bool transposes) {
  if (!transposes) return e.in_memory_order(id);
  Ints perm(e.shape(id).size());
  for (std::size_t i = 0; i < perm.size(); ++i) perm[i] = static_cast<std::int64_t>(i);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return e.permuted(id, perm);
}

void matmul(Emitter& e, const Op& op) {
  e.give_in_memory_order(op.out[0], "MatMul",
                         {factor(e, op.in[0], op.attrs.flag("transpose_a", false)),
                          factor(e, op.in[1], op.attrs.flag("transpose_b", false))});
}

}  // namespace

void add_product_ops(OpTable& table) {
  table["fc"] = fc;
  table["matmul"] = matmul;
}

}  // namespace lethe::onnx
