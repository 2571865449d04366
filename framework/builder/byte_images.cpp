#include "framework/builder/byte_images.h"

#include <algorithm>
#include <utility>

#include "framework/error.h"
#include "framework/language/op_def.h"

namespace lethe {

bool can_feed_bytes(const Network& network, VarId input) {
  const Var& var = network.program.vars[input];
  return var.kind == Kind::Input && is_float(var.dtype) && is_image(network, input) && var.shape[3] <= kMostNormalized;
}

void feed_bytes(Network& network, VarId input, PixelNorm norm) {
  check_as(Exit::Internal, can_feed_bytes(network, input), "'", network.program.vars[input].name,
           "' is not fed as bytes");
  Program& program = network.program;
  std::vector<Op>& ops = program.blocks[0].ops;
  Var& fed = program.vars[input];
  const std::string dtype(name_of(fed.dtype)), name = message(fed.name, '.', dtype);
  const auto channels = static_cast<std::size_t>(fed.shape[3]);
  if (norm.mean.empty()) norm = {Doubles(channels, 0), Doubles(channels, 1)};
  fed.dtype = DType::u8;
  const Attrs attrs{{"mean", norm.mean}, {"deviation", norm.deviation}, {"dtype", dtype}};
  const VarId numbers = append_op(program, 0, Role::Forward, kNormalize, {input}, attrs, name).front();
  Op normalize = std::move(ops.back());
  ops.pop_back();
  for (Block& block : program.blocks) {
    std::replace(block.results.begin(), block.results.end(), input, numbers);
    for (Op& op : block.ops) std::replace(op.in.begin(), op.in.end(), input, numbers);
  }
  std::replace(network.outputs.begin(), network.outputs.end(), input, numbers);
  ops.insert(ops.begin(), std::move(normalize));
  network.layouts.emplace(numbers, network.layouts.at(input));
}

}  // namespace lethe
