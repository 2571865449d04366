#include <gtest/gtest.h>

#include "tests/train/data_samples.h"
#include "train/data/dataset.h"
#include "train/data/sequences.h"

namespace lethe::testing {
namespace {

std::string refused(const std::string& spec) { return refusal(spec, {32, 32, 3}, 10, Exit::Usage); }

TEST(DataSpec, UnknownSetIsAnErrorWithTheNearestName) {
  EXPECT_PRED2(says, refused("cifar:x"), "unknown data set 'cifar'; did you mean 'cifar10'?");
  EXPECT_PRED2(says, refused("shape"), "did you mean 'shapes'?");
  EXPECT_PRED2(says, refused("imagenet22:x"), "known: mnist:DIR, cifar10:DIR");
  EXPECT_PRED2(says, refused(""), "unknown data set ''");
}

TEST(DataSpec, SetOfTheOtherKindSaysWhatTheNetworkTakes) {
  EXPECT_PRED2(says, refused("text:x"), "data 'text:x': gives sequences, the network takes images (known: mnist:DIR");
  const auto of_sequences = [](const std::string& spec) {
    return error_from([&] { open_sequences(spec, 8, 30, 0); }, Exit::Usage);
  };
  EXPECT_PRED2(says, of_sequences("shapes"), "gives images, the network takes sequences (known: tokens:DIR, text:FILE");
  EXPECT_PRED2(says, of_sequences("sentence"), "unknown data set 'sentence'; did you mean 'sentences'?");
  EXPECT_PRED2(says, of_sequences("text"), "data 'text': write the file behind a colon: text:FILE");
  EXPECT_PRED2(says, of_sequences("copy:tain=1"), "did you mean 'train'?");
}

TEST(DataSpec, DirectoryMustBeGiven) {
  EXPECT_PRED2(says, refused("mnist"), "data 'mnist': write the directory behind a colon: mnist:DIR");
  EXPECT_PRED2(says, refused("imagefolder:"), "imagefolder:DIR");
}

TEST(DataSpec, SettingsAreChecked) {
  EXPECT_PRED2(says, refused("shapes:trian=5"), "expected train=N or test=N, got 'trian=5'; did you mean 'train'?");
  EXPECT_PRED2(says, refused("shapes:train"), "expected train=N or test=N, got 'train'");
  EXPECT_PRED2(says, refused("shapes:train=0"), "expected a number from 1 to 2147483647, got '0'");
  EXPECT_PRED2(says, refused("shapes:test=2147483648"), "expected a number from 1 to 2147483647, got '2147483648'");
  EXPECT_PRED2(says, refused("synthetic:many"), "expected a number from 1 to 2147483647, got 'many'");
  EXPECT_PRED2(says, refused("imagefolder:x,resize=9z"), "expected a number from 1 to 2147483647, got '9z'");
}

TEST(DataSpec, FileInPlaceOfADirectoryIsSaidToBeOne) {
  const TemporaryFolder folder;
  folder.write("file", "x");
  EXPECT_PRED2(says, refusal("cifar10:" + folder.text() + "/file", {32, 32, 3}, 10), "/file: is not a directory");
}

TEST(DataSpec, NetworkInputMustBeABatchOfImages) {
  EXPECT_EQ(image_shape_of({128, 28, 30, 1}), (ImageShape{28, 30, 1}));
  EXPECT_PRED2(says, error_from([] { image_shape_of({128, 784}); }), "the network takes [128,784]");
}

}  // namespace
}  // namespace lethe::testing
