// Layers of two or three values that broadcast, as numpy does it.
#pragma once
#include "onnx/import_state.h"

namespace lethe::onnx {

/// A value, or a constant by its name.
struct Operand {
  View view;
  std::string constant = {};
};
Operand operand(const ImportState& state, const ReadNode& node, std::size_t input);

/// Layers that give the operands so that a layer of ours takes both, and what that layer gives. Only one of the
/// operands is a constant.
struct Aligned {
  std::string a, b;
  Stated stated;
  View view;
};
Aligned aligned(ImportState& state, const ReadNode& node, const Operand& a, const Operand& b);

/// The node's output, as a layer of both. `type`: of what it gives.
void give_pair(ImportState& state, const ReadNode& node, Json entry, const Operand& a, const Operand& b,
               Type type = Type::f32);

}  // namespace lethe::onnx
