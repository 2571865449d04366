// Tests the tester: the gradient check accepts right gradients and rejects wrong ones.
#include "tests/support/gradient_check.h"

#include <gtest/gtest.h>

#include <cmath>

#include "framework/language/op_def.h"
#include "tests/support/objective.h"

namespace lethe::testing {
namespace {

using Rule = void (*)(const double* x, const double* dy, double* out, std::int64_t n);

template <Rule rule>
std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
  const std::int64_t n = elements(args.out(0).shape);
  return make_kernel([n, both = args.has_in(1)](const KernelArgs& a) {
    rule(a.in<double>(0), both ? a.in<double>(1) : nullptr, a.out<double>(0), n);
  });
}

void square(const double* x, const double*, double* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = x[i] * x[i];
}
void square_grad(const double* x, const double* dy, double* dx, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) dx[i] = 2 * x[i] * dy[i];
}
void square_grad_almost(const double* x, const double* dy, double* dx, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) dx[i] = 2.0001 * x[i] * dy[i];
}
void square_grad_nan(const double*, const double*, double* dx, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) dx[i] = std::nan("");
}
void shares(const double* x, const double*, double* y, std::int64_t n) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += x[i];
  for (std::int64_t i = 0; i < n; ++i) y[i] = x[i] / sum;
}
/// Right for a plain sum of the outputs, which is always one, and for nothing else.
void shares_grad_of_plain_sum(const double*, const double*, double* dx, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) dx[i] = 0;
}
void faint(const double* x, const double*, double* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = 1e-6 * x[i];
}
void faint_grad_doubled(const double*, const double* dy, double* dx, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) dx[i] = 2e-6 * dy[i];
}
void absolute(const double* x, const double*, double* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = std::abs(x[i]);
}
void absolute_grad(const double* x, const double* dy, double* dx, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) dx[i] = x[i] < 0 ? -dy[i] : dy[i];
}

template <Rule forward>
void define(const char* type, Grad grad) {
  const Register op{{.type = type,
                     .inputs = {"x"},
                     .outputs = {"y"},
                     .infer = same_as_first,
                     .grad = grad,
                     .kernels = {.cpu = prepare<forward>}}};
}
template <Rule backward>
void define_grad(const char* type) {
  const Register op{{.type = type,
                     .inputs = {"x", "dy"},
                     .outputs = {"dx"},
                     .infer = same_as_first,
                     .kernels = {.cpu = prepare<backward>}}};
}

void define_all() {
  static const bool once = [] {
    define<square>("test_square", [](GradBuilder& g) { g.set(0, "test_square_grad", {g.x(0), g.dy()}); });
    define<square>("test_square_almost", [](GradBuilder& g) { g.set(0, "test_square_grad_almost", {g.x(0), g.dy()}); });
    define<square>("test_square_nan", [](GradBuilder& g) { g.set(0, "test_square_grad_nan", {g.x(0), g.dy()}); });
    define<square>("test_square_forgotten", [](GradBuilder&) {});
    define<shares>("test_shares", [](GradBuilder& g) { g.set(0, "test_shares_grad", {g.x(0), g.dy()}); });
    define<faint>("test_faint", [](GradBuilder& g) { g.set(0, "test_faint_grad", {g.x(0), g.dy()}); });
    define<absolute>("test_abs", [](GradBuilder& g) { g.set(0, "test_abs_grad", {g.x(0), g.dy()}); });
    define_grad<square_grad>("test_square_grad");
    define_grad<square_grad_almost>("test_square_grad_almost");
    define_grad<square_grad_nan>("test_square_grad_nan");
    define_grad<shares_grad_of_plain_sum>("test_shares_grad");
    define_grad<faint_grad_doubled>("test_faint_grad");
    define_grad<absolute_grad>("test_abs_grad");
    return true;
  }();
  EXPECT_TRUE(once);
}

/// What the check says of the gradient of `type` at x = 0.3, 0.4, ... (or `first`, first + 0.1, ...).
std::string verdict(const std::string& type, double first = 0.3, const GradientCheck& options = {}) {
  define_all();
  Program program;
  const VarId x = add_var(program, {.name = "x", .shape = {7}, .dtype = DType::f64, .kind = Kind::Input});
  const VarId y = append_op(program, 0, Role::Forward, type, {x}, {}, "y").front();
  const VarId loss = append_objective(program, {y});
  const std::vector<ParamGrad> grads = append_backward(program, loss, {x});
  Interpreter values(program);
  for (int i = 0; i < 7; ++i) values.set(x, i, first + 0.1 * i);
  return wrong_gradient(values, loss, {x}, grads, options);
}

TEST(GradientCheck, AcceptsARightGradient) { EXPECT_EQ(verdict("test_square"), ""); }

TEST(GradientCheck, RejectsAGradientThatIsSlightlyOff) {
  EXPECT_NE(verdict("test_square_almost").find("gradient of 'x', element"), std::string::npos);
}

TEST(GradientCheck, RejectsAWrongGradientThatIsSmall) { EXPECT_NE(verdict("test_faint"), ""); }

TEST(GradientCheck, RejectsNaN) { EXPECT_NE(verdict("test_square_nan"), ""); }

TEST(GradientCheck, RejectsAGradientThatTheRuleForgets) {
  EXPECT_NE(verdict("test_square_forgotten").find("the rule gives none"), std::string::npos);
}

TEST(GradientCheck, RejectsAGradientThatIsRightForAPlainSumOnly) { EXPECT_NE(verdict("test_shares"), ""); }

TEST(GradientCheck, LeavesOutElementsAtAKink) {
  EXPECT_NE(verdict("test_abs", -0.3), "") << "element 3 stands on the kink";
  EXPECT_EQ(verdict("test_abs", -0.3, {.kinks = {0}}), "");
}

}  // namespace
}  // namespace lethe::testing
