// Adafactor on parameters of several axes; those of one stand among the other optimizers' tests.
#include <gtest/gtest.h>

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
      for (const char* state : {"w@row", "w@column"})
        for (std::int64_t i = 0; i < elements(made.program.vars[find_var(made.program, state)].shape); ++i)
          values.set(find_var(made.program, state), i, 0);
      values.set(find_var(made.program, "step"), 0, 0);
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
