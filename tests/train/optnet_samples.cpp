#include "tests/train/optnet_samples.h"

#include <algorithm>
#include <fstream>

#include "train/optnet/published.h"

namespace lethe::testing {
namespace {

nlohmann::json parsed(const std::string& file) {
  std::ifstream in(std::string(LETHE_SOURCE_DIR "/tests/train/optnet/") + file);
  return nlohmann::json::parse(in);
}

/// Records write 10000 for never and -10000 for always.
OptnetTick tick(std::int64_t recorded) {
  if (recorded == 10000) return kOptnetNever;
  return recorded == -10000 ? -1 : recorded;
}

}  // namespace

Network OptnetSample::network() const {
  const char* const as_in_tables_1_and_2 = training ? "false" : "true";
  return load_network(model, {.batch = batch, .dtype = dtype},
                      {{"dropout", as_in_tables_1_and_2}, {"bn", as_in_tables_1_and_2}});
}

const std::vector<OptnetSample>& optnet_samples() {
  static const std::vector<OptnetSample> all = [] {
    std::vector<OptnetSample> samples;
    for (const auto& [name, model] : {std::pair{"alexnet", "optnet/alexnet"},
                                      {"vgg-A", "optnet/vgg_a"},
                                      {"googlenet", "optnet/googlenet"},
                                      {"resnet110", "optnet/resnet110"}}) {
      samples.push_back({std::string("table1/") + name, model, 1, DType::f64, false, TorchBackend::Nn});
      samples.push_back({std::string("table2/") + name, model, 128});
      samples.push_back({std::string("table3/") + name, model, 64, DType::f32, true});
    }
    return samples;
  }();
  return all;
}

std::vector<RecordedLife> recorded_lives(const OptnetSample& sample) {
  std::string file = "lifetimes_" + sample.key + ".json";
  std::replace(file.begin(), file.end(), '/', '_');
  std::vector<RecordedLife> lives;
  for (const auto& life : parsed(file)) {
    const std::string kind = life["kind"];
    lives.push_back({.record = {.elements = life["elements"],
                                .defined = tick(life["defined"]),
                                .used = tick(life["used"]),
                                .kind = kind == "ghost"    ? OptnetKind::Ghost
                                        : kind == "normal" ? OptnetKind::Shared
                                                           : OptnetKind::Pinned},
                     .group = life["group"],
                     .gone = kind == "gone"});
  }
  return lives;
}

OptnetBytes recorded_bytes(const OptnetSample& sample, bool after) {
  const auto bytes = parsed("golden_bytes.json")[sample.key][after ? "after" : "before"];
  return {.outputs = bytes["outputs"],
          .grad_inputs = bytes["gradInputs"],
          .buffers = bytes["buffers"],
          .params = bytes["params"]};
}

Network mixed_network(bool training) {
  Builder net({.batch = 2, .dtype = DType::f64, .training = training});
  const auto conv = [&](VarId x, std::int64_t out, std::int64_t k) {
    return net.layer("relu", net.layer("conv", x, {{"out", out}, {"k", k}}));
  };
  VarId x = conv(net.input("image", {8, 8, 3}), 5, 3);
  x = net.layer("max_pool", x, {{"k", 3}, {"stride", 2}, {"pad", 1}});
  const VarId a = conv(conv(x, 4, 1), 3, 3), b = net.layer("max_pool", x, {{"k", 3}, {"stride", 1}, {"pad", 1}});
  const VarId c = net.layer("avg_pool", x, {{"k", 3}, {"stride", 1}, {"pad", 1}});
  const VarId pointwise = net.layer("conv", x, {{"out", 4}, {"k", 1}});
  const VarId d = net.layer("add", {net.layer("bn", pointwise), net.layer("conv", x, {{"out", 4}, {"k", 3}})});
  x = net.layer("concat", {a, b, c, d});
  const VarId branch = net.layer("bn", net.layer("conv", conv(x, 6, 3), {{"out", 17}, {"k", 3}}));
  x = net.layer("relu", {net.layer("add", {branch, x})});
  x = net.layer("relu", net.layer("fc", net.layer("dropout", x, {{"p", 0.5}}), {{"out", 9}}));
  return net.finish({net.layer("log_softmax", net.layer("fc", x, {{"out", 4}}))});
}

}  // namespace lethe::testing
