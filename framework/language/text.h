// A Program as stable text that reads back to an equal Program; and as JSON for tools.
//
//   input image f32[128,32,32,3]
//   param conv1.weight f32[16,3,3,3]
//   temp conv1.y f32[128,32,32,16]
//   block 0 {
//     conv1.y = conv2d(image, conv1.weight, _) {pad=[1,1], stride=[1,1]}
//     relu1.y@GRAD = relu_grad(relu1.y, relu2.y@GRAD) backward
//   }
#pragma once
#include <string>
#include <string_view>

#include "framework/language/program.h"

namespace lethe {

std::string to_text(const Program& program);
/// An op for messages, by its first output: "relu of 'relu1.y'".
std::string text_of(const Program& program, const Op& op);
/// Fails with the line number.
Program parse_program(std::string_view text);

/// {"vars":[{"name","shape","dtype","kind","bytes"}] (and "pitch" where rows lie apart),
///  "blocks":[{"parent","ops":[{"type","in","out","attrs","role","blocks"}]}]}
/// with vars by name; an absent input is null.
std::string to_json(const Program& program, int indent = 1);

}  // namespace lethe
