#include "train/data/data_spec.h"

#include <gtest/gtest.h>

#include "tests/train/data_samples.h"
#include "train/data/csv_spec.h"
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
  EXPECT_PRED2(says, of_sequences("text"), "data 'text': write the file after a colon: text:FILE");
  EXPECT_PRED2(says, of_sequences("copy:tain=1"), "did you mean 'train'?");
}

TEST(DataSpec, DirectoryMustBeGiven) {
  EXPECT_PRED2(says, refused("mnist"), "data 'mnist': write the directory after a colon: mnist:DIR");
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

TEST(DataSpec, AShareIsHeldOutOfDataInFilesAlone) {
  EXPECT_PRED2(says, refused("shapes:val=0.2"), "expected train=N or test=N, got 'val=0.2'");
  EXPECT_PRED2(says, refused("shapes,val=0.2"), "data 'shapes,val=0.2': expected shapes:train=N,test=M");
  EXPECT_PRED2(says, refused("synthetic:val=0.2"), "got 'val=0.2'");
  EXPECT_PRED2(says, refused("mnist,val=0.2"), "write the directory after a colon: mnist:DIR");
  EXPECT_PRED2(says, refused("cifar10:x,val=0"), "val=0: expected a share above 0 and below 1, such as 0.2");
  EXPECT_PRED2(says, refused("mnist:x,val=nan"), "val=nan: expected a share");
  EXPECT_PRED2(says, refused("mnist:x,val=0.1,val=0.2"), "val stands twice");
  EXPECT_PRED2(says, error_from([] { open_sequences("tokens:x,val=0.2", 8, 30, 0); }, Exit::Usage),
               "windows of tokens begin elsewhere in each epoch, so that no share of them can be held out");
}

TEST(DataSpec, ATableNamesItsColumns) {
  const CsvSpec csv = csv_spec(DataSpec("csv:a,b.csv,target=x|y,drop=id,categories=city|kind,val=0.5"));
  EXPECT_EQ(csv.file, "a,b.csv");
  EXPECT_EQ(csv.targets, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(csv.drop, std::vector<std::string>{"id"});
  EXPECT_EQ(csv.categories, (std::vector<std::string>{"city", "kind"}));
  EXPECT_EQ(csv.val, 0.5);
  const auto wrong = [](const std::string& spec) { return error_from([&] { csv_spec(DataSpec(spec)); }, Exit::Usage); };
  EXPECT_PRED2(says, wrong("csv:t.csv,target="), "write what after target=");
  EXPECT_PRED2(says, wrong("csv"), "write the file after a colon: csv:FILE");
  EXPECT_EQ(DataSpec("csv:/t.csv,target=x,test=/u.csv").absolute(), "csv:/t.csv,target=x,test=/u.csv");
}

TEST(DataSpec, ArraysHaveNames) {
  const DataSpec spec("npy:x=/a,b.npy,y=/c.npy,val=0.5");
  using Files = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(spec.named_files(), (Files{{"x", "/a,b.npy"}, {"y", "/c.npy"}}));
  EXPECT_EQ(spec.absolute(), spec.text);
  EXPECT_TRUE(DataSpec("npy:x=a.npy").absolute().starts_with("npy:x=/"));
  EXPECT_PRED2(says, error_from([] { DataSpec("npy:").named_files(); }, Exit::Usage), "write the arrays after a colon");
}

TEST(DataSpec, OptionsStandInAnyOrder) {
  const DataSpec spec("imagefolder:a,b=c,val=0.25,resize=7,max-pixels=9");
  EXPECT_EQ(spec.folder().directory, "a,b=c");
  EXPECT_EQ(spec.folder().options.resize, 7);
  EXPECT_EQ(spec.folder().options.max_pixels, 9);
  EXPECT_EQ(spec.folder().options.val, 0.25);
  EXPECT_EQ(DataSpec("tsv:a,val=0.5,tokenizer=b").tables().tokenizer, "b");
  EXPECT_EQ(DataSpec("tsv:a,tokenizer=b,val=0.5").tables().path, "a");
  EXPECT_EQ(DataSpec("text:a,b,val=0.5,tokenizer=/c,d=e,f").tokenizer(), "/c,d=e,f");
  EXPECT_EQ(DataSpec("text:a,b,tokenizer=/c,d=e,f,val=0.5").absolute(),
            DataSpec("text:a,b,val=0.5,tokenizer=/c,d=e,f").absolute());
  EXPECT_EQ(DataSpec("text:a,val=0.5,b").argument, "a,val=0.5,b");
  EXPECT_EQ(with_skip_bad("imagefolder:a,skip-bad=3,resize=7", 5), "imagefolder:a,resize=7,skip-bad=5");
  EXPECT_PRED2(says, error_from([] { with_skip_bad("mnist:a", 5); }, Exit::Usage), "`skip_bad` is of image files");
}

TEST(DataSpec, FileInPlaceOfADirectoryIsSaidToBeOne) {
  const TemporaryFolder folder;
  folder.write("file", "x");
  EXPECT_PRED2(says, refusal("cifar10:" + folder.text() + "/file", {32, 32, 3}, 10), "/file: is not a directory");
}

TEST(DataSpec, ImagesWithTheirChannelsLastAreToldHowShapesAre) {
  const std::string hint = "; shapes are [C,H,W]: is [3,32,32] meant?";
  std::vector<std::string> lines;
  const Notify notify = [&](const std::string& line) { lines.push_back(line); };
  open_dataset("shapes", {32, 3, 32}, 10, 0, notify);  // as [32,32,3] says
  open_dataset("shapes", {32, 32, 3}, 10, 0, notify);
  open_dataset("shapes", {4, 4, 8}, 10, 0, notify);
  EXPECT_EQ(lines, std::vector<std::string>{"shapes: images are made 32x3 with 32 channels" + hint});
}

TEST(DataSpec, NetworkInputMustBeABatchOfImages) {
  EXPECT_EQ(image_shape_of({128, 28, 30, 1}), (ImageShape{28, 30, 1}));
  EXPECT_PRED2(says, error_from([] { image_shape_of({128, 784}); }), "the network takes [128,784]");
}

}  // namespace
}  // namespace lethe::testing
