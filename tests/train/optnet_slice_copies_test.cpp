// Copies that Torch's modules make of what a Concat gives back to its branches.
#include <gtest/gtest.h>

#include <functional>
#include <numeric>

#include "framework/error.h"
#include "models/network.h"
#include "train/optnet/optnet_count.h"
#include "train/optnet/torch_notes.h"

namespace lethe::testing {
namespace {

// Of several images a slice of a Concat's gradient is in as many pieces, of one it is whole.
TEST(SliceCopies, EachModuleThatNeedsASliceInOnePieceCopiesIt) {
  // By image: what the ReLUs at the ends of branches give, the other ends (two max poolings, two LogSoftMax).
  constexpr std::int64_t kAfterRelu = 1'292'032, kOtherEnds = 320 * 28 * 28 + 576 * 14 * 14 + 2 * 1000;
  for (const DType dtype : {DType::f32, DType::f64})
    for (const TorchBackend backend : {TorchBackend::Nn, TorchBackend::Cudnn}) {
      const bool nn = backend == TorchBackend::Nn;
      const auto count = [&](std::int64_t batch) {
        const Network net = load_network("optnet/googlenet", {.batch = batch, .dtype = dtype}, {{"dropout", "false"}});
        return optnet_count(net, torch_notes("optnet/googlenet"), backend, {.training = true});
      };
      const OptnetCount one = count(1);
      for (const std::int64_t batch : {2, 3}) {
        SCOPED_TRACE(message(name_of(dtype), nn ? " nn " : " cudnn ", batch));
        const OptnetCount several = count(batch);
        const std::int64_t size = bytes_of(dtype) * batch, after_relu = kAfterRelu * size;
        // nn's convolutions copy what their ReLU gives on in place; of cudnn's modules each end copies, ReLU too.
        const std::int64_t copies = nn ? after_relu : after_relu + kOtherEnds * size;
        // All other buffers of nn grow with the batch; of cudnn's, the ones of three Linear do.
        const std::int64_t others = nn ? batch * one.before.buffers : one.before.buffers;
        const std::int64_t ones = nn ? 0 : 3 * bytes_of(dtype) * (batch - 1);
        EXPECT_EQ(several.before.buffers, others + ones + copies);
        EXPECT_EQ(several.counted_twice, nn ? 0 : after_relu);
      }
      EXPECT_EQ(one.counted_twice, 0);
    }
}

/// A network of branches from an image of 4x4 pixels.
class Branches {
 public:
  explicit Branches(std::int64_t batch) : net_({.batch = batch}) { image = net_.input("image", {4, 4, 2}); }
  VarId conv(std::int64_t out) { return net_.layer("conv", image, {{"out", out}, {"k", 1}}); }
  /// Both sides of it get what it gets.
  VarId sum() { return net_.layer("add", {net_.layer("bn", conv(3)), conv(3)}); }
  VarId sigmoid() { return net_.layer("sigmoid", conv(3)); }
  VarId concat(Vars branches) { return net_.layer("concat", std::move(branches)); }
  Network finish(VarId output) { return net_.finish({output}); }
  VarId image = kNone;

 private:
  Builder net_;
};

/// Elements that modules copy of gradients in pieces.
std::int64_t copied(std::int64_t batch, TorchBackend backend, const std::function<VarId(Branches&)>& output) {
  Branches net(batch);
  const Network network = net.finish(output(net));
  const TorchStorages storages = torch_storages(network.program, torch_net(network), backend, true);
  return std::accumulate(storages.slice_copy.begin(), storages.slice_copy.end(), std::int64_t{0});
}

TEST(SliceCopies, PiecesReachAllAfterWhatWorksInPlace) {
  for (const TorchBackend backend : {TorchBackend::Nn, TorchBackend::Cudnn})
    for (const std::int64_t batch : {1, 2, 3}) {
      SCOPED_TRACE(message(backend == TorchBackend::Nn ? "nn " : "cudnn ", batch));
      const std::int64_t pixels = batch == 1 ? 0 : batch * 4 * 4;
      const auto of = [&](const std::function<VarId(Branches&)>& output) { return copied(batch, backend, output); };
      EXPECT_EQ(of([](Branches& b) { return b.concat({b.sum(), b.image}); }), (3 + 3) * pixels);
      EXPECT_EQ(of([](Branches& b) {
                  return b.concat({b.concat({b.sum(), b.conv(5)}), b.image});
                }),
                (3 + 3 + 5) * pixels);
      EXPECT_EQ(of([](Branches& b) { return b.concat({b.sigmoid(), b.image}); }), 0) << "a gradient of its own";
    }
}

TEST(SliceCopies, BuffersOfGoogLeNetAreTorchsWithTheCopiesOfSlices) {
  const Network net = load_network("optnet/googlenet", {.batch = 3, .dtype = DType::f64}, {{"dropout", "false"}});
  const OptnetCount count = optnet_count(net, torch_notes("optnet/googlenet"), TorchBackend::Nn, {.training = true});
  EXPECT_EQ(count.before.buffers, 924'759'624);
  EXPECT_EQ(count.after.buffers, 531'321'672);
}

}  // namespace
}  // namespace lethe::testing
