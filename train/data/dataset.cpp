#include "train/data/dataset.h"

#include "framework/error.h"
#include "framework/language/channel_order.h"
#include "train/data/data_spec.h"
#include "train/data/image_cache.h"
#include "train/data/image_folder.h"
#include "train/data/synthetic_images.h"

namespace lethe {
namespace {

std::unique_ptr<Dataset> open(const DataSpec& spec, const ImageShape& image, std::int64_t classes, std::uint64_t seed,
                              const Notify& notify, const Meaning& known) {
  const double held = spec.held_share();
  if (spec.kind == "mnist") return open_mnist(spec.place("DIR"), classes, held, notify, std::ssize(known.classes));
  if (spec.kind == "cifar10") return open_cifar10(spec.place("DIR"), held, notify);
  if (spec.kind == "cifar100") return open_cifar100(spec.place("DIR"), held, notify);
  if (spec.kind == "imagefolder") {
    const FolderSpec folder = spec.folder();
    return open_image_folder(folder.directory, image, folder.options, notify, known.classes);
  }
  if (spec.kind == "shapes") return make_shapes(image, classes, seed, spec.counts(kShapeCounts));
  if (spec.kind == "synthetic") return make_synthetic(image, classes, seed, synthetic_count(spec));
  spec.reject_for_images();
}

}  // namespace

std::string text_of(const ImageShape& image) {
  return message(image.height, "x", image.width, " with ", image.channels,
                 image.channels == 1 ? " channel" : " channels");
}

std::string set_hint(std::string_view key, std::int64_t count) {
  return message("; `set` ", key, '=', count, " gives a network of the zoo as many");
}

ImageShape image_shape_of(const Shape& input) {
  check_as(Exit::Data, input.size() == 4, "the network takes ", text_of(input),
           ", which is no batch of images [N,H,W,C]: data sets give images");
  return {input[1], input[2], input[3]};
}

std::unique_ptr<Dataset> open_dataset(const std::string& spec, const ImageShape& image, std::int64_t classes,
                                      std::uint64_t seed, const Notify& notify, const Meaning& known) {
  check_as(Exit::Data, image.height > 0 && image.width > 0 && image.channels > 0 && classes > 0, "a network of ",
           classes, " classes and images of ", text_of(image), " takes no data");
  std::unique_ptr<Dataset> data = open(DataSpec(spec), image, classes, seed, notify, known);
  const DataInfo& info = data->info();
  const std::string hint = channel_order_hint({image.channels, image.height, image.width});
  check_as(Exit::Data, info.image == image, info.name, ": images are ", text_of(info.image), ", the network takes ",
           text_of(image), hint);
  if (notify && !hint.empty()) notify(message(info.name, ": images are made ", text_of(image), hint));
  check_as(Exit::Data, std::ssize(info.classes) == classes, info.name, ": has ", info.classes.size(),
           " classes, the network tells ", classes, " apart", set_hint("classes", std::ssize(info.classes)));
  data->normalise_by(known);
  return data;
}

std::int32_t Dataset::read_whole(Split split, std::int64_t index, Image& image) const {
  image.shape = info_.image;
  image.pixels.resize(static_cast<std::size_t>(image.shape.bytes()));
  return read(split, index, {}, image.pixels.data());
}

void Dataset::normalise_by(const Meaning& known) {
  if (known.mean.empty()) return;
  const std::size_t channels = info_.mean.size();
  check_as(Exit::Data, known.mean.size() == channels && known.deviation.size() == channels, info_.name,
           ": has images of ", channels, " channels, the run's had ", known.mean.size());
  info_.mean = known.mean;
  info_.deviation = known.deviation;
}

}  // namespace lethe
