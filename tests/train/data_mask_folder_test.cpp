// Folders of images and of masks, and the PNG files that masks are.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/train/data_samples.h"
#include "tests/train/run_fixture.h"
#include "train/data/held_out.h"
#include "train/data/mask_file.h"
#include "train/data/masks.h"

namespace lethe::testing {
namespace {

FileContent classes_below(int most, std::size_t count) {
  FileContent values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(static_cast<std::uint8_t>((i * i + 3 * i) % most));
  return values;
}

std::string refused_mask(const FileContent& content) {
  const TemporaryFolder folder;
  folder.write("m.png", content);
  return error_from([&] { decode_mask(folder.path() / "m.png", 1000); });
}

TEST(MaskFile, HasTheNumbersThatAreStored) {
  const TemporaryFolder folder;
  for (const int depth : {1, 2, 4, 8})
    for (const bool indexed : {true, false})
      for (const int filter : {0, 1, 2, 3, 4}) {
        const FileContent values = classes_below(1 << depth, 7 * 13);
        folder.write("m.png", mask_png(7, 13, values, {.depth = depth, .indexed = indexed, .filter = filter}));
        const MaskImage mask = decode_mask(folder.path() / "m.png", 1000);
        EXPECT_EQ(mask.height, 7);
        EXPECT_EQ(mask.width, 13);
        EXPECT_EQ(mask.values, values) << depth << ' ' << indexed << ' ' << filter;
      }
}

TEST(MaskFile, IsRefusedInOneLine) {
  const FileContent good = mask_png(4, 4, classes_below(3, 16));
  FileContent wrong = good;
  wrong[20] ^= 1;
  EXPECT_PRED2(says, refused_mask(wrong), "a part of it, 'IHDR', is not what its checksum says");
  EXPECT_PRED2(says, refused_mask({good.begin(), good.end() - 13}), "m.png: PNG file ends early");
  EXPECT_PRED2(says, refused_mask(grey_jpeg()), "is no PNG file; masks are indexed or grey PNG files");
  EXPECT_PRED2(says, refused_mask(png(2, 2, 3, FileContent(12, 9))), "has colours, not classes");
  EXPECT_PRED2(says, refused_mask(mask_png(40, 40, FileContent(1600))), "has 40 x 40 pixels, more than 1000");
  EXPECT_PRED2(says, refused_mask(mask_png(4, 4, FileContent(16), {.depth = 3})), "3 bits a pixel");
}

/// Twelve images of 4 x 6, grey, each of its number's brightness but for its left half, where masks have class 1.
void write_pairs(const TemporaryFolder& folder, const std::string& images, const std::string& masks, int count = 12) {
  for (int i = 0; i < count; ++i) {
    FileContent pixels, values;
    for (int at = 0; at < 24; ++at) {
      pixels.push_back(static_cast<std::uint8_t>(at % 6 < 3 ? 200 : i));
      values.push_back(at % 6 < 3 ? 1 : 0);
    }
    const std::string name = "/p" + std::to_string(10 + i);
    folder.write(images + name + ".png", png(4, 6, 1, pixels));
    folder.write(masks + name + ".png", mask_png(4, 6, values, {.depth = 1}));
  }
}

constexpr ImageShape kShown{4, 6, 1};

std::unique_ptr<Masks> opened_masks(const TemporaryFolder& folder, const std::string& more = "",
                                    const ImageShape& image = kShown, std::int64_t classes = 2,
                                    std::optional<std::int64_t> ignored = {}, const Notify& notify = {}) {
  return open_masks("masks:" + folder.text() + "/images," + folder.text() + "/masks" + more, image, classes, 0, ignored,
                    notify);
}

struct Shown {
  FileContent pixels;
  std::vector<std::int32_t> labels;
};
Shown shown(const Masks& data, Split split, std::int64_t index, CropAt crop = {}) {
  Shown made{FileContent(static_cast<std::size_t>(data.info().image.bytes())),
             std::vector<std::int32_t>(static_cast<std::size_t>(data.labels()))};
  data.read(split, index, crop, made.pixels.data(), made.labels.data());
  return made;
}

TEST(MaskFolders, GiveEachImageWithItsMask) {
  const TemporaryFolder folder;
  write_pairs(folder, "images", "masks");
  folder.write("images/lonely.png", png(4, 6, 1, FileContent(24)));
  folder.write("masks/other.png", mask_png(4, 6, FileContent(24)));
  std::string line;
  const auto data = opened_masks(folder, "", kShown, 2, {}, [&](const std::string& note) { line = note; });
  EXPECT_PRED2(says, line,
               "images for training: 11, for tests: 1; images without a mask, passed over: 1; masks "
               "without an image: 1");
  for (std::int64_t i = 0; i < 11; ++i) {
    const Shown made = shown(*data, Split::Train, i);
    const int number = static_cast<int>(i) + (i >= 9 ? 1 : 0);  // the tenth is for tests
    EXPECT_EQ(made.pixels[5], number);
    for (std::size_t at = 0; at < 24; ++at) EXPECT_EQ(made.labels[at], made.pixels[at] == 200 ? 1 : 0);
  }
  EXPECT_EQ(shown(*data, Split::Test, 0).pixels[5], 9);
}

TEST(MaskFolders, AreDividedByFoldersOrByAShare) {
  const TemporaryFolder folder;
  write_pairs(folder, "images/train", "masks/train");
  write_pairs(folder, "images/val", "masks/val", 3);
  EXPECT_EQ(opened_masks(folder)->size(Split::Train), 12);
  EXPECT_EQ(opened_masks(folder)->size(Split::Test), 3);
  const auto held = opened_masks(folder, ",val=0.4");
  EXPECT_EQ(held->size(Split::Train) + held->size(Split::Test), 12);
  for (std::int64_t i = 0; i < held->size(Split::Test); ++i)
    EXPECT_TRUE(is_held_out("p" + std::to_string(10 + shown(*held, Split::Test, i).pixels[5]), 0.4));
}

TEST(MaskFolders, ScaleAndCropBothAlike) {
  const TemporaryFolder folder;
  write_pairs(folder, "images", "masks");
  const auto large = opened_masks(folder, "", {8, 12, 1});
  const Shown twice = shown(*large, Split::Train, 0);
  for (std::size_t at = 0; at < 96; ++at) EXPECT_EQ(twice.labels[at], at % 12 < 6 ? 1 : 0);
  const auto square = opened_masks(folder, "", {4, 4, 1});
  const std::int32_t borders[] = {3, 2, 1};  // how many columns of class 1 are seen
  const double places[] = {0, 0.5, 1};
  for (int i = 0; i < 3; ++i) {
    const Shown part = shown(*square, Split::Train, 0, {.vertical = 0, .horizontal = places[i]});
    EXPECT_EQ(std::count(part.labels.begin(), part.labels.begin() + 4, 1), borders[i]);
    for (std::size_t at = 0; at < 16; ++at) EXPECT_EQ(part.labels[at], part.pixels[at] == 200 ? 1 : 0);
  }
}

TEST(MaskFolders, AreFlippedAndCroppedTogether) {
  const TemporaryFolder folder;
  write_pairs(folder, "images", "masks");
  const auto data = opened_masks(folder, "", {4, 4, 1});
  const auto reader = data->reader({.dtype = DType::u8, .augment = {.flip = true, .random_crop = true}, .seed = 5});
  std::set<std::vector<std::int32_t>> seen;
  for (std::int64_t epoch = 0; epoch < 40; ++epoch) {
    FileContent pixels(16);
    std::vector<std::int32_t> labels(16);
    reader->read(Split::Train, 1, epoch, reinterpret_cast<std::byte*>(pixels.data()), labels.data());
    for (std::size_t at = 0; at < 16; ++at) ASSERT_EQ(labels[at], pixels[at] == 200 ? 1 : 0);
    seen.insert({labels.begin(), labels.begin() + 4});
  }
  EXPECT_EQ(seen.size(), 6U) << "three places, each flipped or not";
}

TEST(MaskFolders, LeaveOutWhatIsIgnored) {
  const TemporaryFolder folder;
  write_pairs(folder, "images", "masks");
  FileContent values(24, 255);
  values[7] = 1;
  folder.write("masks/p10.png", mask_png(4, 6, values));
  const auto data = opened_masks(folder, ",ignore=255", kShown, 2, 255);
  EXPECT_EQ(std::ranges::count(shown(*data, Split::Train, 0).labels, 255), 23);
  EXPECT_PRED2(says, error_from([&] { shown(*opened_masks(folder), Split::Train, 0); }),
               "p10.png: the pixel at x 0, y 0 is of class 255, the network tells 2 apart; `set` classes=256 gives a "
               "network of the zoo as many; after the directories ,ignore=255 leaves such pixels out");
  EXPECT_PRED2(says, error_from([&] { opened_masks(folder, ",ignore=255"); }, Exit::Usage),
               "masks: ignore=255: the network's loss does not ignore that label");
}

TEST(MaskFolders, SayWhatDoesNotFit) {
  const TemporaryFolder folder;
  write_pairs(folder, "images", "masks");
  folder.write("masks/p11.png", mask_png(6, 4, FileContent(24)));
  EXPECT_PRED2(says, error_from([&] { shown(*opened_masks(folder), Split::Train, 1); }), "p11.png: is 6x4, its image ");
  folder.write("images/p12.jpg", grey_jpeg());
  EXPECT_PRED2(says, error_from([&] { opened_masks(folder); }), "the same name but for the ending");
  const auto refused = [](const std::string& spec, Exit code) {
    return error_from([&] { open_masks(spec, kShown, 2, 0); }, code);
  };
  EXPECT_PRED2(says, refused("masks:" + folder.text(), Exit::Usage), "write two directories after a colon");
  EXPECT_PRED2(says, refused("masks:a,b,c", Exit::Usage), "write two directories after a colon");
  EXPECT_PRED2(says, refused("masks:a,b,ignore=256", Exit::Usage), "values of masks are 0 to 255");
  EXPECT_PRED2(says, refused("masks:/nowhere,/else", Exit::Data), "masks: /nowhere: no such directory");
  EXPECT_EQ(DataSpec("masks:/a,/b,ignore=7").absolute(), "masks:/a,/b,ignore=7");
}

class MaskRun : public RunTest {};

TEST_F(MaskRun, TrainsAndSaysTheIouOfEachClass) {
  const TemporaryFolder folder;
  write_pairs(folder, "images", "masks", 40);
  FileContent values(24, 255);
  values[0] = 1;
  folder.write("masks/p10.png", mask_png(4, 6, values));
  const std::string data = "masks:" + folder.text() + "/images," + folder.text() + "/masks,ignore=255,val=0.3";
  const auto run = [&](const std::string& name, const char* steps) {
    return run_train({"--model",         "unet",     "--set",      "size=4,channels=1,classes=2,w=4",
                      "--data",          data,       "--batch",    "8",
                      "--steps",         steps,      "--schedule", "constant",
                      "--augment",       "flip",     "--best",     "iou",
                      "--class-weights", "balanced", "--save",     path(name),
                      "--threads",       "1"});
  };
  const Ended whole = run("whole", "24");
  ASSERT_EQ(whole.code, 0) << whole.err;
  EXPECT_PRED2(says, whole.out, " iou ");
  EXPECT_PRED2(says, whole.out, "as predicted");
  ASSERT_EQ(run("parts", "10").code, 0);
  ASSERT_EQ(run_train({"--resume", path("parts"), "--steps", "24", "--threads", "1"}).code, 0);
  EXPECT_EQ(checkpoint_bytes("parts"), checkpoint_bytes("whole"));
  const Ended eval = run_train({"eval", "--weights", path("whole"), "--by-class", "--threads", "1"});
  ASSERT_EQ(eval.code, 0) << eval.err;
  EXPECT_PRED2(says, eval.out, "class    samples  correct  precision  recall      f1     iou");
}

}  // namespace
}  // namespace lethe::testing
