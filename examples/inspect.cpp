// What a training program is made of and how much memory it takes, before anything runs.
#include <cstdio>
#include <map>
#include <string>

#include "framework/autodiff/autodiff.h"
#include "framework/builder/builder.h"
#include "framework/language/text.h"
#include "framework/language/verify.h"
#include "framework/run/prepared.h"
#include "optimizer/optimizer.h"

using namespace lethe;

int main() {
  Builder net({.batch = 64});
  VarId x = net.input("image", {28, 28, 1});
  x = net.layer("max_pool", net.layer("relu", net.layer("conv", x, {{"out", 6}, {"k", 5}})), {{"k", 2}});
  net.loss("cross_entropy", net.layer("fc", x, {{"out", 10}}, "logits"), net.input("label", {}, DType::i32));
  std::printf("%lld parameters\n\n", static_cast<long long>(net.parameters()));

  Network network = net.finish();
  const auto gradients = append_backward(network.program, network.loss);
  append_updates(network.program, gradients, network.params, optimizer_named("momentum"));
  verify(network.program);

  // A program is text, and the text is a program.
  const std::string text = to_text(network.program);
  std::printf("%s\n", text.c_str());
  const Program same = parse_program(text);

  std::map<Role, int> ops;
  for (const Op& op : same.blocks[0].ops) ++ops[op.role];
  for (const auto& [role, count] : ops) std::printf("%-10s %3d ops\n", std::string(name_of(role)).c_str(), count);

  // The plan states every byte. Its device is described, not opened: it could be another machine's.
  Prepared prepared({.name = "a machine with four threads", .threads = 4});
  const Bytes bytes = plan_none(same, workspaces_of(same, prepared)).bytes;
  const auto line = [](const char* what, std::int64_t count) {
    std::printf("%-10s %9lld bytes\n", what, static_cast<long long>(count));
  };
  line("params", bytes.params);
  line("states", bytes.states);
  line("inputs", bytes.inputs);
  line("temps", bytes.temps);
  line("workspace", bytes.workspace);
  line("total", bytes.total());
  return same == network.program && bytes.total() > 0 ? 0 : 1;
}
