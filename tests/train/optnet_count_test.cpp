// Records and byte counts from our programs, against those recorded from Torch's modules.
#include "train/optnet/optnet_count.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "models/network.h"
#include "tests/support/expect_error.h"
#include "tests/train/optnet_samples.h"
#include "train/optnet/optnet_records.h"
#include "train/optnet/published.h"
#include "train/optnet/torch_notes.h"
#include "train/optnet/torch_program.h"

namespace lethe::testing {
namespace {

/// Outputs, gradients of inputs, buffers, parameters.
std::array<std::int64_t, 4> figures(const OptnetBytes& b) { return {b.outputs, b.grad_inputs, b.buffers, b.params}; }

OptnetLives lives_of(const Network& network, const TorchNotes& notes, bool training) {
  const TorchNet net = torch_net(network, notes);
  const TorchStorages storages = torch_storages(network.program, net, TorchBackend::Cudnn, true);
  return training ? training_lives(net, storages) : inference_lives(net, storages);
}

TEST(OptnetRecords, EveryLifetimeIsTheRecordedOne) {
  for (const OptnetSample& sample : optnet_samples()) {
    SCOPED_TRACE(sample.key);
    const OptnetLives lives = lives_of(sample.network(), torch_notes(sample.model), sample.training);
    std::vector<OptnetRecord> recorded;
    for (const RecordedLife& life : recorded_lives(sample))
      if (!life.gone) recorded.push_back(life.record);
    ASSERT_EQ(lives.records.size(), recorded.size());
    for (std::size_t r = 0; r < recorded.size(); ++r) {
      EXPECT_EQ(lives.records[r].elements, recorded[r].elements) << r;
      EXPECT_EQ(lives.records[r].defined, recorded[r].defined) << r;
      EXPECT_EQ(lives.records[r].used, recorded[r].used) << r;
      EXPECT_EQ(lives.records[r].kind, recorded[r].kind) << r;
    }
  }
}

TEST(OptnetCount, EveryCategoryOfThePublishedTablesIsMetToTheByte) {
  for (const OptnetSample& sample : optnet_samples()) {
    SCOPED_TRACE(sample.key);
    const OptnetCount count =
        optnet_count(sample.network(), torch_notes(sample.model), sample.backend, {.training = sample.training});
    EXPECT_EQ(figures(count.before), figures(recorded_bytes(sample, false)));
    EXPECT_EQ(figures(count.after), figures(recorded_bytes(sample, true)));
  }
}

/// An image through `layers`, with one output.
class Net {
 public:
  explicit Net(std::int64_t batch = 2) : net_({.batch = batch}) { image = net_.input("image", {4, 4, 2}); }
  VarId layer(const std::string& type, std::vector<VarId> in, Attrs settings = {}) {
    return net_.layer(type, std::move(in), std::move(settings));
  }
  VarId conv(VarId in, std::int64_t out) { return layer("conv", {in}, {{"out", out}, {"k", 1}}); }
  Network finish(VarId output) { return net_.finish({output}); }
  VarId image = kNone;

