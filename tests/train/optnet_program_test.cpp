// The program of Torch's modules gives what ours gives, and holds what the counter counts.
#include <gtest/gtest.h>

#include <map>

#include "framework/language/op_def.h"
#include "framework/language/verify.h"
#include "framework/language/views.h"
#include "tests/support/interpreter.h"
#include "tests/train/optnet_samples.h"
#include "train/optnet/torch_notes.h"
#include "train/optnet/torch_program.h"

namespace lethe::testing {
namespace {

/// Values by name, so that two programs get the same.
void fill(Interpreter& values) {
  const Program& program = values.program();
  for (std::size_t v = 0; v < program.vars.size(); ++v) {
    const Var& var = program.vars[v];
    if (var.kind == Kind::Temp || var.name.find("@GRAD") != std::string::npos) continue;
    const bool above_zero = !is_float(var.dtype) || var.name.find("running_var") != std::string::npos;
    values.fill_uniform(static_cast<VarId>(v), above_zero ? 0.5 : -1, 1.5, std::hash<std::string>{}(var.name));
  }
}

void expect_near(const Interpreter& a, VarId of_a, const Interpreter& b, VarId of_b) {
  const Var& var = a.program().vars[of_a];
  ASSERT_EQ(elements(var.shape), elements(b.program().vars[of_b].shape)) << var.name;
  for (std::int64_t i = 0; i < elements(var.shape); ++i)
    ASSERT_NEAR(a.number(of_a, i), b.number(of_b, i), 1e-9) << var.name << ", element " << i;
}

class TorchPrograms : public ::testing::TestWithParam<TorchBackend> {};

TEST_P(TorchPrograms, InferenceGivesWhatTheNetworkGives) {
  const TorchProgram torch = torch_program(mixed_network(true), {}, {.backend = GetParam(), .keep_grads = true});
  verify(torch.program);
  const Network plain = mixed_network(false);
  Interpreter ours(plain.program), theirs(torch.program);
  fill(ours), fill(theirs);
  ours.run(), theirs.run();
  expect_near(ours, plain.outputs[0], theirs, torch.output);
}

TEST_P(TorchPrograms, TrainingGivesTheGradientsOfAutodiff) {
  Network plain = mixed_network(true);
  const TorchProgram torch = torch_program(plain, {}, {.backend = GetParam(), .training = true});
  verify(torch.program);
  Program& program = plain.program;
  const Var output = program.vars[plain.outputs[0]];
  const VarId dy = add_var(program, {"dy", output.shape, output.dtype, Kind::Input});
  const VarId weighted = append_op(program, 0, Role::Forward, "mul", {plain.outputs[0], dy}, {}, "weighted").front();
  const VarId loss = append_op(program, 0, Role::Forward, "sum", {weighted}, {}, "loss").front();
  const std::vector<ParamGrad> grads = append_backward(program, loss);

  Interpreter ours(program), theirs(torch.program);
  fill(ours), fill(theirs);
  ours.fill_uniform(dy, -1, 1, 1), theirs.fill_uniform(torch.output_gradient, -1, 1, 1);
  ours.run(), theirs.run();
  ASSERT_EQ(torch.grads.size(), grads.size());
  std::map<std::string, VarId> by_param;
  for (const ParamGrad& grad : torch.grads) by_param[torch.program.vars[grad.param].name] = grad.grad;
  for (const ParamGrad& grad : grads) expect_near(ours, grad.grad, theirs, by_param.at(program.vars[grad.param].name));
}

TEST_P(TorchPrograms, TheNetworksOwnLossGivesTheGradientsOfAutodiff) {
  Builder net({.batch = 3, .dtype = DType::f64});
  VarId x = net.layer("relu", net.layer("conv", net.input("image", {5, 5, 2}), {{"out", 3}, {"k", 3}}));
  x = net.layer("fc", net.layer("max_pool", x, {{"k", 2}}), {{"out", 4}});
  net.loss("cross_entropy", x, net.input("label", {}, DType::i32));
  net.loss("mse", x, net.input("wish", {4}), {.weight = 0.5});
  const Network network = net.finish();
  const TorchProgram torch = torch_program(network, {}, {.backend = GetParam(), .training = true, .loss = true});
  verify(torch.program);
  Program plain = network.program;
  const std::vector<ParamGrad> grads = append_backward(plain, network.loss);
  Interpreter ours(plain), theirs(torch.program);
  fill(ours), fill(theirs);
  ours.run(), theirs.run();
  expect_near(ours, network.loss, theirs, network.loss);
  ASSERT_EQ(torch.grads.size(), grads.size());
  for (std::size_t i = 0; i < grads.size(); ++i) expect_near(ours, grads[i].grad, theirs, torch.grads[i].grad);
}

INSTANTIATE_TEST_SUITE_P(Backends, TorchPrograms, ::testing::Values(TorchBackend::Nn, TorchBackend::Cudnn),
                         [](const auto& backend) { return backend.param == TorchBackend::Nn ? "nn" : "cudnn"; });

/// Bytes of distinct storages by what they are held as, running statistics as buffers.
OptnetBytes held(const TorchProgram& torch) {
  std::map<std::pair<TorchHolds, int>, std::int64_t> shared;
  std::map<TorchHolds, std::int64_t> bytes;
  const std::vector<VarId> shown = view_root(torch.program);
  for (std::size_t v = 0; v < torch.vars.size(); ++v) {
    const Var& var = torch.program.vars[v];
    const TorchVar& is = torch.vars[v];
    if (shown[v] != static_cast<VarId>(v)) continue;
    if (var.kind == Kind::Param) bytes[TorchHolds::Param] += bytes_of(var);
    if (var.kind == Kind::State && is_float(var.dtype)) bytes[TorchHolds::Buffer] += bytes_of(var);
    if (is.storage < 0)
      bytes[is.as] += bytes_of(var);
    else
      shared[{is.as, is.storage}] = std::max(shared[{is.as, is.storage}], bytes_of(var));
  }
  for (const auto& [key, size] : shared) bytes[key.first] += size;
  return {bytes[TorchHolds::Output], bytes[TorchHolds::GradInput], bytes[TorchHolds::Buffer], bytes[TorchHolds::Param]};
}

TEST(TorchProgram, HoldsEveryByteOfTheTablesOnce) {
  for (const OptnetSample& sample : optnet_samples()) {
    SCOPED_TRACE(sample.key);
    const Network network = sample.network();
    const TorchNotes notes = torch_notes(sample.model);
    const OptnetCount count = optnet_count(network, notes, sample.backend, {.training = sample.training});
    const TorchProgram torch = torch_program(
        network, notes, {.backend = sample.backend, .training = sample.training, .inplace = false, .keep_grads = true});
    verify(torch.program);
    OptnetBytes distinct = count.before;
    distinct.buffers -= count.counted_twice;
    EXPECT_EQ(held(torch).outputs, distinct.outputs);
    EXPECT_EQ(held(torch).grad_inputs, distinct.grad_inputs);
    EXPECT_EQ(held(torch).buffers, distinct.buffers);
    EXPECT_EQ(held(torch).params, distinct.params);
  }
}

}  // namespace
}  // namespace lethe::testing
