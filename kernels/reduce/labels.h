// The shape rule of labels: scores [.., classes] have i32 labels [..], of samples, tokens or pixels.
#pragma once
#include "framework/error.h"
#include "framework/language/op_def.h"

namespace lethe {

/// For shape rules: the shape of input 1, the labels of input 0. Fails unless they are i32, one for each row of scores.
inline Shape labels_of(const InferArgs& args) {
  const Var &scores = args.in(0), &label = args.in(1);
  check(scores.shape.size() >= 2, args.op.type, ": scores have shape ", text_of(scores.shape),
        ", expected [samples, .., classes]");
  const Shape rows(scores.shape.begin(), scores.shape.end() - 1);
  check(label.dtype == DType::i32 && label.shape == rows, args.op.type, ": labels are ", text_of(label),
        ", expected i32", text_of(rows));
  return rows;
}

}  // namespace lethe
