// Gradients through loops and branches, against differences and against the same network written out.
#include <gtest/gtest.h>

#include <functional>

#include "tests/support/expect_error.h"
#include "tests/support/gradient_check.h"
#include "tests/support/loop_networks.h"
#include "tests/support/random_control.h"

namespace lethe::testing {
namespace {

class LoopGradient : public ::testing::TestWithParam<LoopNetwork> {};

TEST_P(LoopGradient, IsThatOfDifferences) {
  EXPECT_EQ(wrong_gradient(with_backward(GetParam().build(DType::f64))), "");
}

INSTANTIATE_TEST_SUITE_P(Nestings, LoopGradient, ::testing::ValuesIn(loop_networks()),
                         [](const auto& info) { return info.param.name; });

TEST(LoopGradient, IsThatOfDifferencesInRandomPrograms) {
  for (const int seed : random_seeds(random_programs() / 2)) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    EXPECT_EQ(wrong_gradient(random_control_program(static_cast<std::uint64_t>(seed))), "");
    if (HasFailure()) return;
  }
}

using Results = std::map<std::string, std::vector<double>>;

/// Loss, states and gradients, by name.
Results results_of(const TrainingProgram& made) {
  const Program& program = made.network.program;
  Interpreter values(program);
  fill_network(made.network, values);
  values.fill_uniform(made.network.inputs[0], -1, 1, 3);
  values.fill_uniform(made.network.inputs[1], 0, 4, 4);
  values.run();
  Results results = {{"loss", {values.number(made.network.loss)}}};
  const auto add = [&](const std::string& name, VarId v) {
    for (std::int64_t i = 0; i < elements(program.vars[v].shape); ++i) results[name].push_back(values.number(v, i));
  };
  for (const ParamGrad& g : made.grads) add(program.vars[g.param].name, g.grad);
  for (std::size_t v = 0; v < program.vars.size(); ++v)
    if (program.vars[v].kind == Kind::State) add(program.vars[v].name, static_cast<VarId>(v));
  return results;
}

Results results_of_lstm(std::int64_t trips, bool unrolled, DType dtype, bool recompute = false) {
  return results_of(with_backward(lstm(trips, unrolled, dtype, recompute)));
}

/// Of norms in a loop and in both sides of a branch, all within a loop.
Results results_of_norms(bool recompute) {
  Builder net({.batch = 2, .dtype = DType::f64});
  const VarId x = net.input("x", {5, 3}), label = net.input("label", {}, DType::i32);
  const auto norm = [&](VarId v) { return Vars{net.layer("tanh", net.layer("bn", v))}; };
  const auto body = [&](const Vars& outer) {
    const VarId h = net.loop({outer[0]}, 3, nullptr, [&](const Vars& inner) { return norm(inner[0]); })[0];
    const VarId condition = net.layer("greater", net.layer("mean", h), {{"value", 0.0}});
    return net.branch(
        condition, [&] { return norm(h); }, [&] { return norm(net.layer("sigmoid", h)); });
  };
  const VarId last = net.loop({x}, 2, nullptr, body, "", recompute)[0];
  net.loss("cross_entropy", net.layer("fc", last, {{"out", 4}}), label);
  return results_of(with_backward(net.finish()));
}

TEST(LoopGradient, OfABodyThatRunsAgainUpdatesStatisticsOnce) {
  EXPECT_EQ(results_of_norms(true), results_of_norms(false));
}

void expect_near(const Results& got, const Results& expected, double tolerance) {
  ASSERT_EQ(got.size(), expected.size());
  for (const auto& [name, numbers] : expected) {
    ASSERT_EQ(got.at(name).size(), numbers.size()) << name;
    double largest = 0;
    for (const double number : numbers) largest = std::max(largest, std::abs(number));
    for (std::size_t i = 0; i < numbers.size(); ++i)
      EXPECT_NEAR(got.at(name)[i], numbers[i], tolerance * largest) << name << " " << i;
  }
}

TEST(Lstm, AsALoopGivesWhatItGivesWrittenOut) {
  for (const std::int64_t trips : {1, 2, 37})
    for (const bool recompute : {false, true}) {
      SCOPED_TRACE(::testing::Message() << trips << " trips" << (recompute ? ", recomputed" : ""));
      expect_near(results_of_lstm(trips, false, DType::f64, recompute), results_of_lstm(trips, true, DType::f64),
                  1e-12);
      expect_near(results_of_lstm(trips, false, DType::f32, recompute), results_of_lstm(trips, true, DType::f32), 1e-5);
    }
}

std::int64_t stash_bytes(const Program& program) {
  std::int64_t bytes = 0;
  for (const Var& var : program.vars)
    if (var.name.find("@STASH") != std::string::npos) bytes += bytes_of(var);
  return bytes;
}

TEST(Stash, HoldsOfEachTripWhatBackwardReadsAndNothingElse) {
  for (const std::int64_t trips : {16, 64, 256}) {
    const std::int64_t value = 2 * 3 * 8;  // of one gate: batch, width, bytes of f64
    const std::int64_t read = 8 * value;   // [x, h], twice as wide; four gates; c; tanh of the next c
    EXPECT_EQ(stash_bytes(with_backward(lstm(trips, false, DType::f64)).network.program), trips * read);
    EXPECT_EQ(stash_bytes(with_backward(lstm(trips, false, DType::f64, true)).network.program), trips * 2 * value)
        << "recomputed: h and c";
  }
}

TEST(Stash, HoldsNothingForWhatOnlyTheConditionReads) {
  for (const LoopNetwork& entry : loop_networks()) {
    if (entry.name != "LoopThatReadsData") continue;
    const std::int64_t value = 2 * 3 * 8;
    EXPECT_EQ(stash_bytes(with_backward(entry.build(DType::f64)).network.program), 6 * 2 * value)
        << "what the product and the tanh read, not the square of the change";
    return;
  }
  FAIL();
}

/// What append_backward says of a network that `middle` makes of an array that is written in a loop of two trips.
std::string refusal(const std::function<VarId(Builder&, VarId x, VarId all)>& middle) {
  Builder net({.batch = 2, .dtype = DType::f64});
  const VarId x = net.layer("fc", net.input("x", {3}), {{"out", 3}});
  const VarId all = net.layer("array", x, {{"length", 2}, {"shape", Ints{3}}});
  net.loss("cross_entropy", middle(net, x, all), net.input("label", {}, DType::i32));
  Network network = net.finish();
  return error_of([&] { append_backward(network.program, network.loss); });
}

/// The loop: multiplies by what `read` gives and writes that into the array.
VarId written_by_a_loop(Builder& net, VarId x, VarId all, const std::function<VarId()>& read) {
  return net.loop({x}, 2, nullptr, [&](const Vars& h) {
    const VarId next = net.layer("mul", {h[0], read()});
    net.layer("array_write", {all, next, net.trip()});
    return Vars{next};
  })[0];
}

VarId sum_of_squares(Builder& net, VarId all) { return net.layer("mean", net.layer("square", all)); }

constexpr const char* kTooEarly = "as it was before it is written again; read it when it is complete";

TEST(Autodiff, RefusesTheGradientOfAnArrayThatIsReadBeforeItIsComplete) {
  EXPECT_EQ(refusal([](Builder& net, VarId x, VarId all) {
              return written_by_a_loop(net, x, all, [&] { return sum_of_squares(net, all); });
            }),
            message("gradient of square: backward needs 'array1.y' ", kTooEarly));
}

TEST(Autodiff, RefusesItInABranchWhoseValuesOutliveIt) {
  EXPECT_EQ(refusal([](Builder& net, VarId x, VarId) {
              const VarId condition = net.layer("greater", net.layer("mean", x), {{"value", 0.0}});
              const auto then = [&] {
                const VarId all = net.layer("array", x, {{"length", 2}, {"shape", Ints{3}}}, "inner");
                const VarId early = net.layer("mul", {x, sum_of_squares(net, all)});
                const VarId last = written_by_a_loop(net, x, all, [&] { return x; });
                return Vars{net.layer("mul", {net.layer("mul", {last, sum_of_squares(net, all)}), early})};
              };
              return net.branch(condition, then, [&] { return Vars{x}; })[0];
            }),
            message("gradient of square: backward needs 'inner.y' ", kTooEarly));
}

TEST(Autodiff, RefusesAConditionThatChangesWhatNeedsAGradient) {
  EXPECT_EQ(refusal([](Builder& net, VarId x, VarId all) {
              const auto condition = [&](const Vars& h) {
                net.layer("array_write", {all, h[0], net.trip()});
                return net.layer("less", net.trip(), {{"value", 2}});
              };
              const VarId last =
                  net.loop({x}, 2, condition, [&](const Vars& h) { return Vars{net.layer("tanh", h[0])}; })[0];
              return net.layer("mul", {last, sum_of_squares(net, all)});
            }),
            "the condition of a loop changes 'array1.y', whose gradient is needed; change it in the body");
}

}  // namespace
}  // namespace lethe::testing
