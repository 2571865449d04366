// `train predict`: what a trained network sees in image files.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "framework/error.h"
#include "train/commands.h"
#include "train/data/data_spec.h"
#include "train/data/image_folder.h"
#include "train/recipe.h"
#include "train/report/formatted.h"
#include "train/report/score_report.h"
#include "train/report/streams.h"
#include "train/session/device.h"
#include "train/session/fed_data.h"
#include "train/session/predictor.h"
#include "train/session/start.h"
#include "train/session/weights.h"
#include "train/settings_of_options.h"

namespace lethe {
namespace {

/// Directories stand for the images in them.
std::vector<std::string> files_to_predict(const std::vector<std::string>& given) {
  std::vector<std::string> files;
  for (const std::string& path : given) {
    std::error_code unknown;  // reading the file says what is wrong with it
    if (!std::filesystem::is_directory(path, unknown)) {
      files.push_back(path);
      continue;
    }
    const std::vector<std::filesystem::path> images = images_in(path);
    check_as(Exit::Data, !images.empty(), path, ": no .png, .jpg or .jpeg file in this directory");
    for (const std::filesystem::path& image : images) files.push_back(image.string());
  }
  return files;
}

/// Of the data set that the run trained on, as the run noted it, unless the command line names another.
ImageInput image_input(const Options& given, const Options& options, const std::optional<RunState>& run,
                       const Network& network) {
  check(run || options.data, "--data is missing: it says how images are normalised and what their classes are called");
  ImageInput input;
  if (options.data)
    if (const DataSpec spec(*options.data); spec.kind == "imagefolder") input.folder = spec.folder().options;
  if (run && !run->classes.empty() && !given.data) {
    input.data = {.classes = run->classes, .mean = run->mean, .deviation = run->deviation};
  } else {
    const auto print = [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); };
    input.data =
        dynamic_cast<const Dataset&>(*open_data(options.data, options.seed.value_or(0), network, print)).info();
  }
  const std::int64_t classes = network.classes;
  input.data.image = image_shape_of(network.program.vars[fed_inputs(network).samples].shape);
  const auto channels = static_cast<std::size_t>(input.data.image.channels);
  check(channels == 1 || channels == 3, "image files have 1 or 3 channels, the network takes ", channels);
  check_as(Exit::Data, std::ssize(input.data.classes) == classes, "the data has ", input.data.classes.size(),
           " classes, the network tells ", classes, " apart");
  check_as(Exit::Data, input.data.mean.size() == channels && input.data.deviation.size() == channels,
           "the data has images of ", input.data.mean.size(), " channels, the network takes ", channels);
  return input;
}

/// Writes predictions, one a line.
class PredictionLines {
 public:
  PredictionLines(const Options& options, const std::vector<std::string>& files, std::vector<std::string> names)
      : as_json_(options.format == "json"), names_(std::move(names)) {
    for (const std::string& file : files) file_width_ = std::max(file_width_, file.size());
    for (const std::string& name : names_) name_width_ = std::max(name_width_, name.size());
  }
  void print(const std::vector<Prediction>& predictions) const {
    int error = 0;
    for (const Prediction& prediction : predictions)
      if (std::puts((as_json_ ? json_of(prediction) : text_of(prediction)).c_str()) == EOF) error = errno;
    finish_output(error);
  }

 private:
  static std::string padded(std::string text, std::size_t width) {
    text.resize(std::max(text.size(), width), ' ');
    return text;
  }
  std::string text_of(const Prediction& prediction) const {
    std::string line = padded(in_one_line(prediction.file), file_width_);
    for (const Guess& guess : prediction.guesses)
      line.append("  ")
          .append(padded(in_one_line(class_name(names_, guess.label)), name_width_))
          .append(formatted(" %.4f", guess.probability));
    return line;
  }
  std::string json_of(const Prediction& prediction) const {
    nlohmann::ordered_json guesses = nlohmann::ordered_json::array();
    for (const Guess& guess : prediction.guesses)
      guesses.push_back(
          {{"class", class_name(names_, guess.label)}, {"label", guess.label}, {"probability", guess.probability}});
    const nlohmann::ordered_json json = {{"file", prediction.file}, {"predictions", std::move(guesses)}};
    return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  }

  bool as_json_;
  std::vector<std::string> names_;
  std::size_t file_width_ = 0, name_width_ = 0;
};

/// Gives whether all files could be read; says of those that could not why.
bool predict_all(Predictor& predictor, const std::vector<std::string>& files, const PredictionLines& lines) {
  bool all_read = true;
  for (const std::string& file : files) {
    try {
      predictor.add(file);
    } catch (const Error& error) {
      std::fprintf(stderr, "train: error: %s\n", error.what());
      all_read = false;
    }
    if (predictor.is_full()) lines.print(predictor.run());
  }
  lines.print(predictor.run());
  return all_read;
}

}  // namespace

int predict(const Options& given) {
  check(!given.weights.empty(), "--weights is missing: the directory of a run or checkpoint, or a safetensors file");
  const std::optional<RunState> run = run_of_weights(given.weights);
  Options options = decided_by_run(given, run);
  const std::vector<std::string> files = files_to_predict(given.files);
  options.batch = std::min(*options.batch, std::ssize(files));
  const ProgramSetting setting = program_setting(options);
  Network network = build_network(setting.network, false);
  check_takes_images(network);
  const ImageInput input = image_input(given, options, run, network);
  if (setting.pixels) take_bytes(network, PixelNorm{input.data.mean, input.data.deviation});
  const std::unique_ptr<Device> device = open_device(options.device);
  Prepared prepared(*device);
  const Planned planned = plan_evaluation(network, setting.memory, prepared);
  device->reserve(reserved_bytes({&planned}, 0, device->info().alignment));
  Store store(*device);
  Predictor predictor(network, planned, prepared, store, input, options.top);
  load_weights(weights_file(options.weights), store, network);
  const bool all_read = predict_all(predictor, files, {options, files, input.data.classes});
  return static_cast<int>(all_read ? Exit::Done : Exit::Data);
}

}  // namespace lethe
