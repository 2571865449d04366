#include "framework/builder/byte_images.h"

#include <gtest/gtest.h>

#include "framework/autodiff/autodiff.h"
#include "framework/builder/builder.h"
#include "framework/language/text.h"
#include "framework/language/verify.h"
#include "tests/support/expect_error.h"

namespace lethe::testing {
namespace {

Network convolution(Shape image, DType dtype = DType::f32) {
  Builder net({.batch = 2, .dtype = dtype});
  const VarId x = net.input("image", std::move(image));
  const VarId h = net.layer("conv", x, {{"out", 2}, {"k", 3}}, "conv");
  net.loss("cross_entropy", net.layer("fc", h, {{"out", 2}}, "fc"), net.input("label", {}, DType::i32));
  return net.finish();
}

std::vector<const Op*> ops_of(const Program& program, const std::string& type) {
  std::vector<const Op*> ops;
  for (const Op& op : program.blocks[0].ops)
    if (op.type == type) ops.push_back(&op);
  return ops;
}

TEST(ByteImages, TheInputBecomesBytesAndTheFirstOpMakesItsNumbers) {
  Network network = convolution({5, 5, 3}, DType::bf16);
  const VarId image = network.inputs[0];
  feed_bytes(network, image, {{0.1, 0.2, 0.3}, {1, 2, 3}});
  verify(network.program);
  const Op& first = network.program.blocks[0].ops.front();
  EXPECT_EQ(first.type, kNormalize);
  EXPECT_EQ(first.in, std::vector<VarId>{image});
  EXPECT_EQ(first.attrs.doubles("deviation"), (Doubles{1, 2, 3}));
  EXPECT_EQ(text_of(network.program.vars[image]), "u8[2,5,5,3]");
  EXPECT_EQ(text_of(network.program.vars[first.out[0]]), "bf16[2,5,5,3]");
  EXPECT_TRUE(is_image(network, first.out[0]));
  EXPECT_EQ(ops_of(network.program, "conv2d")[0]->in[0], first.out[0]);
}

TEST(ByteImages, BackwardMakesTheNumbersAgainInsteadOfKeepingThem) {
  Network network = convolution({5, 5, 1});
  feed_bytes(network, network.inputs[0], {});
  append_backward(network.program, network.loss);
  const std::vector<const Op*> normalize = ops_of(network.program, kNormalize);
  ASSERT_EQ(normalize.size(), 2U);
  EXPECT_EQ(normalize[0]->role, Role::Forward);
  EXPECT_EQ(normalize[1]->role, Role::Backward);
  EXPECT_EQ(normalize[1]->attrs, normalize[0]->attrs);
  EXPECT_EQ(normalize[1]->attrs.doubles("mean"), Doubles{0}) << "until the data is known";
  EXPECT_EQ(ops_of(network.program, "conv2d_grad_weight")[0]->in[0], normalize[1]->out[0]);
}

TEST(ByteImages, WhatTheOpHasNoRoomForIsFedInFloats) {
  const auto can = [](const Network& network) { return can_feed_bytes(network, network.inputs[0]); };
  EXPECT_TRUE(can(convolution({5, 5, 4})));
  EXPECT_FALSE(can(convolution({5, 5, 5}))) << "channels";
  Network network = convolution({5, 5, 3});
  EXPECT_FALSE(can_feed_bytes(network, network.inputs[1])) << "labels";
  feed_bytes(network, network.inputs[0], {});
  EXPECT_FALSE(can(network)) << "bytes already";
  EXPECT_TRUE(fails_with("'image' is not fed as bytes", [&] { feed_bytes(network, network.inputs[0], {}); }));
}

}  // namespace
}  // namespace lethe::testing
