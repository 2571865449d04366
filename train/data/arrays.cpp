#include "train/data/arrays.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "framework/did_you_mean.h"
#include "framework/error.h"
#include "train/data/held_out.h"
#include "train/data/npy_file.h"
#include "train/data/target_range.h"

namespace lethe {
namespace {

constexpr const char* kForTests = "test.";

/// An array, and how its rows become values of an input.
struct ArrayInput {
  NpyFile file;
  std::int64_t bytes = 0;  // of a sample
  DType dtype = DType::f32;
  std::vector<std::int32_t> places = {};  // NpyFile::read
};

/// Without axes of size 1.
Shape squeezed(Shape shape) {
  std::erase(shape, 1);
  return shape;
}

/// For each number of an image [H, W, C] its place in [C, H, W].
std::vector<std::int32_t> image_places(const Shape& stated) {
  const std::int64_t channels = stated[0], pixels = stated[1] * stated[2];
  std::vector<std::int32_t> places;
  for (std::int64_t pixel = 0; pixel < pixels; ++pixel)
    for (std::int64_t c = 0; c < channels; ++c) places.push_back(static_cast<std::int32_t>(c * pixels + pixel));
  return places;
}

ArrayInput open_array(const std::string& path, const Network& network, VarId id) {
  const Var& var = network.program.vars[id];
  ArrayInput array{.file = NpyFile(path), .bytes = bytes_of(var) / var.shape[0], .dtype = var.dtype, .places = {}};
  const Shape stated = sample_shape(network, id), &found = array.file.shape();
  check_as(Exit::Data, squeezed(Shape(found.begin() + 1, found.end())) == squeezed(stated), path, ": has rows of ",
           text_of(Shape(found.begin() + 1, found.end())), ", the input '", var.name, "' takes ", text_of(stated));
  if (is_image(network, id) && stated[0] > 1) array.places = image_places(stated);
  return array;
}

/// An array for each of the inputs, all of as many rows.
std::vector<ArrayInput> open_set(const std::map<std::string, std::string>& files, const std::string& before,
                                 const DataSpec& spec, const Network& network, const std::vector<VarId>& inputs) {
  std::vector<ArrayInput> arrays;
  for (const VarId id : inputs) {
    const std::string name = before + network.program.vars[id].name;
    const auto file = files.find(name);
    if (file == files.end()) spec.reject(message("has no array for the input: ", name, "=FILE.npy"));
    arrays.push_back(open_array(file->second, network, id));
    const NpyFile &first = arrays.front().file, &own = arrays.back().file;
    check_as(Exit::Data, own.rows() == first.rows(), own.path(), ": has ", own.rows(), " rows, ", first.path(), " has ",
             first.rows());
  }
  return arrays;
}

class Arrays final : public NamedSamples {
 public:
  Arrays(const DataSpec& spec, const Network& network, const FedInputs& fed)
      : NamedSamples("npy", network, fed),
        range_(network),
        chances_(fed.chances ? std::ranges::find(fed.inputs, fed.target) - fed.inputs.begin() : -1) {
    std::vector<VarId> inputs = fed.inputs;
    if (fed.labels != kNone) inputs.push_back(fed.labels);
    const std::map<std::string, std::string> files = files_of(spec, network, inputs);
    arrays_[0] = open_set(files, "", spec, network, inputs);
    const std::int64_t rows = arrays_[0].front().file.rows();
    const bool has_tests =
        std::ranges::any_of(files, [](const auto& file) { return file.first.starts_with(kForTests); });
    if (!has_tests) {
      const double held = spec.held_share();
      rows_ = divided_rows(name(), rows, held > 0 ? held : kTestedShare);
    } else {
      if (spec.held_share() > 0) spec.reject("val goes without arrays for tests");
      arrays_[1] = open_set(files, kForTests, spec, network, inputs);
      rows_ = {all_rows(rows), all_rows(arrays_[1].front().file.rows())};
    }
  }

  std::int64_t size(Split split) const override { return std::ssize(rows_[static_cast<std::size_t>(split)]); }

  void read(Split split, std::int64_t index, std::byte* sample, std::int32_t* labels) const override {
    const std::int64_t row = rows_[static_cast<std::size_t>(split)][static_cast<std::size_t>(index)];
    const std::vector<ArrayInput>& arrays = arrays_[split == Split::Test && !arrays_[1].empty() ? 1 : 0];
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      const ArrayInput& array = arrays[i];
      if (this->labels() > 0 && i + 1 == arrays.size()) {
        array.file.read(row, {}, DType::i32, reinterpret_cast<std::byte*>(labels));
        range_.check_labels(array.file.path(), row, {labels, static_cast<std::size_t>(this->labels())});
        return;
      }
      array.file.read(row, array.places, array.dtype, sample);
      if (static_cast<std::int64_t>(i) == chances_)
        check_chances(array.file.path(), row, {sample, static_cast<std::size_t>(array.bytes)}, array.dtype);
      sample += array.bytes;
    }
  }

 private:
  /// By name of input, those for tests with "test." before it.
  static std::map<std::string, std::string> files_of(const DataSpec& spec, const Network& network,
                                                     const std::vector<VarId>& inputs) {
    std::vector<std::string> names;
    for (const char* before : {"", kForTests})
      for (const VarId id : inputs) names.push_back(before + network.program.vars[id].name);
    std::map<std::string, std::string> files;
    for (const auto& [name, file] : spec.named_files()) {
      if (std::ranges::count(names, name) == 0)
        spec.reject(message(quote(name), " is no input of ", network.name, did_you_mean(name, names),
                            " (known: ", joined(names), ")"));
      if (!files.emplace(name, file).second) spec.reject(name + " stands twice");
    }
    return files;
  }

  std::vector<std::int32_t> all_rows(std::int64_t count) const {
    check_as(Exit::Data, count <= INT32_MAX, name(), ": has ", count, " rows, more than ", INT32_MAX);
    std::vector<std::int32_t> rows(static_cast<std::size_t>(count));
    std::iota(rows.begin(), rows.end(), 0);
    return rows;
  }

  TargetRange range_;
  std::int64_t chances_;  // which of the arrays bce compares with, or none
  std::array<std::vector<ArrayInput>, 2> arrays_ =
      {};  // as the network's inputs, the labels last; of tests: maybe none
  RowsOfSplits rows_ = {};
};

}  // namespace

std::unique_ptr<Samples> open_arrays(const DataSpec& spec, const Network& network, const FedInputs& fed) {
  return std::make_unique<Arrays>(spec, network, fed);
}

}  // namespace lethe
