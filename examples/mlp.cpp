// Two interleaved spirals told apart by a small network: a network and samples of one's own, trained by a Session.
#include <cmath>
#include <cstdio>
#include <cstring>

#include "framework/builder/builder.h"
#include "framework/random.h"
#include "train/session/session.h"

using namespace lethe;

/// Points of two spirals; the label says which.
class Spirals final : public Samples {
 public:
  const std::string& name() const override { return name_; }
  std::int64_t size(Split split) const override { return split == Split::Train ? 12800 : 2000; }
  std::int64_t sample_bytes(DType) const override { return 2 * sizeof(float); }
  std::int64_t labels() const override { return 1; }
  std::vector<std::string> classes() const override { return {"first", "second"}; }
  std::unique_ptr<SampleReader> reader(const ReadOptions&) const override { return std::make_unique<Reader>(); }

 private:
  struct Reader final : SampleReader {
    void read(Split split, std::int64_t index, std::int64_t, std::byte* sample, std::int32_t* label) override {
      Random random(1, static_cast<std::uint64_t>(split), static_cast<std::uint64_t>(index));
      *label = static_cast<std::int32_t>(random.below(2));
      const double along = random.uniform(), angle = 3.14159265 * (2.5 * along + *label);
      const float point[] = {static_cast<float>(2 * along * std::cos(angle)),
                             static_cast<float>(2 * along * std::sin(angle))};
      std::memcpy(sample, point, sizeof point);
    }
  };
  std::string name_ = "spirals";
};

/// Layers by name, with the settings that network files have.
Network network(const BuildOptions& options) {
  Builder net(options);
  VarId x = net.input("point", {2});
  for (int i = 0; i < 2; ++i) x = net.layer("relu", net.layer("fc", x, {{"out", 64}}));
  net.loss("cross_entropy", net.layer("fc", x, {{"out", 2}}, "logits"), net.input("label", {}, DType::i32));
  return net.finish();
}

struct Printer final : Listener {
  void record(const Record& r) override {
    if (r.split == "train") std::printf("step %3lld  loss %.4f\n", static_cast<long long>(r.step), r.loss);
  }
};

int main() {
  Session session({.program = {.network = {.build = network, .batch = 128, .seed = 1},
                               .update = {.name = "adam", .rule = optimizer_named("adam")}},
                   .data = {.samples = std::make_shared<Spirals>()},
                   .device = {.threads = 1}});
  std::printf("%lld bytes\n", static_cast<long long>(session.plan().bytes.total()));
  Printer printer;
  session.train({.lr = 0.01, .steps = 600, .log_every = 50}, printer);
  const double right = session.evaluator()->run().accuracy();
  std::printf("right %.1f %%\n", 100 * right);
  return right > 0.97 ? 0 : 1;
}
