// Updates of states in 8 bits and of parameters in bf16, element by element.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>

#include "framework/error.h"
#include "framework/language/block_formats.h"
#include "framework/language/dynamic_map.h"
#include "framework/language/text.h"
#include "framework/random.h"
#include "tests/support/interpreter.h"

namespace lethe::testing {
namespace {

constexpr std::int64_t kCount = 3 * 256 + 100, kBlocks = 4;
constexpr std::uint64_t kKey = 12345;
constexpr float kRate = 0.01f;

/// 256 numbers of a state, as the format says it: the value nearest to each over the largest, of two that nearer to 0.
std::vector<float> kept(const std::vector<float>& x, bool is_signed) {
  float most = 0;
  for (const float value : x) most = std::max(most, std::fabs(value));
  std::vector<float> back;
  for (const float value : x) {
    const auto& map = is_signed ? kDynamicValues<true> : kDynamicValues<false>;
    float best = 0;
    const auto distance = [&](float of) { return std::fabs(value / most - of); };
    for (const float of : map)
      if (distance(of) < distance(best) || (distance(of) == distance(best) && std::fabs(of) < std::fabs(best)))
        best = of;
    if (!is_signed && value > 0 && best == 0) best = map[1];
    back.push_back(most == 0 ? 0 : best * most);
  }
  return back;
}
std::vector<float> kept_in_blocks(const std::vector<float>& x, bool is_signed) {
  std::vector<float> all;
  for (std::size_t at = 0; at < x.size(); at += 256) {
    const std::vector<float> block(x.begin() + at, x.begin() + std::min(at + 256, x.size()));
    for (const float value : kept(block, is_signed)) all.push_back(value);
  }
  return all;
}

std::vector<float> floats_in(const Guarded& memory, bool is_signed) {
  std::vector<float> all;
  const auto* const bytes = static_cast<const unsigned char*>(memory.data());
  for (std::int64_t i = 0; i < kCount; ++i) {
    float scale;
    std::memcpy(&scale, bytes + i / 256 * 260, sizeof scale);
    const int code = bytes[i / 256 * 260 + 4 + i % 256];
    all.push_back(scale == 0 ? 0 : scale * (is_signed ? kDynamicValues<true> : kDynamicValues<false>)[code]);
  }
  return all;
}

/// bf16 up or down by 16 random bits.
float rounded(float x, std::int64_t step, std::int64_t element) {
  const Philox4 four = philox(kKey, static_cast<std::uint64_t>(step), static_cast<std::uint64_t>(element / 8));
  const std::uint32_t word = four.word[element % 8 / 2], part = element % 2 == 0 ? word % 65536 : word / 65536;
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(x) + part) & 0xFFFF0000u);
}

struct Element {
  float w, m, v, g;
};
struct BlockCase {
  const char* name;
  std::string update;  // from its type on
  bool has_v, counts;
  std::function<void(Element&, double t)> step;
};

const std::vector<BlockCase> kCases = {
    {"momentum", "momentum(w, m, g, lr, _, step) {momentum=0.9, nesterov=0, weight_decay=0.1", false, false,
     [](Element& e, double) {
       e.m = 0.9f * e.m + std::fma(e.w, 0.1f, e.g);
       e.w = std::fma(e.m, -kRate, e.w);
     }},
    {"nesterov", "momentum(w, m, g, lr, _, step) {momentum=0.9, nesterov=1, weight_decay=0.1", false, false,
     [](Element& e, double) {
       const float g = std::fma(e.w, 0.1f, e.g);
       e.m = 0.9f * e.m + g;
       e.w = std::fma(std::fma(e.m, 0.9f, g), -kRate, e.w);
     }},
    {"lion", "lion(w, m, g, lr, _, step) {beta1=0.9, beta2=0.99, weight_decay=0.1", false, false,
     [](Element& e, double) {
       const float c = std::fma(static_cast<float>(1 - 0.9), e.g - e.m, e.m);
       e.m = std::fma(static_cast<float>(1 - 0.99), e.g - e.m, e.m);
       e.w = std::fma(std::fma(e.w, 0.1f, c > 0 ? 1.0f : c < 0 ? -1.0f : 0.0f), -kRate, e.w);
     }},
    {"adamw", "adam(w, m, v, g, lr, step) {beta1=0.9, beta2=0.99, eps=1e-08, weight_decay=0.1, decoupled=1", true, true,
     [](Element& e, double t) {
       const auto size = static_cast<float>(double{kRate} / (1 - std::pow(0.9, t)));
       const auto root = static_cast<float>(std::sqrt(1 - std::pow(0.99, t)));
       const float w = e.w * static_cast<float>(1 - double{kRate} * 0.1);
       e.m = std::fma(static_cast<float>(1 - 0.9), e.g - e.m, e.m);
       e.v = 0.99f * e.v + static_cast<float>(1 - 0.99) * e.g * e.g;
       e.w = w - size * (e.m / (std::sqrt(e.v) / root + 1e-8f));
     }},
};

