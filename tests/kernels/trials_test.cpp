#include "kernels/trials.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "kernels/conv/conv.h"
#include "tests/kernels/conv_definition.h"

namespace lethe::testing {
namespace {

class Sleeper final : public Kernel {
 public:
  Sleeper(int ms, int& runs) : ms_(ms), runs_(runs) {}
  std::int64_t workspace_bytes() const override { return 100; }
  void run(const KernelArgs& args) const override {
    ++runs_;
    for (void* memory : {args.inputs[0], args.outputs[0], args.workspace})
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 64, 0U);
    std::this_thread::sleep_for(std::chrono::milliseconds(ms_));
  }

 private:
  int ms_;
  int& runs_;
};

const Operands kOperands{{40}, 4};
const DeviceInfo kDevice{.threads = 1};

TEST(Trials, TheFastestIsTakenAndRemembered) {
  int slow = 0, fast = 0, hopeless = 0;
  const std::vector<Algorithm> algorithms = {{"none", [] { return std::unique_ptr<Kernel>(); }},
                                             {"slow", [&] { return std::make_unique<Sleeper>(20, slow); }},
                                             {"fast", [&] { return std::make_unique<Sleeper>(14, fast); }},
                                             {"hopeless", [&] { return std::make_unique<Sleeper>(150, hopeless); }}};
  std::vector<Trials::Choices> told;
  Trials trials({{"other", "slow"}}, [&](const Trials::Choices& choices) { told.push_back(choices); });
  const auto chosen = trials.best("this", algorithms, kOperands, kDevice);
  EXPECT_EQ(told, (std::vector<Trials::Choices>{{{"other", "slow"}, {"this", "fast"}}}));
  EXPECT_GT(slow, 2) << "the first run alone says little";
  EXPECT_EQ(hopeless, 2) << "what takes several times as long is not tried on";
  const int tried = fast;
  EXPECT_NE(trials.best("this", algorithms, kOperands, kDevice).kernel, nullptr);
  EXPECT_EQ(fast, tried);
  EXPECT_EQ(told.size(), 1U);
}

TEST(Trials, TheFirstStaysIfTheOthersSaveLittle) {
  int first = 0, second = 0;
  const std::vector<Algorithm> algorithms = {{"first", [&] { return std::make_unique<Sleeper>(30, first); }},
                                             {"second", [&] { return std::make_unique<Sleeper>(29, second); }}};
  Trials::Choices told;
  Trials trials({}, [&](const Trials::Choices& choices) { told = choices; });
  EXPECT_NE(trials.best("this", algorithms, kOperands, kDevice).kernel, nullptr);
  EXPECT_EQ(told.at("this"), "first");
  EXPECT_EQ(trials.best("that", {}, kOperands, kDevice).kernel, nullptr);
}

TEST(Trials, AChoiceThatIsNoAlgorithmAnyMoreIsMadeAnew) {
  int runs = 0;
  Trials trials({{"this", "gone"}, {"that", "none"}});
  const std::vector<Algorithm> algorithms = {{"none", [] { return std::unique_ptr<Kernel>(); }},
                                             {"one", [&] { return std::make_unique<Sleeper>(0, runs); }}};
  EXPECT_NE(trials.best("this", algorithms, kOperands, kDevice).kernel, nullptr);
  EXPECT_NE(trials.best("that", algorithms, kOperands, kDevice).kernel, nullptr);
  EXPECT_EQ(runs, 0) << "there is nothing to choose";
}

/// The convolution that is computed by the algorithm of that name, as a file of choices would have it.
std::unique_ptr<Kernel> prepared_by(const char* algorithm, ConvPass pass, const ConvShape& s, bool bias, int threads) {
  std::string what;
  const auto tried = std::make_shared<Trials>(Trials::Choices(), [&](const auto& all) { what = all.begin()->first; });
  prepare_conv(pass, s, {.bias = bias}, DType::f32, {.threads = threads, .trials = tried});
  const auto known = std::make_shared<Trials>(Trials::Choices{{what, algorithm}});
  return prepare_conv(pass, s, {.bias = bias}, DType::f32, {.threads = threads, .trials = known});
}

TEST(Trials, ConvolutionsAreComputedByTheAlgorithmThatIsKnown) {
  const ConvShape pointwise = with_out({.batch = 3, .channels = 16, .filters = 24, .in = {6, 7}, .kernel = {1, 1}}),
                  wide = with_out({.batch = 2, .channels = 8, .filters = 4, .in = {9, 8}, .kernel = {3, 3}});
  for (const ConvPass pass : {ConvPass::Forward, ConvPass::GradInput, ConvPass::GradWeight}) {
    const auto implementation = [&](const char* algorithm, const ConvShape& s) {
      return prepared_by(algorithm, pass, s, false, 1)->implementation();
    };
    EXPECT_EQ(implementation("product", pointwise).rfind("product, ", 0), 0U);
    EXPECT_EQ(implementation("im2col", pointwise), "im2col, Eigen");
    EXPECT_EQ(implementation("winograd", wide), "own Winograd");
  }
  compare_with_definition<float>(pointwise, [&](ConvPass pass, bool bias, int threads) {
    return prepared_by("product", pass, pointwise, bias, threads);
  });
}

}  // namespace
}  // namespace lethe::testing
