#include "train/data/augment.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <sstream>

#include "framework/did_you_mean.h"
#include "framework/error.h"
#include "framework/language/init.h"
#include "framework/language/op_def.h"
#include "kernels/dtypes.h"
#include "kernels/pixel_scale.h"

namespace lethe {
namespace {

/// A position in [0, room], each as likely.
std::int64_t any_of(Random& random, std::int64_t room) {
  return room > 0 ? random.below(static_cast<std::uint32_t>(room) + 1) : 0;
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);) parts.push_back(part);
  return parts;
}

/// The number after the word's '=', if it has one.
std::int64_t pixels_of(const std::string& word, std::int64_t absent) {
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos) return absent;
  const std::string value = word.substr(equals + 1);
  check(!value.empty() && value.size() < 5 && value.find_first_not_of("0123456789") == std::string::npos,
        "`augment`: ", quote(word), " must name pixels, as in ", word.substr(0, equals), "=", absent);
  return std::stoll(value);
}

/// The words by their names, with their values as they stand there.
std::map<std::string, std::string> augment_words(const std::string& text) {
  static const std::vector<std::string> known = {"none", "pad-crop", "flip", "cutout", "random-crop"};
  check(!text.empty() && text.back() != ',', "`augment`: ", quote(text), " has no word at its end");
  std::map<std::string, std::string> words;
  for (const std::string& word : split(text, ',')) {
    std::string name = word.substr(0, word.find('='));
    std::replace(name.begin(), name.end(), '_', '-');
    check(std::find(known.begin(), known.end(), name) != known.end(), "`augment`: unknown word ", quote(word),
          did_you_mean(name, known), "; known: ", joined(known));
    check(name == "pad-crop" || name == "cutout" || word.find('=') == std::string::npos, "`augment`: ", quote(word),
          ": ", name, " takes no value");
    check(words.emplace(name, word).second, "`augment`: ", name, " stands twice");
  }
  check(words.count("none") == 0 || words.size() == 1, "`augment`: 'none' stands alone, not in ", quote(text));
  return words;
}

}  // namespace

Random augmentation_stream(std::uint64_t seed, std::int64_t epoch, std::int64_t index) {
  return Random(seed, hash_of("augment") + static_cast<std::uint64_t>(index), static_cast<std::uint64_t>(epoch));
}

Augmenter::Augmenter(const Dataset& data, const Augmentation& options)
    : data_(data), options_(options), raw_(data.info().image.bytes()), varied_(raw_.size()) {
  check(options.pad_crop >= 0 && options.cutout >= 0, "augmentation: pad_crop ", options.pad_crop, " and cutout ",
        options.cutout, " must not be negative");
  for (const double mean : data.info().mean) mean_.push_back(static_cast<std::uint8_t>(std::lround(mean * 255)));
}

Augmenter::Sample Augmenter::read(Split split, std::int64_t index, Random random) {
  CropAt crop;
  if (options_.random_crop) {
    crop.vertical = random.uniform();
    crop.horizontal = random.uniform();
  }
  const std::int32_t label = data_.read(split, index, crop, raw_.data());
  std::uint8_t* pixels = raw_.data();
  if (options_.pad_crop > 0 || options_.flip) {
    crop_and_flip(random);
    pixels = varied_.data();
  }
  if (options_.cutout > 0) cut_out(random, pixels);
  return {pixels, label};
}

void Augmenter::crop_and_flip(Random& random) {
  const auto [height, width, channels] = data_.info().image;
  const std::int64_t down = any_of(random, 2 * options_.pad_crop) - options_.pad_crop;
  const std::int64_t right = any_of(random, 2 * options_.pad_crop) - options_.pad_crop;
  const bool flip = options_.flip && random.below(2) == 1;
  const std::int64_t row = width * channels;
  // Columns [begin, end) of the source are seen; the rest of a row is border.
  const std::int64_t begin = std::clamp<std::int64_t>(right, 0, width), end = std::clamp(width + right, begin, width);
  for (std::int64_t y = 0; y < height; ++y) {
    std::uint8_t* to = varied_.data() + y * row;
    const std::int64_t from_y = y + down;
    if (from_y < 0 || from_y >= height || begin == end) {
      std::memset(to, 0, static_cast<std::size_t>(row));
      continue;
    }
    const std::uint8_t* from = raw_.data() + from_y * row;
    const std::int64_t first = begin - right, seen = end - begin;
    std::memset(to, 0, static_cast<std::size_t>(first * channels));
    std::memcpy(to + first * channels, from + begin * channels, static_cast<std::size_t>(seen * channels));
    std::memset(to + (first + seen) * channels, 0, static_cast<std::size_t>((width - first - seen) * channels));
    if (!flip) continue;
    for (std::int64_t left = 0, last = width - 1; left < last; ++left, --last)
      std::swap_ranges(to + left * channels, to + (left + 1) * channels, to + last * channels);
  }
}