std::string program_of(const BlockCase& c, bool low, bool coded) {
  const std::string n = message('[', kCount, ']'), outs = c.has_v ? "w, m, v" : "w, m";
  return message("param w ", low ? "bf16" : "f32", n, "\nstate m ", coded ? "dynamic8" : "f32", n, "\nstate v ",
                 coded ? "udynamic8" : "f32", n, "\ninput g f32", n,
                 "\ninput lr f32[]\nstate step i64[]\nblock 0 {\n  ", outs, " = ", c.update,
                 low ? message(", rounding=", kKey, ", rounding_first=512") : "", "} optimize\n}\n");
}

/// A gradient of many sizes; the second block's is 0.
float gradient_at(std::int64_t step, std::int64_t i) {
  if (i / 256 == 1) return 0;
  return std::pow(10.0f, -static_cast<float>(i % 11) / 2) * std::sin(static_cast<float>(3 * i + 7 * step));
}

void expect_steps(const BlockCase& c, bool low, bool coded, int threads) {
  SCOPED_TRACE(message(c.name, low ? " bf16" : "", coded ? " 8bit" : "", ", ", threads, " threads"));
  const Program program = parse_program(program_of(c, low, coded));
  Interpreter values(program, {.threads = threads});
  for (VarId v = 0; v < 6; ++v)
    std::memset(values.memory(v).data(), 0, static_cast<std::size_t>(values.memory(v).bytes()));
  values.set(4, 0, kRate);
  std::vector<Element> all(kCount);
  for (std::int64_t i = 0; i < kCount; ++i) {
    values.set(0, i, std::cos(i));
    all[i].w = static_cast<float>(values.number(0, i));
  }
  for (std::int64_t step = 0; step < 4; ++step) {
    values.set(5, 0, static_cast<double>(step));
    for (std::int64_t i = 0; i < kCount; ++i) values.set(3, i, all[i].g = gradient_at(step, i));
    values.run();
    std::vector<float> m, v;
    for (std::int64_t i = 0; i < kCount; ++i) {
      c.step(all[i], static_cast<double>(step + 1));
      if (low) all[i].w = rounded(all[i].w, step, 512 + i);
      m.push_back(all[i].m), v.push_back(all[i].v);
      ASSERT_EQ(static_cast<float>(values.number(0, i)), all[i].w) << "w " << i << " step " << step;
    }
    if (!coded) continue;
    m = kept_in_blocks(m, true), v = kept_in_blocks(v, false);
    ASSERT_EQ(floats_in(values.memory(1), true), m) << step;
    if (!c.has_v) std::fill(v.begin(), v.end(), 0.0f);
    ASSERT_EQ(floats_in(values.memory(2), false), v) << step;
    for (std::int64_t i = 0; i < kCount; ++i) all[i].m = m[i], all[i].v = v[i];
  }
}

TEST(BlockUpdate, TakesTheStepsOfItsRuleOnWhatItsStatesHold) {
  for (const BlockCase& c : kCases)
    for (const int threads : {1, 3})
      for (const bool low : {false, true})
        for (const bool coded : {false, true})
          if (low || coded) expect_steps(c, low, coded, threads);
}

}  // namespace
}  // namespace lethe::testing