 private:
  Builder net_;
};

std::vector<OptnetKind> kinds(const OptnetLives& lives) {
  std::vector<OptnetKind> all;
  for (const OptnetRecord& record : lives.records) all.push_back(record.kind);
  return all;
}

TEST(OptnetRecords, ABranchThatEndsInReluInPlaceLeavesAGhost) {
  Net net;
  const VarId a = net.layer("relu", {net.conv(net.image, 3)}), b = net.layer("max_pool", {net.image}, {{"k", 1}});
  const OptnetLives lives = lives_of(net.finish(net.layer("concat", {a, b})), {}, false);
  using enum OptnetKind;
  // The image, the concat's output, the two branches'.
  ASSERT_EQ(kinds(lives), (std::vector{Pinned, Shared, Ghost, Shared}));
  EXPECT_EQ(lives.records[2].defined, lives.records[1].defined) << "at the concat's entry";
  EXPECT_EQ(lives.records[3].used, kOptnetNever) << "only the concat reads the pooled branch";
}

TEST(OptnetRecords, ANotedSequentialThatStartsWithAViewLeavesAGhostGradient) {
  Builder net({.batch = 2});
  VarId x = net.layer("conv", net.input("image", {4, 4, 2}), {{"out", 3}, {"k", 1}});
  x = net.layer("fc", net.layer("flatten", x, {}, "top/flat"), {{"out", 5}}, "top/fc");
  const Network network = net.finish({x});
  const auto ghosts = [&](const TorchNotes& notes) {
    const std::vector<OptnetKind> all = kinds(lives_of(network, notes, true));
    return std::count(all.begin(), all.end(), OptnetKind::Ghost);
  };
  EXPECT_EQ(ghosts({}), 0);
  EXPECT_EQ(ghosts({.sequentials = {"top"}}), 1);
}

TEST(OptnetRecords, MoreThanTenThousandCallsStayApart) {
  const Network network = load_network("optnet/resnet110", {.batch = 1}, {{"n", "200"}, {"bn", "false"}});
  const OptnetLives lives = lives_of(network, torch_notes("optnet/resnet110"), true);
  const OptnetGroups groups = group_by_last_use(lives.records);
  OptnetTick latest = 0;
  for (std::size_t a = 0; a < lives.records.size(); ++a) {
    const OptnetRecord& one = lives.records[a];
    if (one.used != kOptnetNever) latest = std::max(latest, one.used);
    for (std::size_t b = 0; b < a; ++b) {
      const OptnetRecord& other = lives.records[b];
      if (groups.group[a] != groups.group[b]) continue;
      EXPECT_TRUE(one.used < other.defined || other.used < one.defined) << a << " and " << b << " share memory";
    }
  }
  EXPECT_GT(latest, 10'000);
}

TEST(OptnetCount, UnfoldedImagesDominateTrainingOnTheCpu) {
  const Network vgg = load_network("optnet/vgg_a", {.batch = 64}, {{"dropout", "false"}});
  const OptnetCount count = optnet_count(vgg, torch_notes("optnet/vgg_a"), TorchBackend::Nn, {.training = true});
  const auto mib = [](std::int64_t bytes) { return (bytes + (1 << 19)) >> 20; };
  EXPECT_EQ(mib(count.before.buffers), 13'383);
  EXPECT_EQ(mib(count.after.buffers), 8'642);
}

TEST(OptnetCount, EachOptionSavesInItsCategory) {
  const Network net = load_network("optnet/googlenet", {.batch = 1});
  const TorchNotes notes = torch_notes("optnet/googlenet");
  const auto after = [&](const char* text) {
    return optnet_count(net, notes, TorchBackend::Nn, parse_optnet(text)).after;
  };
  const OptnetBytes none = after("inference,none"), before = optnet_count(net, notes, TorchBackend::Nn, {}).before;
  EXPECT_EQ(none.buffers, before.buffers);
  EXPECT_EQ(none.params, before.params);
  EXPECT_LT(none.outputs, before.outputs);
  EXPECT_LT(after("inference,reuse_buffers").buffers, none.buffers);
  EXPECT_EQ(after("inference,remove_grad_params").params, none.params / 2);
  EXPECT_EQ(after("training,remove_grad_params").params, none.params) << "training needs the gradients";
}

TEST(OptnetCount, ReluAfterLinearTurnsInPlaceByTheOption) {
  Net net;
  const VarId x = net.layer("relu", {net.layer("fc", {net.image}, {{"out", 7}})});
  const Network network = net.finish(net.layer("fc", {x}, {{"out", 3}}));
  const OptnetCount count = optnet_count(network, {}, TorchBackend::Cudnn, {.training = true});
  EXPECT_EQ(count.before.outputs - count.after.outputs, 2 * 7 * 4);
}

constexpr std::int64_t kCountedImage = 2 * 4 * 4 * 2 * 4;  // bytes

/// The sum and a factor of the product before it are one layer's output.
Network crossing() {
  Net net;
  const VarId shared = net.layer("relu", {net.image}), a = net.conv(shared, 2), b = net.layer("sigmoid", {a});
  return net.finish(net.layer("add", {net.layer("mul", {a, b}), b}));
}

TEST(OptnetCount, BranchesThatShareALayerAreAGraph) {
  const OptnetCount count = optnet_count(crossing(), {}, TorchBackend::Cudnn, {.training = true});
  EXPECT_EQ(count.before.outputs, 4 * kCountedImage) << "relu, conv, sigmoid, mul; the sum is in the product's place";
  // Of relu, conv, sigmoid, the product's two operands; of what conv and sigmoid give to two readers the sums. The
  // sum's are the loss's gradient.
  EXPECT_EQ(count.before.grad_inputs, 7 * kCountedImage);
}

/// Copies of the crossing one after the other: what each gives is the next one's image.
OptnetBytes gradients_of_crossings(int copies) {
  Net net;
  VarId x = net.image;
  for (int i = 0; i < copies; ++i) {
    const VarId a = net.conv(x, 2), b = net.layer("sigmoid", {a});
    x = net.layer("add", {net.layer("mul", {a, b}), b});
  }
  return optnet_count(net.finish(net.layer("sigmoid", {x})), {}, TorchBackend::Cudnn, {.training = true}).before;
}

TEST(OptnetCount, GraphsKeepTheirSumsToThemselves) {
  const OptnetBytes one = gradients_of_crossings(1), two = gradients_of_crossings(2), three = gradients_of_crossings(3);
  EXPECT_EQ(two.grad_inputs - one.grad_inputs, 6 * kCountedImage) << "conv, sigmoid, two of the product, two sums";
  EXPECT_EQ(three.grad_inputs - two.grad_inputs, 6 * kCountedImage);
}

/// h = tanh(fc(h)) * h, three times, as a loop or written out.
Network three_cells(bool loop) {
  Builder net({.batch = 2});
  const VarId x = net.input("x", {5});
  const auto cell = [&](VarId h, const Attrs& more) {
    Attrs settings{{"out", 5}};
    for (const auto& [key, value] : more) settings.set(key, value);
    return net.layer("mul", {net.layer("tanh", net.layer("fc", h, settings)), h});
  };
  VarId h = x;
  if (loop)
    h = net.loop({x}, 3, nullptr, [&](const Vars& s) { return Vars{cell(s[0], {})}; })[0];
  else
    for (int trip = 0; trip < 3; ++trip) h = cell(h, trip == 0 ? Attrs{} : Attrs{{"share", "fc1"}});
  return net.finish({net.layer("fc", h, {{"out", 3}})});
}

TEST(OptnetCount, ALoopIsWhatItIsWrittenOut) {
  for (const char* mode : {"training", "inference"})
    for (const TorchBackend backend : {TorchBackend::Nn, TorchBackend::Cudnn}) {
      SCOPED_TRACE(mode);
      const OptnetCount loop = optnet_count(three_cells(true), {}, backend, parse_optnet(mode));
      const OptnetCount straight = optnet_count(three_cells(false), {}, backend, parse_optnet(mode));
      EXPECT_EQ(loop.before, straight.before);
      EXPECT_EQ(loop.after, straight.after);
      EXPECT_LT(loop.after.total(), loop.before.total());
    }
}

TEST(OptnetCount, BothSidesOfABranchHoldTheirOutputs) {
  Builder net({.batch = 2});
  const VarId image = net.input("image", {4, 4, 2});
  const VarId positive = net.layer("greater", net.layer("mean", image), {{"value", 0.0}});
  const VarId y = net.branch(
      positive, [&] { return Vars{net.layer("sigmoid", net.layer("tanh", image))}; },
      [&] { return Vars{net.layer("sigmoid", image)}; })[0];
  const Network network = net.finish({y});
  const OptnetCount count = optnet_count(network, {}, TorchBackend::Nn, {});
  EXPECT_EQ(count.before.outputs, 4 * kCountedImage + 2 * 4)
      << "three layers, the chosen one, the mean and the condition";
}

/// Each trip of a loop in a loop adds to h; what h was after each of the outer trips is kept in an array.
Network kept_in_an_array(std::int64_t inner) {
  Builder net({.batch = 2});
  const VarId x = net.input("x", {5}), all = net.layer("array", x, {{"length", 3}, {"shape", Ints{5}}});
  net.loop({x}, 3, nullptr, [&](const Vars& outer) {
    const VarId h =
        net.loop({outer[0]}, inner, nullptr, [&](const Vars& s) { return Vars{net.layer("sigmoid", s[0])}; })[0];
    net.layer("array_write", {all, h, net.trip()});
    return Vars{h};
  });
  return net.finish({net.layer("sigmoid", all)});
}

TEST(OptnetCount, AnArrayIsHeldOnceAndAsLongAsItIsRead) {
  constexpr std::int64_t kValue = 2 * 5 * 4, kArray = 3 * kValue;
  for (const std::int64_t inner : {1, 4}) {
    const OptnetCount count = optnet_count(kept_in_an_array(inner), {}, TorchBackend::Nn, {.inplace = false});
    EXPECT_EQ(count.before.outputs, 3 * inner * kValue + 2 * kArray) << inner;
    EXPECT_EQ(count.after.outputs, 2 * kArray + 2 * kValue) << inner;
  }
}

TEST(OptnetCount, WritesNoMoreThanAMillionOpsOut) {
  Builder net({.batch = 2});
  const VarId y = net.loop({net.input("x", {5})}, 600'000, nullptr,
                           [&](const Vars& s) { return Vars{net.layer("sigmoid", net.layer("sigmoid", s[0]))}; })[0];
  const Network network = net.finish({y});
  EXPECT_TRUE(fails_with("make more than 1000000 ops", [&] { optnet_count(network, {}, TorchBackend::Nn, {}); }));
}

TEST(OptnetCount, IsOfNetworksThatCannotBeRunAsModules) {
  EXPECT_TRUE(fails_with("has loops or branches", [] { torch_program(three_cells(true), {}, {}); }));
  EXPECT_TRUE(fails_with("share a layer", [] { torch_program(crossing(), {}, {}); }));
}

}  // namespace
}  // namespace lethe::testing
