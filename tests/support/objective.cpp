#include "tests/support/objective.h"

#include "framework/autodiff/autodiff.h"
#include "framework/language/op_def.h"
#include "framework/random.h"
#include "tests/support/values.h"

namespace lethe::testing {
namespace {

std::vector<double> weights(std::int64_t slot, std::int64_t count) {
  Random random(7, static_cast<std::uint64_t>(slot));
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(2 * random.uniform() - 1);
  return values;
}

std::unique_ptr<Kernel> weigh(const PrepareArgs& args) {
  std::vector<std::vector<double>> terms;
  for (int slot = 0; slot < static_cast<int>(args.op.in.size()); ++slot)
    terms.push_back(weights(slot, elements(args.in(slot).shape)));
  return make_kernel([terms, dtype = args.out(0).dtype](const KernelArgs& a) {
    double sum = 0;
    for (std::size_t slot = 0; slot < terms.size(); ++slot)
      for (std::size_t i = 0; i < terms[slot].size(); ++i)
        sum += terms[slot][i] * number_at(dtype, a.inputs[slot], static_cast<std::int64_t>(i));
    set_number(dtype, a.outputs[0], 0, sum);
  });
}

std::unique_ptr<Kernel> weigh_grad(const PrepareArgs& args) {
  std::vector<double> term = weights(args.op.attrs.integer("slot"), elements(args.out(0).shape));
  return make_kernel([term = std::move(term), dtype = args.out(0).dtype](const KernelArgs& a) {
    const double dy = number_at(dtype, a.inputs[1], 0);
    for (std::size_t i = 0; i < term.size(); ++i)
      set_number(dtype, a.outputs[0], static_cast<std::int64_t>(i), term[i] * dy);
  });
}

const Register objective{{
    .type = "test_objective",
    .inputs = {"x..."},
    .outputs = {"y"},
    .infer =
        [](const InferArgs& args) {
          return std::vector<Type>{{{}, args.in(0).dtype}};
        },
    .grad =
        [](GradBuilder& g) {
          for (int slot = 0; slot < g.inputs(); ++slot)
            g.set(slot, "test_objective_grad", {g.x(slot), g.dy()}, {{"slot", slot}});
        },
    .kernels = {.cpu = weigh},
}};

const Register objective_grad{{
    .type = "test_objective_grad",
    .inputs = {"x", "dy"},
    .outputs = {"dx"},
    .infer = same_as_first,
    .kernels = {.cpu = weigh_grad},
}};

}  // namespace

VarId append_objective(Program& program, const std::vector<VarId>& vars) {
  return append_op(program, 0, Role::Forward, "test_objective", vars, {}, "objective").front();
}

}  // namespace lethe::testing
