#include "memopt/passes/gather_copies.h"

#include <gtest/gtest.h>

#include "framework/language/text.h"
#include "memopt/analysis/check_order.h"
#include "memopt/memopt.h"
#include "tests/memopt/op_order.h"

namespace lethe::testing {
namespace {

using Order = std::vector<std::string>;

struct Analysed {
  explicit Analysed(const Program& program)
      : live(liveness(program)), sharing(share_in_place(program, live, collect_pins(program, {}), log)) {
    Prepared prepared({});
    workspaces = workspaces_of(program, prepared);
  }
  Log log;
  Liveness live;
  Sharing sharing;
  Workspaces workspaces;
};

Program with_copies_gathered(const Program& program) {
  const Analysed made(program);
  const auto casts = [](const Op& a, const Op& b) { return a.type == b.type; };
  return gather_copies(program, made.live, made.sharing, made.workspaces, casts);
}

/// A copy of v that y reads, the ops `between`, a copy of w that z reads, and the ops `after`.
Program two_copies(const std::string& between, const std::string& after, std::int64_t size = 64) {
  std::string text =
      "input x bf16[64]\ninput lr f32[]\ninput g f32[64]\nparam v f32[64]\nparam w f32[64]\ntemp a bf16[64]\n"
      "temp b bf16[64]\ntemp y bf16[64]\ntemp z bf16[64]\ntemp p f32[64]\ntemp q f32[64]\ntemp r f32[64]\nblock 0 {\n"
      "  a = cast(v) {dtype=\"bf16\"}\n  y = mul(x, a)\n" +
      between + "  b = cast(w) {dtype=\"bf16\"}\n  z = mul(y, b)\n" + after + "}\n";
  for (std::size_t at; size != 64 && (at = text.find("[64]")) != std::string::npos;)
    text.replace(at, 4, message('[', size, ']'));
  return parse_program(text);
}
/// Here more lives than at any other time: in front of it there is room for copies to be made sooner.
constexpr const char* kPeakOfCopies = "  p = exp(v)\n  q = exp(w)\n  r = mul(p, q)\n";

TEST(GatherCopies, MakesACopySoonerBesideAnother) {
  const Program before = two_copies("", kPeakOfCopies), after = with_copies_gathered(before);
  const Order order = order_of(after);
  EXPECT_EQ(Order(order.begin(), order.begin() + 4), (Order{"cast a", "cast b", "mul y", "mul z"}));
  check_order(before, after);
}

TEST(GatherCopies, MakesNoneThatWouldRaiseThePeak) {
  const Program before = two_copies(kPeakOfCopies, "");
  EXPECT_EQ(order_of(with_copies_gathered(before)), order_of(before));
}

TEST(GatherCopies, MakesNoneBeforeWhatChangesTheParameter) {
  const Program before = two_copies("  w = sgd(w, g, lr) {weight_decay=0.0} optimize\n", kPeakOfCopies);
  EXPECT_EQ(order_of(with_copies_gathered(before)), order_of(before));
  const Program other = two_copies("  v = sgd(v, g, lr) {weight_decay=0.0} optimize\n", kPeakOfCopies);
  EXPECT_NE(order_of(with_copies_gathered(other)), order_of(other)) << "of another parameter";
}

TEST(GatherCopies, TakesCopiesOfUpToSixteenMiB) {
  const Program before = two_copies("", kPeakOfCopies, kSmallCopy / 2);
  EXPECT_EQ(order_of(with_copies_gathered(before))[1], "cast b");
}

TEST(GatherCopies, LeavesLargeOnesWhereTheyAre) {
  const Program before = two_copies("", kPeakOfCopies, kSmallCopy / 2 + 1);
  EXPECT_EQ(order_of(with_copies_gathered(before)), order_of(before));
}

}  // namespace
}  // namespace lethe::testing
