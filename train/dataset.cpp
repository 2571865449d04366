#include "train/dataset.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <utility>

#include "framework/error.h"
#include "framework/op_def.h"
#include "train/held_images.h"
#include "train/image_folder.h"
#include "train/made_images.h"

namespace lethe {
namespace {

/// A spec in two: "mnist:data/mnist" is kind "mnist" and argument "data/mnist".
struct Spec {
  std::string text, kind, argument;

  [[noreturn]] void reject(const std::string& reason) const { fail("data '", text, "': ", reason); }
  std::filesystem::path directory() const {
    if (argument.empty()) reject(message("write the directory behind a colon: ", kind, ":DIR"));
    return argument;
  }
  std::int64_t count(std::string_view digits) const {
    std::int64_t value = 0;
    const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (status != std::errc{} || end != digits.data() + digits.size() || value < 1 || value > INT32_MAX)
      reject(message("expected a number from 1 to ", INT32_MAX, ", got '", digits, "'"));
    return value;
  }
};

Spec parse(const std::string& text) {
  const std::size_t colon = text.find(':');
  return {text, text.substr(0, colon), colon == std::string::npos ? "" : text.substr(colon + 1)};
}

/// "train=N,test=M", each of which may be missing.
ImageCounts shape_counts(const Spec& spec, ImageCounts counts) {
  for (std::string_view rest = spec.argument; !rest.empty();) {
    const std::string_view item = rest.substr(0, rest.find(','));
    const std::size_t equals = item.find('=');
    const std::string key(item.substr(0, equals));
    if (equals == item.npos || (key != "train" && key != "test"))
      spec.reject(message("expected train=N or test=N, got '", item, "'", did_you_mean(key, {"train", "test"})));
    (key == "train" ? counts.training : counts.test) = spec.count(item.substr(equals + 1));
    rest.remove_prefix(std::min(rest.size(), item.size() + 1));
  }
  return counts;
}

std::unique_ptr<Dataset> open_folder(const Spec& spec, const ImageShape& image) {
  constexpr std::string_view kResize = ",resize=";
  const std::string directory = spec.directory().string();
  const std::size_t at = directory.rfind(kResize);
  if (at == std::string::npos) return open_image_folder(directory, image, 0);
  return open_image_folder(directory.substr(0, at), image, spec.count(directory.substr(at + kResize.size())));
}

std::unique_ptr<Dataset> open(const Spec& spec, const ImageShape& image, std::int64_t classes, std::uint64_t seed,
                              const Notify& notify) {
  if (spec.kind == "mnist") return open_mnist(spec.directory(), notify);
  if (spec.kind == "cifar10") return open_cifar10(spec.directory(), notify);
  if (spec.kind == "cifar100") return open_cifar100(spec.directory(), notify);
  if (spec.kind == "imagefolder") return open_folder(spec, image);
  if (spec.kind == "shapes") return make_shapes(image, classes, seed, shape_counts(spec, kShapeCounts));
  if (spec.kind == "synthetic")
    return make_synthetic(image, classes, seed, spec.argument.empty() ? kSyntheticCount : spec.count(spec.argument));
  const std::vector<std::string> known{"mnist", "cifar10", "cifar100", "imagefolder", "shapes", "synthetic"};
  spec.reject(message("unknown data set '", spec.kind, "'", did_you_mean(spec.kind, known),
                      " (known: mnist:DIR, cifar10:DIR, cifar100:DIR, imagefolder:DIR, shapes, synthetic)"));
}

}  // namespace

std::string text_of(const ImageShape& image) {
  return message(image.height, "x", image.width, " with ", image.channels,
                 image.channels == 1 ? " channel" : " channels");
}

ImageShape image_shape_of(const Shape& input) {
  check_as(Exit::Data, input.size() == 4, "the network takes ", text_of(input),
           ", which is no batch of images [N,H,W,C]: data sets give images");
  return {input[1], input[2], input[3]};
}

std::unique_ptr<Dataset> open_dataset(const std::string& spec, const ImageShape& image, std::int64_t classes,
                                      std::uint64_t seed, const Notify& notify) {
  check_as(Exit::Data, image.height > 0 && image.width > 0 && image.channels > 0 && classes > 0, "a network of ",
           classes, " classes and images of ", text_of(image), " takes no data");
  std::unique_ptr<Dataset> data = open(parse(spec), image, classes, seed, notify);
  const DataInfo& info = data->info();
  check_as(Exit::Data, info.image == image, info.name, ": images are ", text_of(info.image), ", the network takes ",
           text_of(image));
  check_as(Exit::Data, std::ssize(info.classes) == classes, info.name, ": has ", info.classes.size(),
           " classes, the network tells ", classes, " apart");
  return data;
}

}  // namespace lethe
