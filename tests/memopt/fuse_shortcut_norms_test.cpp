#include "memopt/passes/fuse_shortcut_norms.h"

#include <gtest/gtest.h>

#include <cstring>

#include "framework/language/text.h"
#include "framework/language/verify.h"
#include "memopt/passes/fuse_sums.h"
#include "tests/support/interpreter.h"

namespace lethe::testing {
namespace {

constexpr const char* kFirstNorm = "  y, m, v = batch_norm(x, w, b) {eps=0.001}\n";
constexpr const char* kSecondNorm = "  q, n, u = batch_norm(z, c, _) {eps=1e-05}\n";
constexpr const char* kAddBoth = "  s = add(y, q)\n";

/// Two norms of images of `dtype`, and what `ops` says of their outputs y and q.
Program two_norms(const std::string& ops, const std::string& dtype = "f32") {
  const std::string wide = dtype == "f64" ? "f64" : "f32", channels = wide + "[2]\n";
  std::string text;
  for (const char* name : {"input x ", "input z ", "temp y ", "temp q ", "temp s ", "temp t "})
    text += name + dtype + "[2,3,3,2]\n";
  for (const char* name : {"param w ", "param b ", "param c ", "temp m ", "temp v ", "temp n ", "temp u "})
    text += name + channels;
  return parse_program(text + "input rate " + wide + "[]\nblock 0 {\n" + ops + "}\n");
}

Program with_sums(const Program& program, const PinOptions& pins = {}) {
  return fuse_sums(program, collect_pins(program, pins));
}

Program with_shortcut_norms(const Program& program, const PinOptions& pins = {}) {
  Program made = fuse_shortcut_norms(program, collect_pins(program, pins));
  verify(made);
  return made;
}

TEST(FuseShortcutNorms, TheLaterNormMakesBoth) {
  EXPECT_EQ(with_shortcut_norms(with_sums(two_norms(std::string(kFirstNorm) + kSecondNorm + kAddBoth))),
            two_norms("  m, v = channel_statistics(x)\n"
                      "  s, n, u = batch_norm(z, c, _, x, w, b, m, v) {eps=1e-05, added_eps=0.001}\n"));
}

TEST(FuseShortcutNorms, ChangesNoBit) {
  for (const char* const dtype : {"f32", "f64", "bf16", "f16"}) {
    const Program plain = two_norms(std::string(kFirstNorm) + kSecondNorm + kAddBoth, dtype);
    const Program fused = with_shortcut_norms(with_sums(plain));
    ASSERT_EQ(fused.blocks[0].ops.front().type, "channel_statistics");
    Interpreter before(plain), after(fused);
    for (Interpreter* values : {&before, &after}) {
      std::uint64_t stream = 0;
      for (const char* name : {"x", "z", "w", "b", "c"}) values->fill_uniform(find_var(plain, name), -2, 2, ++stream);
      values->run();
    }
    for (const char* name : {"s", "m", "v", "n", "u"}) {
      const Guarded &a = before.memory(find_var(plain, name)), &b = after.memory(find_var(plain, name));
      EXPECT_EQ(std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.bytes())), 0) << dtype << ", " << name;
    }
  }
}

TEST(FuseShortcutNorms, LeavesWhatIsReadElsewhereOrPinned) {
  const Program read = with_sums(two_norms(std::string(kFirstNorm) + kSecondNorm + kAddBoth + "  t = exp(y)\n"));
  EXPECT_EQ(with_shortcut_norms(read), read);
  const Program once = with_sums(two_norms(std::string(kFirstNorm) + kSecondNorm + kAddBoth));
  EXPECT_EQ(with_shortcut_norms(once, {.skip_vars = {"y"}}), once);
  EXPECT_NE(with_shortcut_norms(once), once);
}

TEST(FuseShortcutNorms, LeavesWhatAnotherOpMakes) {
  const Program other = with_sums(two_norms(std::string("  y = exp(x)\n") + kSecondNorm + kAddBoth));
  EXPECT_EQ(other.blocks[0].ops.size(), 2U);
  EXPECT_EQ(with_shortcut_norms(other), other);
}

TEST(FuseShortcutNorms, LeavesANormWhoseScaleIsUpdatedBefore) {
  Program program = with_sums(two_norms(std::string(kFirstNorm) + kSecondNorm + kAddBoth));
  auto& ops = program.blocks[0].ops;
  const VarId w = find_var(program, "w"), rate = find_var(program, "rate");
  ops.insert(ops.begin() + 1, {.type = "sgd", .in = {w, w, rate}, .out = {w}, .role = Role::Optimize});
  EXPECT_EQ(with_shortcut_norms(program), program);
}

TEST(FuseShortcutNorms, LeavesANormWhoseScaleShowsWhatIsUpdatedBefore) {
  const auto with_scale = [](const std::string& scale) {
    return parse_program(
        "input x f32[2,3,3,2]\ninput z f32[2,3,3,2]\ninput rate f32[]\nparam w f32[2]\nparam c f32[2]\n"
        "temp e f32[2]\ntemp y f32[2,3,3,2]\ntemp s f32[2,3,3,2]\ntemp m f32[2]\ntemp v f32[2]\ntemp n f32[2]\n"
        "temp u f32[2]\nblock 0 {\n  e = reshape(w) {shape=[2]}\n  y, m, v = batch_norm(x, " +
        scale +
        ", _) {eps=0.001}\n  w = sgd(w, c, rate) optimize\n"
        "  s, n, u = batch_norm(z, c, _, y) {eps=1e-05}\n}\n");
  };
  verify(with_scale("e"));
  EXPECT_EQ(with_shortcut_norms(with_scale("e")), with_scale("e"));
  EXPECT_NE(with_shortcut_norms(with_scale("c")), with_scale("c"));
}

}  // namespace
}  // namespace lethe::testing
