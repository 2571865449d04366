// What labels and pixels mean to the model of a folder.
#include "train/folder_meaning.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "kernels/cpu/device.h"
#include "models/network.h"
#include "tests/train/data_samples.h"
#include "tests/train/run_fixture.h"
#include "train/options.h"
#include "train/session/weights.h"

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

// All images are alike, so all are taken for one class, and two of three have its name in one of the orders.
TEST_F(FolderMeaning, OfLabelsIsThatOfTheImagesWithTheirNames) {
  const TemporaryFolder images;
  const FileContent grey = png(8, 8, 3, FileContent(192, 99));
  for (const char* name : {"train/ant/a.png", "train/cat/b.png", "test/ant/c.png", "test/ant/d.png", "test/cat/e.png"})
    images.write(name, grey);
  const auto correct = [&](const std::string& labels) {
    const Sets sets = {{"size", "8"},   {"patch", "4"},  {"width", "8"},  {"heads", "2"},
                       {"layers", "1"}, {"hidden", "8"}, {"classes", "2"}};
    const Network network = load_network("vit", {}, sets);
    const std::unique_ptr<Device> device = open_cpu(1);
    Store store(*device);
    store.initialize(network.program, network.params, 3);
    save_weights(path("model.safetensors"), store, network, "huggingface");
    write("config.json", R"({"model_type": "vit", "hidden_size": 8, "image_size": 8, "intermediate_size": 8,
      "num_attention_heads": 2, "num_hidden_layers": 1, "patch_size": 4, "id2label": )" +
                             labels + "}");
    const Ended ended = run_train({"eval", "--model", "hf:" + path(""), "--data", "imagefolder:" + images.text(),
                                   "--threads", "1", "--format", "json"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.out.empty() ? -1 : nlohmann::json::parse(ended.out)["correct"].get<int>();
  };
  const int in_order = correct(R"({"0": "ant", "1": "cat"})"), turned = correct(R"({"0": "cat", "1": "ant"})");
  EXPECT_EQ(in_order + turned, 3);
  EXPECT_EQ(std::max(in_order, turned), 2);
}

}  // namespace
}  // namespace lethe::testing
