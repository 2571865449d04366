// What labels and pixels mean to the model of a folder.
#include "train/folder_meaning.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/train/data_samples.h"
#include "tests/train/run_fixture.h"
#include "train/options.h"

namespace lethe::testing {
namespace {

class FolderMeaning : public RunTest {
 protected:
  void write(const std::string& name, const std::string& text) const { std::ofstream(path(name)) << text; }
  Meaning read() const { return meaning_in(path(""), {}); }
};

TEST_F(FolderMeaning, OfPixelsIsThatOfItsFiles) {
  write("config.json", R"({"pretrained_cfg": {"mean": [0.1, 0.2, 0.3], "std": [1, 2, 3]}})");
  EXPECT_EQ(read().mean, (std::vector<double>{0.1, 0.2, 0.3}));
  EXPECT_EQ(read().deviation, (std::vector<double>{1, 2, 3}));
  write("preprocessor_config.json",
        R"({"image_mean": [0.5], "image_std": [0.25], "rescale_factor": 0.00392156862745098})");
  EXPECT_EQ(read().mean, (std::vector<double>{0.5}));
  EXPECT_EQ(read().deviation, (std::vector<double>{0.25}));
  write("preprocessor_config.json", R"({"image_mean": [0.5], "image_std": [0.25], "do_normalize": false})");
  EXPECT_EQ(read().mean, (std::vector<double>{0}));
  EXPECT_EQ(read().deviation, (std::vector<double>{1}));
  write("preprocessor_config.json", R"({"image_mean": [0.5], "image_std": [0]})");
  EXPECT_PRED2(says, error_from([&] { read(); }), "found 0, expected a number above 0");
  write("preprocessor_config.json", R"({"do_rescale": false})");
  EXPECT_PRED2(says, error_from([&] { read(); }), "pixels are not divided by 255");
}

TEST_F(FolderMeaning, OfLabelsIsThatOfTheConfig) {
  const auto classes = [&](const std::string& labels) {
    write("config.json", R"({"model_type": "bert", "id2label": )" + labels + "}");
    return parse_options({"plan", "--model", "hf:" + path("")}).of_folder.classes;
  };
  EXPECT_EQ(classes(R"({"0": "bad", "2": "good", "1": "so-so"})"), (std::vector<std::string>{"bad", "so-so", "good"}));
  EXPECT_TRUE(classes(R"({"0": "LABEL_0", "1": "LABEL_1"})").empty());
}

}  // namespace
}  // namespace lethe::testing
