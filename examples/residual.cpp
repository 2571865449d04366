// A residual network, block by block, that learns to tell bars from squares and discs in noise.
#include <cmath>
#include <cstdio>

#include "framework/builder/builder.h"
#include "framework/random.h"
#include "train/session/session.h"

using namespace lethe;

constexpr int kSize = 16;

/// Images of one figure each (0: a bar, 1: a square, 2: a disc) at a random place, in noise.
class Figures final : public Samples {
 public:
  const std::string& name() const override { return name_; }
  std::int64_t size(Split split) const override { return split == Split::Train ? 3200 : 300; }
  std::int64_t sample_bytes(DType) const override { return kSize * kSize * sizeof(float); }
  std::int64_t labels() const override { return 1; }
  std::vector<std::string> classes() const override { return {"bar", "square", "disc"}; }
  std::unique_ptr<SampleReader> reader(const ReadOptions&) const override { return std::make_unique<Reader>(); }

 private:
  struct Reader final : SampleReader {
    void read(Split split, std::int64_t index, std::int64_t, std::byte* sample, std::int32_t* label) override {
      Random random(1, static_cast<std::uint64_t>(split), static_cast<std::uint64_t>(index));
      *label = static_cast<std::int32_t>(random.below(3));
      auto* const pixels = reinterpret_cast<float*>(sample);
      const double row = 4 + 8 * random.uniform(), column = 4 + 8 * random.uniform();
      for (int i = 0; i < kSize * kSize; ++i) {
        const double down = std::abs(i / kSize - row), right = std::abs(i % kSize - column);
        const bool inside = *label == 0   ? down < 1.5 && right < 4.5
                            : *label == 1 ? down < 3 && right < 3
                                          : down * down + right * right < 12;
        pixels[i] = static_cast<float>((inside ? 1 : 0) + 0.6 * (random.uniform() - 0.5));
      }
    }
  };
  std::string name_ = "figures";
};

/// relu(x + conv(relu(conv(x)))), each with batch norm; where the size halves, zeros fill the new channels.
VarId residual(Builder& net, VarId x, int channels, int stride, const std::string& path) {
  const Attrs first{{"out", channels}, {"k", 3}, {"stride", stride}, {"bias", false}};
  const Attrs second{{"out", channels}, {"k", 3}, {"bias", false}};
  VarId y = net.layer("bn", net.layer("conv", x, first, path + "/conv1"), {}, path + "/bn1");
  y = net.layer("relu", y, {}, path + "/relu1");
  y = net.layer("bn", net.layer("conv", y, second, path + "/conv2"), {}, path + "/bn2");
  if (stride > 1) x = net.layer("pad_channels", x, {{"out", channels}, {"stride", stride}}, path + "/shortcut");
  return net.layer("relu", net.layer("add", {y, x}, {}, path + "/sum"), {}, path + "/relu2");
}

Network network(const BuildOptions& options) {
  Builder net(options);
  VarId x = net.layer("relu", net.layer("conv", net.input("image", {kSize, kSize, 1}), {{"out", 8}, {"k", 3}}));
  x = residual(net, x, 8, 1, "block1");
  x = residual(net, x, 16, 2, "block2");
  x = net.layer("fc", net.layer("global_avg_pool", x), {{"out", 3}}, "logits");
  net.loss("cross_entropy", x, net.input("label", {}, DType::i32));
  return net.finish();
}

int main() {
  Session session({.program = {.network = {.build = network, .batch = 32, .seed = 1}},
                   .data = {.samples = std::make_shared<Figures>()},
                   .device = {.threads = 1}});
  const Record last = session.train({.lr = 0.03, .steps = 120});
  const double right = session.evaluator()->run().accuracy();
  std::printf("loss %.4f, right %.1f %%\n", last.loss, 100 * right);
  return last.loss < 0.3 && right > 0.9 ? 0 : 1;
}
