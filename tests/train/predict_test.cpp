// `train predict` sees in files what evaluation sees in the data set.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/train/data_samples.h"
#include "tests/train/run_fixture.h"

namespace lethe::testing {
namespace {

using Json = nlohmann::json;

const std::vector<std::string> kClasses = {"blue", "dark", "light", "red"};

class Predict : public RunTest {
 protected:
  /// Pictures of 9 x 12 of a colour that is near to their class's; light ones are grey, without colours.
  static FileContent picture(int label, int number) {
    const int channels = label == 2 ? 1 : 3;
    FileContent pixels(static_cast<std::size_t>(9 * 12 * channels));
    for (std::size_t i = 0; i < pixels.size(); ++i) {
      const bool is_bright = label == 2 || (label == 0 && i % 3 == 2) || (label == 3 && i % 3 == 0);
      pixels[i] =
          static_cast<std::uint8_t>((is_bright ? 150 : 30) + (i * 7 + static_cast<std::size_t>(number) * 31) % 90);
    }
    return png(9, 12, static_cast<std::uint32_t>(channels), pixels);
  }
  void write(const std::string& name, const FileContent& content) const {
    std::filesystem::create_directories((home_ / name).parent_path());
    std::ofstream(home_ / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(content.data()), std::ssize(content));
  }
  std::string data() const { return "imagefolder:" + path("pictures") + ",resize=10"; }
  /// Trains a little, so that not all is right, on pictures whose test part is named by class.
  void train_on_pictures(const std::string& dtype) const {
    for (int label = 0; label < 4; ++label)
      for (int number = 0; number < 8; ++number)
        write(message("pictures/", number < 5 ? "train/" : "test/", kClasses[static_cast<std::size_t>(label)], "/",
                      number, ".png"),
              picture(label, number));
    const Ended run = run_train({"--model", path("small.json"), "--data", data(), "--batch", "4", "--steps", "5",
                                 "--dtype", dtype, "--save", path("run"), "--threads", "1"});
    ASSERT_EQ(run.code, 0) << run.err;
  }
  std::string test_folder(int label) const {
    return path("pictures/test/" + kClasses[static_cast<std::size_t>(label)]);
  }
  Ended predict(std::vector<std::string> more) const {
    more.insert(more.begin(), {"predict", "--weights", path("run"), "--threads", "1"});
    return run_train(more);
  }
  static std::vector<Json> lines_of(const std::string& out) {
    std::vector<Json> lines;
    std::istringstream in(out);
    for (std::string line; std::getline(in, line);) lines.push_back(Json::parse(line));
    return lines;
  }
};

TEST_F(Predict, IsEvaluationFileByFile) {
  for (const char* dtype : {"f32", "bf16"}) {
    SCOPED_TRACE(dtype);
    std::filesystem::remove_all(home_ / "run");
    train_on_pictures(dtype);
    const Ended eval =
        run_train({"eval", "--weights", path("run"), "--confusion", "--format", "json", "--threads", "1"});
    ASSERT_EQ(eval.code, 0) << eval.err;
    const Json scores = Json::parse(eval.out);
    double loss = 0;
    Json confusion(4, Json(4, 0));
    for (int label = 0; label < 4; ++label) {
      const Ended ended = predict({"--format", "json", "--batch", "2", test_folder(label)});
      ASSERT_EQ(ended.code, 0) << ended.err;
      const std::vector<Json> lines = lines_of(ended.out);
      ASSERT_EQ(lines.size(), 3U) << ended.out;
      for (const Json& line : lines) {
        const Json& guesses = line["predictions"];
        ASSERT_EQ(guesses.size(), 4U);
        confusion[label][guesses[0]["label"].get<std::size_t>()] =
            confusion[label][guesses[0]["label"].get<std::size_t>()].get<int>() + 1;
        for (const Json& guess : guesses) {
          EXPECT_EQ(guess["class"], kClasses[guess["label"].get<std::size_t>()]);
          if (guess["label"] == label) loss -= std::log(guess["probability"].get<double>()) / 12;
        }
      }
    }
    EXPECT_EQ(scores["confusion"], confusion);
    EXPECT_EQ(scores["classes"][0]["class"], "blue");
    EXPECT_NEAR(loss, scores["loss"].get<double>(), 1e-5);
  }
}

TEST_F(Predict, NeedsTheRunAlone) {
  train_on_pictures("f32");
  std::filesystem::rename(home_ / "pictures/test/red/7.png", home_ / "7.png");
  std::filesystem::remove_all(home_ / "pictures");
  const Ended ended = predict({"--top", "1", path("7.png")});
  EXPECT_EQ(ended.code, 0) << ended.err;
  const std::string file = path("7.png");
  ASSERT_EQ(ended.out.substr(0, file.size()), file);
  std::istringstream rest(ended.out.substr(file.size()));
  std::string name, more;
  double probability = 0;
  ASSERT_TRUE(rest >> name >> probability) << ended.out;
  EXPECT_NE(std::find(kClasses.begin(), kClasses.end(), name), kClasses.end()) << name;
  EXPECT_GT(probability, 0.25) << "the largest of four";
  EXPECT_FALSE(rest >> more) << ended.out;
}

TEST_F(Predict, TheBatchIsNoMatter) {
  train_on_pictures("f32");
  const Ended one = predict({test_folder(0), test_folder(3)});
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_EQ(std::count(one.out.begin(), one.out.end(), '\n'), 6);
  EXPECT_EQ(predict({"--batch", "4", test_folder(0), test_folder(3)}).out, one.out);
  EXPECT_EQ(predict({"--batch", "1000000000", test_folder(0), test_folder(3)}).out, one.out);
}

TEST_F(Predict, AFileThatCannotBeReadLeavesTheOthers) {
  train_on_pictures("f32");
  write("broken.png", FileContent(100, 7));
  const std::string good = test_folder(1) + "/5.png";
  const Ended ended = predict({path("broken.png"), good, path("nowhere.png")});
  EXPECT_EQ(ended.code, 4);
  EXPECT_EQ(ended.out, predict({path("broken.png"), good}).out);
  EXPECT_EQ(std::count(ended.out.begin(), ended.out.end(), '\n'), 1) << ended.out;
  EXPECT_PRED2(says, ended.out, good);
  EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 2) << ended.err;
  EXPECT_PRED2(says, ended.err, path("broken.png") + ": cannot be decoded");
  EXPECT_PRED2(says, ended.err, path("nowhere.png") + ": cannot be opened");
  EXPECT_EQ(predict({"--skip-bad", "1", path("broken.png"), good, path("nowhere.png")}).code, 4);
  const Ended passed = predict({"--skip-bad", "2", path("broken.png"), good, path("nowhere.png")});
  EXPECT_EQ(passed.code, 0);
  EXPECT_EQ(passed.out, ended.out);
  EXPECT_PRED2(says, passed.err, "passed over: " + path("broken.png") + ": cannot be decoded");
}

TEST_F(Predict, SaysWhatAFolderHas) {
  train_on_pictures("f32");
  write("pictures/test/red/a.webp", FileContent(100, 7));
  const Ended ended = predict({test_folder(3)});
  EXPECT_EQ(ended.code, 0);
  EXPECT_EQ(ended.err, test_folder(3) + ": images: 3; passed over: 1 .webp\n");
  write("photographs/a.bmp", FileContent(100, 7));
  EXPECT_PRED2(says, predict({path("photographs")}).err, "file in this directory; passed over: 1 .bmp");
}

TEST_F(Predict, RefusesInOneLine) {
  train_on_pictures("f32");
  std::filesystem::create_directories(home_ / "empty");
  std::filesystem::copy_file(home_ / "run/best/weights.safetensors", home_ / "w.safetensors");
  std::ofstream(path("two.json")) << R"({"version": 1, "name": "two",
    "inputs": {"a": {"shape": [3, 8, 8]}, "b": {"shape": [3, 8, 8]}, "label": {"shape": [], "dtype": "i32"}},
    "layers": [{"op": "add", "in": ["a", "b"]}, {"op": "fc", "out": 4, "name": "logits"}],
    "loss": [{"op": "cross_entropy", "in": "logits", "target": "label"}]})";
  const auto expect_refused = [&](const std::vector<std::string>& more, int code, const std::string& part) {
    std::vector<std::string> args = {"predict"};
    args.insert(args.end(), more.begin(), more.end());
    const Ended ended = run_train(args);
    EXPECT_EQ(ended.code, code) << ended.err;
    EXPECT_PRED2(says, ended.err, part);
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
  };
  const std::string file = test_folder(0) + "/5.png";
  expect_refused({"--weights", path("run")}, 2, "file is required");
  expect_refused({"--model", path("small.json"), file}, 2, "--weights is missing");
  expect_refused({"--weights", path("run"), path("empty")}, 4, "empty: no .png, .jpg or .jpeg file");
  expect_refused({"--weights", path("w.safetensors"), file}, 2, "--model is missing");
  expect_refused({"--weights", path("w.safetensors"), "--model", path("small.json"), file}, 2, "--data is missing");
  const auto expect_misfit = [&](const std::string& model, int code, const std::string& part) {
    const Ended ended = run_train({"predict", "--weights", path("w.safetensors"), "--model", model, "--data",
                                   "imagefolder:" + path("pictures"), file});
    EXPECT_EQ(ended.code, code) << ended.err;
    EXPECT_PRED2(says, ended.err, part);
  };
  expect_misfit("char_lstm", 2, "predict gives it images");
  expect_misfit(path("two.json"), 2, "has 2 inputs beside its labels");
  expect_misfit("resnet20", 4, "has 4 classes, the network tells 10 apart; --set classes=4");
  expect_refused({"--weights", path("run"), "--model", "resnet20", file}, 2, "is not the network of the run");
  const Ended named =
      run_train({"predict", "--weights", path("w.safetensors"), "--model", path("small.json"), "--data", data(), file});
  EXPECT_EQ(named.code, 0) << named.err;
  EXPECT_EQ(named.out, predict({file}).out);
}

}  // namespace
}  // namespace lethe::testing
