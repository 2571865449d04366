// Every kernel written for both devices: its device code, run on the host in two orders of threads, against its CPU
// code, over all sample rows.
#include <gtest/gtest.h>

#include <algorithm>

#include "framework/error.h"
#include "framework/language/control_flow.h"
#include "framework/language/op_def.h"
#include "kernels/device_code.h"
#include "tests/support/op_program.h"
#include "tests/support/rows_apart.h"
#include "tests/support/values.h"

namespace lethe::testing {
namespace {

const DeviceInfo kCuda{.kind = DeviceKind::Cuda, .name = "shim"};

class EveryKernel : public ::testing::TestWithParam<std::size_t> {};

/// Of an op in `dtype`: its inputs may be rounded more than its output, as of sums in f64 of f32 terms.
void compare(const Interpreter& values, const Op& op, DType dtype, const Kernel& host, const Kernel& device) {
  const Trial expected = try_op(values, op, host);
  // Apart from that: addresses where no 16 bytes can be read at once.
  for (const std::int64_t shift : {0, 8})
    for (const auto order : {simt::Order::Forward, simt::Order::Reverse}) {
      if (shift > 0 && order == simt::Order::Reverse) continue;
      SCOPED_TRACE(
          message(order == simt::Order::Forward ? "threads forward" : "threads in reverse", ", shifted ", shift));
      simt::order = order;
      Guarded::shift = shift;
      const Trial got = try_op(values, op, device);  // what it leaves unwritten is NaN or -1
      Guarded::shift = 0;
      EXPECT_EQ(got.harm, "") << "was written";
      for (std::size_t slot = 0; slot < op.out.size(); ++slot) {
        const Var& var = values.program().vars[op.out[slot]];
        const double tolerance = std::max(most_error(var.dtype), most_error(wide_of(dtype)));
        EXPECT_EQ(difference(elements(var.shape), {var.dtype, got.outputs[slot].data()},
                             {var.dtype, expected.outputs[slot].data()}, tolerance),
                  "")
            << "output " << slot;
      }
    }
}

/// Device code whose output stands in the memory of an input, as the op says that it may.
void compare_in_place(const Interpreter& values, const Op& op, const Kernel& device) {
  simt::order = simt::Order::Forward;
  const Trial apart = try_op(values, op, device);
  const std::vector<Var>& vars = values.program().vars;
  for (const InPlace& pair : inplace_pairs(values.program(), op)) {
    if (bytes_of(vars[op.out[pair.out]]) > bytes_of(vars[op.in[pair.in]])) continue;
    const Trial together = try_op(values, op, device, kUnwritten, {pair});
    for (std::size_t slot = 0; slot < op.out.size(); ++slot) {
      const Var& var = vars[op.out[slot]];
      EXPECT_EQ(difference(elements(var.shape), {var.dtype, together.outputs[slot].data()},
                           {var.dtype, apart.outputs[slot].data()}, 0),
                "")
          << "output " << slot << ", output " << pair.out << " in the memory of input " << pair.in;
    }
  }
}

/// Gaps between rows that packs can be read across, and that they cannot.
void compare_rows_apart(const Interpreter& values, const Op& op, const Kernel& host) {
  const Trial expected = try_op(values, op, host);
  for (const Gaps gaps : {Gaps{.in = 16, .out = 16}, Gaps{.in = 3, .out = 5}, Gaps{.in = 16, .out = 0}}) {
    const Trial got = try_rows_apart(values, op, op_def(op.type).kernels.cuda, kCuda, gaps);
    EXPECT_EQ(got.harm, "") << "was written";
    for (std::size_t slot = 0; slot < op.out.size(); ++slot) {
      const Var& var = values.program().vars[op.out[slot]];
      EXPECT_EQ(difference(elements(var.shape), {var.dtype, got.outputs[slot].data()},
                           {var.dtype, expected.outputs[slot].data()}, most_error(var.dtype)),
                "")
          << "output " << slot << ", rows apart";
    }
  }
}

TEST_P(EveryKernel, GivesWhatItsCpuCodeGives) {
  const Sample sample = all_samples()[GetParam()];
  int compared = 0;
  for (const DType dtype : sample.dtypes) {
    const OpProgram made = program_of(sample, dtype);
    Interpreter values(made.program);
    fill_inputs(sample, made, values);
    const std::vector<Op>& ops = made.program.blocks[0].ops;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      SCOPED_TRACE(::testing::Message() << "op '" << ops[i].type << "', " << name_of(dtype));
      const Kernels& kernels = op_def(ops[i].type).kernels;
      if (kernels.cuda && kernels.cuda != kernels.cpu) {  // else a library's
        const auto device = kernels.cuda({made.program, ops[i], kCuda});
        compare(values, ops[i], dtype, *values.kernel(i), *device);
        compare_in_place(values, ops[i], *device);
        if (op_def(ops[i].type).pitched) compare_rows_apart(values, ops[i], *values.kernel(i));
        ++compared;
      }
      values.run_op(i);
    }
  }
  if (compared == 0) GTEST_SKIP() << "no op of this row has device code of its own";
}

INSTANTIATE_TEST_SUITE_P(Rows, EveryKernel, ::testing::Range(std::size_t{0}, all_samples().size()),
                         [](const auto& row) { return sample_names()[row.param]; });

}  // namespace
}  // namespace lethe::testing
