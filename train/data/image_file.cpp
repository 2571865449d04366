#include "train/data/image_file.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "framework/error.h"
#include "train/data/data_files.h"
#include "train/data/image_headers.h"

namespace lethe {
namespace {

/// The most that the decoder gets at once. It believes what packed data unpacks to, not what the header says.
thread_local std::size_t most_for_decoder = 0;
constexpr std::size_t kForHeader = std::size_t{1} << 20;

/// Zeros: before 2.28 stb decodes by tables that a JPEG file names and has not.
void* new_memory_for_decoder(std::size_t bytes) { return bytes <= most_for_decoder ? std::calloc(bytes, 1) : nullptr; }
void* memory_for_decoder(void* old, std::size_t bytes) {
  return bytes <= most_for_decoder ? std::realloc(old, bytes) : nullptr;
}

}  // namespace
}  // namespace lethe

#define STBI_MALLOC(bytes) lethe::new_memory_for_decoder(bytes)
#define STBI_REALLOC(old, bytes) lethe::memory_for_decoder(old, bytes)
#define STBI_FREE(memory) std::free(memory)
#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_NO_STDIO
#include "stb_image.h"

namespace lethe {
namespace {

/// How a format that is not read begins.
struct OtherFormat {
  const char* what;
  std::size_t at;
  std::string_view mark;
};
constexpr OtherFormat kOtherFormats[] = {
    {"a WebP", 8, "WEBP"},       {"a BMP", 0, "BM"},        {"a GIF", 0, "GIF8"},      {"a TIFF", 0, {"II*\0", 4}},
    {"a TIFF", 0, {"MM\0*", 4}}, {"an AVIF", 4, "ftypavi"}, {"a HEIF", 4, "ftypheic"}, {"a HEIF", 4, "ftypmif1"}};

/// "is a WebP file", or what the decoder does not like.
std::string refusal_of(const FileBytes& file) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  for (const OtherFormat& format : kOtherFormats)
    if (text.size() > format.at && text.substr(format.at).starts_with(format.mark))
      return message("is ", format.what, " file; images are read from PNG and JPEG files");
  return message("cannot be decoded as PNG or JPEG (", stbi_failure_reason(), ")");
}

/// Which source pixels make one target pixel along an axis: those from `first` on, with these weights.
struct Taps {
  std::int64_t first = 0;
  std::vector<float> weights = {};
};

/// Weights for `count` target pixels from `begin` on, where `from` source pixels become `to`.
std::vector<Taps> taps_of(std::int64_t from, std::int64_t to, std::int64_t begin, std::int64_t count) {
  const double ratio = static_cast<double>(from) / static_cast<double>(to), reach = std::max(ratio, 1.0);
  std::vector<Taps> taps(count);
  for (std::int64_t i = 0; i < count; ++i) {
    const double centre = (static_cast<double>(begin + i) + 0.5) * ratio - 0.5;
    const auto low = std::max<std::int64_t>(std::ceil(centre - reach), 0);
    const auto high = std::min<std::int64_t>(std::floor(centre + reach), from - 1);
    double sum = 0;
    std::vector<double> weights;
    for (std::int64_t at = low; at <= high; ++at)
      sum += weights.emplace_back(std::max(0.0, 1 - std::fabs(static_cast<double>(at) - centre) / reach));
    taps[i].first = low;
    for (const double weight : weights) taps[i].weights.push_back(static_cast<float>(weight / sum));
  }
  return taps;
}

/// Fails on a header that cannot be read or says too many.
void check_pixels(const FileBytes& file, const std::filesystem::path& path, std::int64_t most) {
  int width = 0, height = 0, stored = 0;
  most_for_decoder = kForHeader;
  const bool known = stbi_info_from_memory(file.data(), static_cast<int>(file.size()), &width, &height, &stored) != 0;
  check_as(Exit::Data, known, path.string(), ": ", known ? "" : refusal_of(file));
  check_as(Exit::Data, std::int64_t{width} * height <= most, path.string(), ": has ", width, " x ", height,
           " pixels, more than ", most, "; after the data's directory ,max-pixels=N allows more");
  // Eight bytes a pixel at most, twice for what grows by doubling, and sides in whole blocks; and names and the like.
  constexpr std::size_t kPixel = 16, kBlock = 32;
  most_for_decoder = kPixel * (static_cast<std::size_t>(width) + kBlock) * (static_cast<std::size_t>(height) + kBlock) +
                     file.size() + kForHeader;
}

/// Some versions of stb take one for an unknown marker if no data comes after it.
void drop_idle_restarts(FileBytes& file, const std::vector<std::size_t>& restarts) {
  constexpr std::size_t kBytes = 2;
  if (restarts.empty()) return;
  auto kept = file.begin() + static_cast<std::ptrdiff_t>(restarts.front());  // where what is kept ends so far
  for (std::size_t i = 0; i < restarts.size(); ++i) {
    const std::size_t next = i + 1 < restarts.size() ? restarts[i + 1] : file.size();
    kept = std::copy(file.begin() + static_cast<std::ptrdiff_t>(restarts[i] + kBytes),
                     file.begin() + static_cast<std::ptrdiff_t>(next), kept);
  }
  file.erase(kept, file.end());
}

}  // namespace

