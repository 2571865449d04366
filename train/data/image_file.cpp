#include "train/data/image_file.h"

#include <algorithm>
#include <array>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <memory>

#include "framework/error.h"
#include "train/data/data_files.h"

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

/// stb fills in what a JPEG file that ends early lacks; so look for the end marker.
bool is_cut_jpeg(const FileBytes& file) {
  static constexpr std::array<std::uint8_t, 2> kBegin{0xff, 0xd8}, kEnd{0xff, 0xd9};
  return std::equal(kBegin.begin(), kBegin.end(), file.begin()) &&
         std::find_end(file.begin(), file.end(), kEnd.begin(), kEnd.end()) == file.end();
}

/// Whether the Huffman tables from `at` on, in so many bytes, have at most 256 codes each. Behind the file's end are
/// zeros.
bool tables_fit(const FileBytes& file, std::size_t at, std::int64_t bytes) {
  while (bytes > 0) {
    std::int64_t codes = 0;
    for (std::size_t i = at + 1; i < std::min(at + 17, file.size()); ++i) codes += file[i];
    if (codes > 256) return false;
    at += static_cast<std::size_t>(17 + codes);
    bytes -= 17 + codes;
  }
  return true;
}

/// Before 2.28 stb writes behind its own tables if a JPEG file has larger ones. Goes from marker to marker as stb does.
bool huffman_tables_fit(const FileBytes& file) {
  constexpr int kTables = 0xc4, kFirstAlone = 0xd0, kLastAlone = 0xd8, kEnd = 0xd9;  // alone: without a length
  if (file.front() != 0xff) return true;
  for (auto next = file.begin();;) {
    next = std::find(next, file.end(), 0xff);
    next = std::find_if(next, file.end(), [](int byte) { return byte != 0xff; });
    if (file.end() - next < 3 || *next == kEnd) return true;
    const int marker = *next++;
    if (marker == 0 || (marker >= kFirstAlone && marker <= kLastAlone)) continue;
    const int length = next[0] << 8 | next[1];
    if (marker == kTables && !tables_fit(file, static_cast<std::size_t>(next - file.begin()) + 2, length - 2))
      return false;
    next += std::min<std::ptrdiff_t>(length, file.end() - next);
  }
}

/// Which source pixels make one target pixel along an axis: those from `first` on, with these weights.
struct Taps {
  std::int64_t first = 0;
  std::vector<float> weights = {};
};

/// For `count` target pixels from `begin` on, where `from` source pixels become `to`.
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
  check_as(Exit::Data, known, path.string(), ": cannot be decoded as PNG or JPEG (", stbi_failure_reason(), ")");
  check_as(Exit::Data, std::int64_t{width} * height <= most, path.string(), ": has ", width, " x ", height,
           " pixels, more than ", most, "; behind the data's directory ,max-pixels=N allows more");
  // Eight bytes a pixel at most, twice for what grows by doubling, and sides in whole blocks; and names and the like.
  constexpr std::size_t kPixel = 16, kBlock = 32;
  most_for_decoder = kPixel * (static_cast<std::size_t>(width) + kBlock) * (static_cast<std::size_t>(height) + kBlock) +
                     file.size() + kForHeader;
}

}  // namespace

Image decode_image(const std::filesystem::path& path, std::int64_t channels, std::int64_t max_pixels) {
  const std::int64_t bytes = size_of_file(path);
  check_as(Exit::Data, bytes > 2 && bytes <= INT_MAX, path.string(), ": ", bytes, " bytes are no PNG or JPEG file");
  const FileBytes file = read_file(path);
  check_as(Exit::Data, huffman_tables_fit(file), path.string(),
           ": JPEG file with a Huffman table of more than 256 codes");
  check_pixels(file, path, max_pixels);
  check_as(Exit::Data, !is_cut_jpeg(file), path.string(), ": JPEG file ends early");
  int width = 0, height = 0, stored = 0;
  const std::unique_ptr<stbi_uc, void (*)(void*)> decoded(
      stbi_load_from_memory(file.data(), static_cast<int>(file.size()), &width, &height, &stored,
                            static_cast<int>(channels)),
      stbi_image_free);
  check_as(Exit::Data, decoded != nullptr, path.string(), ": cannot be decoded as PNG or JPEG (", stbi_failure_reason(),
           ")");
  Image image{.shape = {height, width, channels}};
  image.pixels.assign(decoded.get(), decoded.get() + image.shape.bytes());
  return image;
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
