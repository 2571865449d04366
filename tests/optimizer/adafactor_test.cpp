// Adafactor on parameters of several axes; those of one stand among the other optimizers' tests.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "framework/language/text.h"
#include "optimizer/optimizer.h"
#include "tests/support/expect_error.h"
#include "tests/support/interpreter.h"

namespace lethe::testing {
namespace {

struct Updated {
  Program program;
  VarId param, gradient, rate;
};
Updated updated(const Shape& shape, double decay, Rank shares_of = {}) {
  Updated made;
  made.param = add_var(made.program, {.name = "w", .shape = shape, .dtype = DType::f64, .kind = Kind::Param});
  made.gradient = add_var(made.program, {.name = "g", .shape = shape, .dtype = DType::f64, .kind = Kind::Input});
  OptimizerSettings settings = optimizer_named("adafactor");
  settings.weight_decay = decay;
  const std::vector<ParamInfo> infos = {{.var = made.param, .decay = true}};
  made.rate = append_updates(made.program, {{made.param, made.gradient}}, infos, settings, {}, shares_of).learning_rate;
  return made;
}

void fill_states(const Updated& made, Interpreter& values) {
  for (const char* state : {"w@row", "w@column", "step"})
    for (std::int64_t i = 0; i < elements(made.program.vars[find_var(made.program, state)].shape); ++i)
      values.set(find_var(made.program, state), i, 0);
}

/// tests/oracles/adafactor.py takes the same steps.
TEST(Adafactor, IsPyTorchs) {
  std::ifstream file(LETHE_SOURCE_DIR "/tests/oracles/adafactor.json");
  const nlohmann::json rows = nlohmann::json::parse(file);
  ASSERT_EQ(rows.size(), 6U);
  const std::vector<double> rates = {0.1, 0.9, 0.02};
  for (const nlohmann::json& row : rows)
    for (const bool has_three_axes : {false, true}) {
      const std::int64_t of_rows = row["rows"], of_columns = row["columns"];
      SCOPED_TRACE(::testing::Message() << of_rows << "x" << of_columns << ", decay " << row["weight_decay"]);
      const Shape shape = has_three_axes ? Shape{of_rows, 2, of_columns / 2} : Shape{of_rows, of_columns};
      const Updated made = updated(shape, row["weight_decay"]);
      Interpreter values(made.program);
      const std::int64_t n = of_rows * of_columns;
      for (std::int64_t i = 0; i < n; ++i) values.set(made.param, i, row["start"][i]);
      fill_states(made, values);
      for (std::size_t step = 0; step < rates.size(); ++step) {
        for (std::int64_t i = 0; i < n; ++i)
          values.set(made.gradient, i, std::sin(3.0 * static_cast<double>(i) + 7.0 * static_cast<double>(step) + 1));
        values.set(made.rate, 0, rates[step]);
        values.run();
        for (std::int64_t i = 0; i < n; ++i)
          EXPECT_NEAR(values.number(made.param, i), row["after"][step][i].get<double>(), 1e-13)
              << "step " << step << ", element " << i;
      }
    }
}

/// The sums of a large one are in pieces: all of it against the formula, written out.
TEST(Adafactor, OfALargeMatrixIsTheFormulaByAnyThreads) {
  constexpr std::int64_t kRows = 70, kColumns = 1100;
  const Updated made = updated({kRows, kColumns}, 0);
  std::vector<double> start(kRows * kColumns), gradient(start.size()), rows(kRows), columns(kColumns);
  double start_square = 0, mean = 0, square = 0;
  for (std::size_t i = 0; i < start.size(); ++i) {
    start[i] = std::cos(static_cast<double>(i)), gradient[i] = std::sin(static_cast<double>(i * i % 1009));
    start_square += start[i] * start[i];
    rows[i / kColumns] += gradient[i] * gradient[i] / kColumns;
    columns[i % kColumns] += gradient[i] * gradient[i] / kRows;
  }
  for (const double row : rows) mean += row / kRows;
  const auto direction = [&](std::size_t i) {
    return gradient[i] / std::sqrt(rows[i / kColumns] * columns[i % kColumns] / mean);
  };
  for (std::size_t i = 0; i < start.size(); ++i) square += direction(i) * direction(i);
  const double n = kRows * kColumns, rate = std::sqrt(start_square / n) * 0.1 / std::max(1.0, std::sqrt(square / n));
  for (const int threads : {1, 2}) {
    Interpreter values(made.program, {.threads = threads});
    fill_states(made, values);
    for (std::size_t i = 0; i < start.size(); ++i) {
      values.set(made.param, static_cast<std::int64_t>(i), start[i]);
      values.set(made.gradient, static_cast<std::int64_t>(i), gradient[i]);
    }
    values.set(made.rate, 0, 0.1);
    values.run();
    for (std::size_t i = 0; i < start.size(); ++i)
      ASSERT_NEAR(values.number(made.param, static_cast<std::int64_t>(i)), start[i] - rate * direction(i), 1e-12) << i;
  }
}

TEST(Adafactor, ShowsAGradientThatIsNotANumber) {
  const Updated made = updated({2, 3}, 0);
  Interpreter values(made.program);
  fill_states(made, values);
  for (std::int64_t i = 0; i < 6; ++i) values.set(made.param, i, 1), values.set(made.gradient, i, i == 4 ? NAN : 1);
  values.set(made.rate, 0, 0.1);
  values.run();
  for (std::int64_t i = 0; i < 6; ++i) EXPECT_TRUE(std::isnan(values.number(made.param, i))) << i;
}

TEST(Adafactor, LeavesAllAsItIsInAStepThatIsSkipped) {
  for (const char* op :
       {"w, r, c = adafactor(w, r, c, g, rate, step, scale)", "w, s = adafactor_vector(w, s, g, rate, step, scale)"}) {
    const Program program = parse_program(
        "param w f32[2,3]\nstate r f32[2]\nstate c f32[3]\nstate s f32[2,3]\nstate step i64[]\ninput g f32[2,3]\n"
        "input rate f32[]\ninput scale f32[]\nblock 0 {\n  " +
        std::string(op) + " {beta2_decay=-0.8, eps=0.001, clip=1.0, weight_decay=0.1} optimize\n}\n");
    Interpreter values(program);
    const std::vector<Var>& vars = values.program().vars;
    for (VarId v = 0; v < std::ssize(vars); ++v)
      for (std::int64_t i = 0; i < elements(vars[v].shape); ++i)
        values.set(v, i, vars[v].name == "g" ? INFINITY : vars[v].name == "scale" ? 0 : 1);
    values.run();
    for (const char* name : {"w", "r", "c", "s"})
      for (std::int64_t i = 0; i < elements(vars[find_var(values.program(), name)].shape); ++i)
        EXPECT_EQ(values.number(find_var(values.program(), name), i), 1) << op << ": " << name << ' ' << i;
  }
}

TEST(Adafactor, KeepsARowAndAColumnOfEachParameter) {
  const Program program = updated({30, 5, 4}, 0).program;
  EXPECT_EQ(program.vars[find_var(program, "w@row")].shape, (Shape{30}));
  EXPECT_EQ(program.vars[find_var(program, "w@column")].shape, (Shape{20}));
  const Program vector = updated({30}, 0).program;
  EXPECT_EQ(vector.vars[find_var(vector, "w@square")].shape, (Shape{30}));
}

TEST(Adafactor, IsRefusedForSharesOfParameters) {
  EXPECT_NE(error_of([] {
              updated({30, 4}, 0, {.number = 0, .of = 2});
            }).find("goes with `zero` 0"),
            std::string::npos);
}

}  // namespace
}  // namespace lethe::testing
