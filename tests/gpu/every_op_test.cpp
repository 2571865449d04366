// Every op on a GPU against the CPU, over all sample rows: in each dtype against what the CPU gives in f64, norm-wise.
// The same test runs on the CPU's own kernels, so that it is itself tested where there is no GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "framework/error.h"
#include "framework/language/op_def.h"
#include "framework/language/op_facts.h"
#include "framework/run/prepared.h"
#include "kernels/cpu/device.h"
#include "kernels/cuda/device.h"
#include "kernels/number.h"
#include "tests/support/objective.h"
#include "tests/support/op_program.h"
#include "tests/support/values.h"

namespace lethe::testing {
namespace {

std::unique_ptr<Device> device_named(const std::string& name) {
  return name == "cpu" ? open_cpu(1) : open_gpu(0, {.deterministic = true});
}

std::vector<std::string> devices() {
  try {
    device_named("gpu");
    return {"cpu", "gpu"};
  } catch (const Error&) {
    return {"cpu"};
  }
}

/// What the kernel makes of copies of what an interpreter holds, by output.
std::vector<Guarded> run_on(Device& device, const Interpreter& values, const Op& op, const Kernel& kernel) {
  std::vector<Buffer> inputs, outputs;
  std::vector<void*> in, out;
  for (const VarId v : op.in) {
    inputs.emplace_back(device, v == kNone ? 0 : values.memory(v).bytes());
    if (v != kNone) device.copy_in(inputs.back().data(), values.memory(v).data(), values.memory(v).bytes());
    in.push_back(inputs.back().data());
  }
  std::vector<Guarded> results;
  for (std::size_t slot = 0; slot < op.out.size(); ++slot) {
    results.emplace_back(values.memory(op.out[slot]).bytes());
    outputs.emplace_back(device, results.back().bytes());
    device.copy_in(outputs.back().data(), results.back().data(), results.back().bytes());
    out.push_back(op_def(op.type).updates ? in[slot] : outputs.back().data());
  }
  const Buffer workspace(device, kernel.workspace_bytes());
  device.compute([&] { kernel.run({in.data(), out.data(), workspace.data(), device.stream(), device.tickets()}); });
  device.synchronize();
  for (std::size_t slot = 0; slot < op.out.size(); ++slot)
    device.copy_out(results[slot].data(), out[slot], results[slot].bytes());
  return results;
}

/// |got - want| / |want|, by the Euclidean norm over all elements; whole numbers and NaN must be equal.
double error_of(std::int64_t count, Values got, Values want) {
  double difference = 0, norm = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const double g = number_at(got.dtype, got.data, i), w = number_at(want.dtype, want.data, i);
    if (std::isnan(g) && std::isnan(w)) continue;
    difference += (g - w) * (g - w);
    norm += w * w;
  }
  return difference == 0 ? 0 : std::sqrt(difference / std::max(norm, 1e-30));
}

/// Gives every input of the op in `to` what it is in `from`, rounded to its dtype.
void copy_inputs(const Op& op, const Interpreter& from, Interpreter& to) {
  for (const VarId v : op.in)
    for (std::int64_t i = 0; v != kNone && i < elements(from.program().vars[v].shape); ++i)
      to.set(v, i, from.number(v, i));
}

/// Of an op in `dtype`, whose inputs may be rounded more than its output: sums in f64 of f32 values. The logits within
/// the head are of the dtype, too, though its loss is wider; so is the sum that a norm makes.
double tolerance_of(const Op& op, DType dtype, DType output) {
  const bool is_norm = op.type == "layer_norm" || op.type == "rms_norm";
  const bool rounds =
      op.type.rfind("linear_cross_entropy", 0) == 0 || (is_norm && op.out.size() == op_def(op.type).outputs.size());
  return std::max(most_error(output), most_error(rounds ? dtype : wide_of(dtype)));
}

class EveryOpOn : public ::testing::TestWithParam<std::tuple<std::string, std::size_t>> {};

/// Bounds as the dtype has them, since f64's gradient is to read what stands at one in the dtype's output.
Sample with_bounds_in(DType dtype, Sample sample) {
  for (const char* const bound : {"min", "max", "threshold"})
    if (sample.attrs.has(bound)) sample.attrs.set(bound, nearest(dtype, sample.attrs.number(bound)));
  return sample;
}

TEST_P(EveryOpOn, GivesWhatTheCpuGivesInDouble) {
  const auto& [name, row] = GetParam();
  const std::unique_ptr<Device> device = device_named(name);
  const Sample sample = all_samples()[row];
  const bool in_double = std::count(sample.dtypes.begin(), sample.dtypes.end(), DType::f64) > 0;
  Prepared prepared(*device);
  for (const DType dtype : sample.dtypes) {
    const OpProgram made = program_of(sample, dtype),
                    exact = in_double ? program_of(with_bounds_in(dtype, sample), DType::f64) : made;
    Interpreter values(made.program), reference(exact.program);
    fill_inputs(sample, made, values);
    const std::vector<Op>&ops = made.program.blocks[0].ops, &exact_ops = exact.program.blocks[0].ops;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      SCOPED_TRACE(message("op '", ops[i].type, "', ", name_of(dtype)));
      const bool is_for_cpus = device->info().kind == DeviceKind::Cuda && !op_def(ops[i].type).kernels.cuda;
      if (runs_nothing(ops[i]) || is_for_cpus || ops[i].type.rfind(kTestOpPrefix, 0) == 0) {
        values.run_op(i);
        continue;
      }
      const Kernel& kernel = prepared.kernel(made.program, ops[i]);
      const std::vector<Guarded> got = run_on(*device, values, ops[i], kernel);
      const std::vector<Guarded> again = run_on(*device, values, ops[i], kernel);
      copy_inputs(exact_ops[i], values, reference);
      const Trial want = try_op(reference, exact_ops[i], *reference.kernel(i));
      for (std::size_t slot = 0; slot < got.size(); ++slot) {
        const Var& var = made.program.vars[ops[i].out[slot]];
        const Values wanted{exact.program.vars[exact_ops[i].out[slot]].dtype, want.outputs[slot].data()};
        EXPECT_LE(error_of(elements(var.shape), {var.dtype, got[slot].data()}, wanted),
                  tolerance_of(ops[i], dtype, var.dtype))
            << "output " << slot;
        EXPECT_TRUE(again[slot].holds_same(got[slot])) << "output " << slot << ": other bits the second time";
      }
      values.run_op(i);
    }
  }
}

