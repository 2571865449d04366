#include "train/session/inner_matrices.h"

#include <gtest/gtest.h>

#include "framework/builder/builder.h"
#include "framework/language/block_formats.h"
#include "kernels/cpu/device.h"
#include "tests/train/data_samples.h"
#include "train/session/library_weights.h"
#include "train/session/weights.h"

namespace lethe::testing {
namespace {

constexpr std::int64_t kSize = 8;

VarId dense(Builder& net, VarId x, const std::string& name) { return net.layer("fc", x, {{"out", kSize}}, name); }

VarId looped(Builder& net, VarId x, const std::string& name) {
  return net.loop({x}, 2, {}, [&](const Vars& carried) { return Vars{dense(net, carried[0], name)}; })[0];
}

/// Labels of `logits`.
Network labelled(Builder& net, VarId logits) {
  net.loss("cross_entropy", logits, net.input("label", {}, DType::i32));
  return net.finish();
}

using Weights = std::set<std::string>;

TEST(InnerMatrices, OfOneBlockAreAllButTheLast) {
  Builder net({.batch = 2});
  const VarId x = dense(net, net.input("x", {kSize}), "first");
  EXPECT_EQ(inner_matrices(labelled(net, dense(net, x, "head"))), (Weights{"first.weight"}));
}

TEST(InnerMatrices, OfLoopsAreAmongThem) {
  Builder net({.batch = 2});
  const VarId x = looped(net, net.input("x", {kSize}), "inside");
  EXPECT_EQ(inner_matrices(labelled(net, dense(net, x, "head"))), (Weights{"inside.weight"}));
}

TEST(InnerMatrices, WithoutTheLastOneOfALoopAndWhatALoopOfNoTripLeavesLast) {
  Builder net({.batch = 2});
  const VarId x = dense(net, dense(net, net.input("x", {kSize}), "first"), "second");
  EXPECT_EQ(inner_matrices(labelled(net, looped(net, x, "head"))), (Weights{"first.weight"}));
}

TEST(InnerMatrices, WithoutTheLastOneOfEachBranch) {
  Builder net({.batch = 2});
  const VarId x = dense(net, net.input("x", {kSize}), "first");
  const Vars logits = net.branch(
      net.layer("greater", net.layer("mean", x), {{"value", 0.0}}), [&] { return Vars{dense(net, x, "early")}; },
      [&] { return Vars{dense(net, dense(net, x, "second"), "late")}; });
  EXPECT_EQ(inner_matrices(labelled(net, logits[0])), (Weights{"first.weight", "second.weight"}));
}

TEST(InnerMatrices, ReadAsCopiesAreThoseOfTheParameters) {
  Builder net({.batch = 2, .dtype = DType::bf16});
  const VarId x = looped(net, dense(net, net.input("x", {kSize}), "first"), "inside");
  EXPECT_EQ(inner_matrices(labelled(net, dense(net, x, "head"))), (Weights{"first.weight", "inside.weight"}));
}

TEST(InnerMatrices, AreWhatAFileHasInFewBits) {
  Builder net({.batch = 2});
  const VarId x = looped(net, net.input("x", {kSize}), "inside");
  const Network network = labelled(net, dense(net, x, "head"));
  const std::unique_ptr<Device> device = open_cpu(1);
  Store store(*device);
  store.initialize(network.program, network.params, 1);
  const TemporaryFolder folder;
  const std::string file = folder.text() + "/w.safetensors";
  save_weights_quantized(file, store, network, "", DType::int8);
  const std::unique_ptr<TensorReader> reader = open_weights(file);
  EXPECT_EQ(reader->find("inside.weight")->dtype, DType::int8);
  EXPECT_EQ(reader->find("head.weight")->dtype, DType::f32);
  EXPECT_EQ(reader->find("inside.bias")->dtype, DType::f32);
}

}  // namespace
}  // namespace lethe::testing
