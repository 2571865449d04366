#include "memopt/passes/gather_updates.h"

#include <gtest/gtest.h>

#include "framework/language/text.h"
#include "framework/language/verify.h"
#include "memopt/memopt.h"
#include "optimizer/optimizer.h"
#include "tests/memopt/op_order.h"
#include "tests/support/random_program.h"
#include "tests/support/random_training.h"

namespace lethe::testing {
namespace {

bool of_one_type(const Op& a, const Op& b) { return a.type == b.type; }

Program gathered(const Program& program) {
  Prepared prepared({});
  const Liveness live = liveness(program);
  Log log;
  const Sharing sharing = share_in_place(program, live, collect_pins(program, {}), log);
  return gather_updates(program, live, sharing, workspaces_of(program, prepared), of_one_type);
}

std::int64_t most_alive(const Program& program) {
  Prepared prepared({});
  const Liveness live = liveness(program);
  Log log;
  const Sharing sharing = share_in_place(program, live, collect_pins(program, {}), log);
  const std::vector<std::int64_t> alive = bytes_alive(live, sharing, workspaces_of(program, prepared));
  return *std::max_element(alive.begin(), alive.end());
}

/// Two parameters, updated each after its gradient, and the ops `between`.
std::string two_updates(const std::string& vars, const std::string& between, const std::string& after = "") {
  return "input x f32[64]\ninput lr f32[]\nparam v f32[64]\nparam w f32[64]\ntemp dv f32[64]\ntemp dw f32[64]\n" +
         vars + "block 0 {\n  dv = exp(x) backward\n  v = sgd(v, dv, lr) {weight_decay=0.0} optimize\n" + between +
         "  dw = exp(x) backward\n  w = sgd(w, dw, lr) {weight_decay=0.0} optimize\n" + after + "}\n";
}

/// After the updates more lives than at any other time: room for them to wait.
constexpr const char* kMuch = "temp a f32[64]\ntemp b f32[64]\ntemp c f32[64]\n";
constexpr const char* kPeak = "  a = exp(x)\n  b = exp(x)\n  c = sum_n(a, b, x)\n";

TEST(GatherUpdates, LetsAnUpdateWaitForTheNext) {
  const Program program = gathered(parse_program(two_updates(kMuch, "", kPeak)));
  EXPECT_EQ(order_of(program),
            (std::vector<std::string>{"exp dv", "exp dw", "sgd v", "sgd w", "exp a", "exp b", "sum_n c"}));
}

TEST(GatherUpdates, LetsNothingWaitThatWouldRaiseThePeak) {
  const Program before = parse_program(two_updates("", ""));
  EXPECT_EQ(order_of(gathered(before)), order_of(before)) << "both gradients would be alive";
}

TEST(GatherUpdates, LetsNothingWaitAfterWhatReadsTheParameter) {
  const Program before = parse_program(two_updates(kMuch + std::string("temp y f32[64]\n"), "  y = exp(v)\n", kPeak));
  EXPECT_EQ(order_of(gathered(before)), order_of(before));
  const Program by_view = parse_program(two_updates(kMuch + std::string("temp r f32[8,8]\ntemp y f32[8,8]\n"),
                                                    "  r = reshape(v) {shape=[8,8]}\n  y = exp(r)\n", kPeak));
  EXPECT_EQ(order_of(gathered(by_view)), order_of(by_view)) << "as a view of it";
}

TEST(GatherUpdates, TheSecondThatWaitsIsDoneBeforeItsParameterIsRead) {
  const std::string more = "temp d f32[64]\ntemp e f32[64]\ntemp f f32[64]\ntemp y f32[64]\n";
  const Program program = gathered(
      parse_program(two_updates(kMuch + more, "",
                                "  y = exp(w)\n  d = exp(x)\n  e = exp(x)\n  a = exp(x)\n  b = exp(x)\n  c = exp(x)\n"
                                "  f = sum_n(a, b, c, d, e, x)\n")));
  const std::vector<std::string> order = order_of(program);
  EXPECT_EQ((std::vector<std::string>{order.begin(), order.begin() + 5}),
            (std::vector<std::string>{"exp dv", "exp dw", "sgd v", "sgd w", "exp y"}));
}

TEST(GatherUpdates, LetsNothingWaitAfterWhatChangesItsRates) {
  const auto adam = [](const std::string& n) {
    return "  v" + n + ", m" + n + ", q" + n + " = adam(v" + n + ", m" + n + ", q" + n + ", dv, lr, step) " +
           "{beta1=0.9, beta2=0.99, eps=1e-08, weight_decay=0.0} optimize\n";
  };
  const Program before = parse_program(
      "input x f32[64]\ninput lr f32[]\nstate step i64[]\ntemp dv f32[64]\nparam v1 f32[64]\nstate m1 f32[64]\n"
      "state q1 f32[64]\nparam v2 f32[64]\nstate m2 f32[64]\nstate q2 f32[64]\n" +
      std::string(kMuch) + "block 0 {\n  dv = exp(x) backward\n" + adam("1") + "  step = increment(step) optimize\n" +
      adam("2") + kPeak + "}\n");
  EXPECT_EQ(order_of(gathered(before)), order_of(before));
}

TEST(GatherUpdates, LeavesLargeUpdatesWhereTheyAre) {
  std::string text = two_updates(kMuch, "", kPeak);
  for (std::size_t at; (at = text.find("[64]")) != std::string::npos;) text.replace(at, 4, "[262145]");
  const Program before = parse_program(text);
  EXPECT_EQ(order_of(gathered(before)), order_of(before));
}

TEST(GatherUpdates, KeepsEveryOpAndDependencyAndTakesNoByteMore) {
  int moved = 0;
  for (const int seed : random_seeds()) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    const auto random = static_cast<std::uint64_t>(seed);
    const Program made = with_updates(random_program(random), random_rule(random)).network.program;
    Prepared prepared({});
    MemoptOptions options = parse_memopt("level=2");
    options.seconds = 0.01;
    const Planned early = plan_memory(made, prepared, options);
    const Program after = gathered(early.program);
    verify(after);
    std::vector<std::string> a = order_of(early.program), b = order_of(after);
    moved += a != b;
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    EXPECT_EQ(a, b);
    EXPECT_EQ(histories(after), histories(early.program));
    EXPECT_LE(most_alive(after), most_alive(early.program));
    options.gather = true;
    EXPECT_LE(plan_memory(made, prepared, options).plan.bytes.total(), early.plan.bytes.total());
  }
  EXPECT_GT(moved, random_programs() / 2);
}

}  // namespace
}  // namespace lethe::testing
