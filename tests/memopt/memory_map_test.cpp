#include "memopt/memory_map.h"

#include <gtest/gtest.h>

#include <numeric>

#include "framework/language/text.h"
#include "optimizer/optimizer.h"
#include "tests/memopt/same_result.h"

namespace lethe::testing {
namespace {

std::int64_t of(const BytesBy& bytes, Category category) { return bytes[static_cast<std::size_t>(category)]; }

/// y = fc(x), its gradients, momentum.
constexpr const char* kStep =
    "input x f32[2,4]\ninput dy f32[2,3]\ninput lr f32[]\nparam w f32[3,4]\nstate m f32[3,4]\nstate mean f32[4]\nstate "
    "var f32[4]\ntemp m0 f32[4]\ntemp v0 f32[4]\n"
    "temp y f32[2,3]\ntemp a f32[3,4]\ntemp b f32[3,4]\ntemp dw f32[3,4]\ntemp dx f32[2,4]\n"
    "block 0 {\n  y = matmul(x, w) {transpose_b=1}\n"
    "  a = matmul(dy, x) {transpose_a=1} backward\n  b = matmul(dy, x) {transpose_a=1} backward\n"
    "  dw = sum_n(a, b) backward\n  dx = matmul(dy, w) backward\n"
    "  mean, var = batch_norm_update(mean, var, m0, v0) {momentum=0.1, count=4} optimize\n"
    "  w, m = momentum(w, m, dw, lr) {momentum=0.9, nesterov=0, weight_decay=0.0} optimize\n}\n";

TEST(Categories, FollowFromRolesAndFromWhatIsUpdated) {
  const Program program = parse_program(kStep);
  std::map<std::string, Category> categories;
  for (std::size_t v = 0; v < program.vars.size(); ++v) categories[program.vars[v].name] = categories_of(program)[v];
  const std::map<std::string, Category> expected = {
      {"x", Category::Inputs},       {"dy", Category::Inputs},         {"lr", Category::Inputs},
      {"w", Category::Params},       {"mean", Category::Params},       {"var", Category::Params},
      {"m0", Category::Activations}, {"v0", Category::Activations},    {"m", Category::Optimizer},
      {"y", Category::Activations},  {"a", Category::ParamGrads},      {"b", Category::ParamGrads},
      {"dw", Category::ParamGrads},  {"dx", Category::ActivationGrads}};
  EXPECT_EQ(categories, expected);
}

TEST(Categories, WhatAnEmbeddingAddsToIsAGradientOfTheTable) {
  const Program program = parse_program(
      "input ids i32[2]\ninput dy f32[2,3]\ninput lr f32[]\nparam w f32[4,3]\nstate m f32[4,3]\ntemp a f32[4,3]\n"
      "temp dw f32[4,3]\nblock 0 {\n  a = exp(w) backward\n  dw = embedding_grad(ids, dy, a) {rows=4} backward\n"
      "  w, m = momentum(w, m, dw, lr) {momentum=0.9, nesterov=0, weight_decay=0.0} optimize\n}\n");
  EXPECT_EQ(categories_of(program)[find_var(program, "a")], Category::ParamGrads);
}

TEST(Categories, AStateIsTheOptimizersWithoutAGradient) {
  const Program program = parse_program(
      "input dy f32[2,3]\ninput x f32[2,4]\ninput lr f32[]\nparam w f32[3,4]\nstate m f32[3,4]\nblock 0 {\n"
      "  w, m = matmul_momentum(w, m, dy, x, lr) {momentum=0.9} optimize\n}\n");
  EXPECT_EQ(categories_of(program)[find_var(program, "m")], Category::Optimizer);
}

TEST(MemoryMap, ThePeakAddsUpToThePlanUnderEverySetting) {
  for (const int seed : random_seeds()) {
    const Program program = with_updates(random_program(static_cast<std::uint64_t>(seed)), "adam").network.program;
    for (const std::string& setting : all_settings()) {
      Prepared prepared({});
      MemoptOptions options = parse_memopt(setting);
      options.seconds = 0.01;
      const Planned planned = plan_memory(program, prepared, options);
      const Peak peak = peak_of(planned);
      EXPECT_EQ(peak.total(), planned.plan.bytes.total());
      EXPECT_GE(peak.idle, 0) << "seed " << seed << ", " << setting << ": more lives than is held";
      std::int64_t living = 0;
      for (const Resident& r : peak.living) living += r.bytes;
      EXPECT_EQ(living + peak.idle, planned.plan.bytes.total());
    }
  }
}

TEST(MemoryMap, AnArenaAtItsBoundIsIdleOnlyForPadding) {
  for (const int seed : random_seeds()) {
    const Program program = random_program(static_cast<std::uint64_t>(seed)).network.program;
    Prepared prepared({});
    const Planned planned = plan_memory(program, prepared, parse_memopt("level=2"));
    const Peak peak = peak_of(planned);
    if (planned.arena->bytes != planned.arena->lower_bound) continue;
    EXPECT_LT(peak.idle, static_cast<std::int64_t>(peak.living.size()) * prepared.device().alignment);
  }
}

TEST(MemoryMap, ValuesOfOneStorageFollowEachOther) {
  int handed_over = 0;
  for (const int seed : random_seeds()) {
    const Program program = random_program(static_cast<std::uint64_t>(seed)).network.program;
    Prepared prepared({});
    std::map<int, Tick> end;
    for (const Resident& r : residents(plan_memory(program, prepared, parse_memopt("level=2")))) {
      EXPECT_LE(r.until, r.life.dies);
      handed_over += r.until < r.life.dies;
      if (r.storage < 0) continue;
      EXPECT_GE(r.life.born, end[r.storage]) << "seed " << seed;
      end[r.storage] = r.until;
    }
  }
  EXPECT_GT(handed_over, 0);
}

TEST(MemoryMap, AWorkspaceIsThatOfItsOpAmongDeletesToo) {
  int found = 0;
  for (const int seed : random_seeds()) {
    const Program program = random_program(static_cast<std::uint64_t>(seed)).network.program;
    Prepared prepared({});
    const Planned planned = plan_memory(program, prepared, parse_memopt("level=1,release"));
    for (const Resident& r : residents(planned)) {
      if (r.var != kNone) continue;
      const auto [block, index] = planned.live.at[static_cast<std::size_t>(r.op.first)];
      const auto op = static_cast<std::size_t>(index);
      EXPECT_EQ(r.bytes, prepared.workspace_bytes(planned.program, planned.program.blocks[block].ops[op]));
      EXPECT_EQ(r.place, planned.plan.workspaces[block][op]);
      ++found;
    }
  }
  EXPECT_GT(found, 0);
}

TEST(MemoryMap, WithoutSharingAllVarsAreHeld) {
  const Program program = random_program(5).network.program;
  Prepared prepared({});
  const Workspaces workspaces = workspaces_of(program, prepared);
  const BytesBy all = bytes_of_all_vars(program, workspaces);
  const Bytes none = plan_none(program, workspaces).bytes;
  EXPECT_EQ(std::accumulate(all.begin(), all.end(), std::int64_t{0}), none.total());
  EXPECT_EQ(of(all, Category::Params), none.params + none.states);
}

}  // namespace
}  // namespace lethe::testing