class Activated : public ::testing::TestWithParam<std::string> {};

TEST_P(Activated, KeepsNaN) {
  const std::unique_ptr<Device> device = device_named(GetParam());
  Prepared prepared(*device);
  for (const Sample& sample : all_samples()) {
    if (!sample.attrs.has(kActivation)) continue;
    const OpProgram made = program_of(sample, DType::f32);
    const Op& op = made.program.blocks[0].ops[0];
    SCOPED_TRACE(op.type);
    Interpreter values(made.program);
    fill_inputs(sample, made, values);
    values.set(op.in[0], 0, std::numeric_limits<double>::quiet_NaN());
    const std::vector<Guarded> got = run_on(*device, values, op, prepared.kernel(made.program, op));
    const Trial want = try_op(values, op, *values.kernel(0));
    const std::int64_t count = elements(made.program.vars[op.out[0]].shape);
    int lost = 0, kept = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      if (!std::isnan(number_at(DType::f32, want.outputs[0].data(), i))) continue;
      (std::isnan(number_at(DType::f32, got[0].data(), i)) ? kept : lost) += 1;
    }
    EXPECT_EQ(lost, 0);
    EXPECT_GT(kept, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, Activated, ::testing::ValuesIn(devices()));

INSTANTIATE_TEST_SUITE_P(Rows, EveryOpOn,
                         ::testing::Combine(::testing::ValuesIn(devices()),
                                            ::testing::Range(std::size_t{0}, all_samples().size())),
                         [](const auto& row) {
                           return std::get<0>(row.param) + "_" + sample_names()[std::get<1>(row.param)];
                         });

}  // namespace
}  // namespace lethe::testing
