#include "tests/support/objective.h"

#include "framework/autodiff.h"
#include "framework/op_def.h"
#include "framework/random.h"
#include "tests/support/values.h"

namespace lethe::testing {
namespace {

double weight(std::int64_t slot, std::int64_t element) {
  const Philox4 r = philox(stream_key(7, static_cast<std::uint64_t>(slot)), 0, static_cast<std::uint64_t>(element));
  return 2 * uniform_of(r.word[0], r.word[1]) - 1;
}

std::unique_ptr<Kernel> weigh(const PrepareArgs& args) {
  struct Term {
    DType dtype;
    std::int64_t count;
  };
  std::vector<Term> terms;
  for (const VarId v : args.op.in) terms.push_back({args.program.vars[v].dtype, elements(args.program.vars[v].shape)});
  return make_kernel([terms](const KernelArgs& a) {
    double sum = 0;
    for (std::size_t slot = 0; slot < terms.size(); ++slot)
      for (std::int64_t i = 0; i < terms[slot].count; ++i)
        sum += weight(static_cast<std::int64_t>(slot), i) * number_at(terms[slot].dtype, a.inputs[slot], i);
    set_number(terms[0].dtype, a.outputs[0], 0, sum);
  });
}

std::unique_ptr<Kernel> weigh_grad(const PrepareArgs& args) {
  const std::int64_t slot = args.op.attrs.integer("slot"), count = elements(args.out(0).shape);
  return make_kernel([slot, count, dtype = args.out(0).dtype](const KernelArgs& a) {
    const double dy = number_at(dtype, a.inputs[1], 0);
    for (std::int64_t i = 0; i < count; ++i) set_number(dtype, a.outputs[0], i, weight(slot, i) * dy);
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