void Augmenter::cut_out(Random& random, std::uint8_t* pixels) const {
  const auto [height, width, channels] = data_.info().image;
  const std::int64_t top = any_of(random, height - 1) - options_.cutout / 2;
  const std::int64_t left = any_of(random, width - 1) - options_.cutout / 2;
  for (std::int64_t y = std::max<std::int64_t>(top, 0); y < std::min(top + options_.cutout, height); ++y)
    for (std::int64_t x = std::max<std::int64_t>(left, 0); x < std::min(left + options_.cutout, width); ++x)
      std::copy(mean_.begin(), mean_.end(), pixels + (y * width + x) * channels);
}

Normalizer::Normalizer(const DataInfo& info, DType dtype) : channels_(info.image.channels), width_(bytes_of(dtype)) {
  if (dtype == DType::u8) return;
  check(is_float(dtype), "images are made as floats or bytes, not ", name_of(dtype));
  table_.resize(256 * channels_ * width_);
  for (std::int64_t c = 0; c < channels_; ++c) {
    const PixelScale scale(info.mean[c], info.deviation[c]);
    for (int value = 0; value < 256; ++value)
      for_float(dtype, [&](auto zero) {
        const decltype(zero) number = scale(static_cast<std::uint8_t>(value));
        std::memcpy(table_.data() + (value * channels_ + c) * width_, &number, sizeof number);
      });
  }
}

namespace {

/// Numbers are copied, whatever they are.
template <class Word>
void look_up(const std::uint8_t* pixels, std::int64_t count, const std::byte* table, std::int64_t channels, void* out) {
  auto* to = static_cast<Word*>(out);
  const auto* from = reinterpret_cast<const Word*>(table);
  for (std::int64_t i = 0; i < count; i += channels)
    for (std::int64_t c = 0; c < channels; ++c) to[i + c] = from[pixels[i + c] * channels + c];
}

}  // namespace

void Normalizer::run(const std::uint8_t* pixels, std::int64_t count, void* out) const {
  if (table_.empty()) {
    std::memcpy(out, pixels, static_cast<std::size_t>(count));
    return;
  }
  const auto by_width = width_ == 2   ? look_up<std::uint16_t>
                        : width_ == 4 ? look_up<std::uint32_t>
                                      : look_up<std::uint64_t>;
  by_width(pixels, count, table_.data(), channels_, out);
}

namespace {

class ImageReader final : public SampleReader {
 public:
  ImageReader(const Dataset& data, const ReadOptions& options)
      : bytes_(data.info().image.bytes()),
        options_(options),
        augmenter_(data, options.augment),
        normalizer_(data.info(), options.dtype) {}

  void read(Split split, std::int64_t index, std::int64_t epoch, std::byte* sample, std::int32_t* labels) override {
    const auto [pixels, label] = augmenter_.read(split, index, augmentation_stream(options_.seed, epoch, index));
    normalizer_.run(pixels, bytes_, sample);
    *labels = label;
  }

 private:
  std::int64_t bytes_;
  ReadOptions options_;
  Augmenter augmenter_;
  Normalizer normalizer_;
};

}  // namespace

std::unique_ptr<SampleReader> Dataset::reader(const ReadOptions& options) const {
  return std::make_unique<ImageReader>(*this, options);
}

Augmentation augmentation_of(const std::string& text) {
  const std::map<std::string, std::string> words = augment_words(text);
  const auto pixels = [&words](const char* name, std::int64_t absent) {
    const auto word = words.find(name);
    return word == words.end() ? 0 : pixels_of(word->second, absent);
  };
  return {.pad_crop = pixels("pad-crop", 4),
          .flip = words.count("flip") != 0,
          .cutout = pixels("cutout", 8),
          .random_crop = words.count("random-crop") != 0};
}

}  // namespace lethe