Image decode_image(const std::filesystem::path& path, std::int64_t channels, std::int64_t max_pixels) {
  const std::int64_t bytes = size_of_file(path);
  check_as(Exit::Data, bytes > 2 && bytes <= INT_MAX, path.string(), ": ", bytes, " bytes are no PNG or JPEG file");
  FileBytes file = read_file(path);
  const bool is_jpeg = begins_as_jpeg(file);
  const JpegMarkers markers = is_jpeg ? markers_of(file) : JpegMarkers{};
  check_as(Exit::Data, markers.tables_fit, path.string(), ": JPEG file with a Huffman table of more than 256 codes");
  check_pixels(file, path, max_pixels);
  check_as(Exit::Data, !is_jpeg || markers.ends, path.string(), ": JPEG file ends early");
  const int orientation = orientation_of(is_jpeg ? markers.exif : exif_of_png(file));
  drop_idle_restarts(file, markers.idle_restarts);
  int width = 0, height = 0, stored = 0;
  const std::unique_ptr<stbi_uc, void (*)(void*)> decoded(
      stbi_load_from_memory(file.data(), static_cast<int>(file.size()), &width, &height, &stored,
                            static_cast<int>(channels)),
      stbi_image_free);
  check_as(Exit::Data, decoded != nullptr, path.string(), ": ", decoded ? "" : refusal_of(file));
  Image image{.shape = {height, width, channels}};
  image.pixels.assign(decoded.get(), decoded.get() + image.shape.bytes());
  return upright(std::move(image), orientation);
}

void scale_and_crop(const Image& image, std::int64_t height, std::int64_t width, std::int64_t top, std::int64_t left,
                    const ImageShape& window, std::uint8_t* out) {
  const std::int64_t channels = window.channels, row = window.width * channels;
  const std::vector<Taps> rows = taps_of(image.shape.height, height, top, window.height);
  const std::vector<Taps> columns = taps_of(image.shape.width, width, left, window.width);
  // Along the rows first, for the source rows that the window shows.
  const std::int64_t begin = rows.front().first;
  const std::int64_t end = rows.back().first + std::ssize(rows.back().weights);
  std::vector<float> narrow((end - begin) * row);
  for (std::int64_t y = begin; y < end; ++y)
    for (std::int64_t x = 0; x < window.width; ++x)
      for (std::int64_t c = 0; c < channels; ++c) {
        const std::uint8_t* from = image.pixels.data() + (y * image.shape.width + columns[x].first) * channels + c;
        float sum = 0;
        for (const float weight : columns[x].weights) {
          sum += weight * *from;
          from += channels;
        }
        narrow[(y - begin) * row + x * channels + c] = sum;
      }
  for (std::int64_t y = 0; y < window.height; ++y)
    for (std::int64_t i = 0; i < row; ++i) {
      const float* from = narrow.data() + (rows[y].first - begin) * row + i;
      float sum = 0.5f;
      for (const float weight : rows[y].weights) {
        sum += weight * *from;
        from += row;
      }
      out[y * row + i] = static_cast<std::uint8_t>(std::clamp(sum, 0.0f, 255.0f));
    }
}

}  // namespace lethe
