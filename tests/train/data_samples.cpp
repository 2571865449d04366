#include "tests/train/data_samples.h"

#include <zlib.h>

#include <cstdlib>
#include <fstream>

#include "kernels/cpu/device.h"

namespace lethe::testing {
namespace {

void append(FileContent& to, const FileContent& bytes) { to.insert(to.end(), bytes.begin(), bytes.end()); }

FileContent big_endian(std::uint32_t value) {
  return {static_cast<std::uint8_t>(value >> 24), static_cast<std::uint8_t>(value >> 16),
          static_cast<std::uint8_t>(value >> 8), static_cast<std::uint8_t>(value)};
}

/// zlib's deflate; window bits as deflateInit2 takes them: 15 for a zlib stream, 31 for gzip.
FileContent deflated(const FileContent& content, int window_bits) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
  FileContent out(deflateBound(&stream, content.size()) + 32);
  stream.next_in = const_cast<Bytef*>(content.data());
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = out.data();
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// A chunk of a PNG file: length, type and data, checksum.
void append_chunk(FileContent& file, const std::string& type, const FileContent& data) {
  FileContent body(type.begin(), type.end());
  append(body, data);
  append(file, big_endian(static_cast<std::uint32_t>(data.size())));
  append(file, body);
  append(file, big_endian(static_cast<std::uint32_t>(crc32(0, body.data(), static_cast<uInt>(body.size())))));
}

/// A row of a PNG file by a filter: what each byte has more than its neighbours foretell.
FileContent filtered(int filter, const FileContent& row, const FileContent& above) {
  FileContent out;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const int left = i > 0 ? row[i - 1] : 0, up = above[i], corner = i > 0 ? above[i - 1] : 0;
    int nearest = left;
    for (const int one : {up, corner})
      if (std::abs(left + up - corner - one) < std::abs(left + up - corner - nearest)) nearest = one;
    const int foretold[] = {0, left, up, (left + up) / 2, nearest};
    out.push_back(static_cast<std::uint8_t>(row[i] - foretold[filter]));
  }
  return out;
}

/// Grey, 8 high, so many pixels wide. Codes of the first coefficients: how many have 1, 2... bits, and what they mean;
/// the others have one, of one bit, that all are 0.
FileContent jpeg_of(std::uint8_t width, const FileContent& lengths, const FileContent& categories,
                    const FileContent& scan) {
  FileContent file{0xff, 0xd8, 0xff, 0xdb, 0, 67, 0};  // begin; quantisation: all 1
  append(file, FileContent(64, 1));
  append(file, {0xff, 0xc0, 0, 11, 8, 0, 8, 0, width, 1, 1, 0x11, 0});  // one component
  append(file, {0xff, 0xc4, 0, static_cast<std::uint8_t>(19 + categories.size()), 0x00});
  append(file, lengths);
  append(file, FileContent(16 - lengths.size(), 0));
  append(file, categories);
  append(file, {0xff, 0xc4, 0, 20, 0x10, 1});
  append(file, FileContent(16, 0));
  append(file, {0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0});
  append(file, scan);
  append(file, {0xff, 0xd9});
  return file;
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "lethe_data_XXXXXX").string();
  path_ = mkdtemp(name.data());
}

TemporaryFolder::~TemporaryFolder() { std::filesystem::remove_all(path_); }

void TemporaryFolder::write(const std::string& name, const FileContent& content) const {
  std::filesystem::create_directories((path_ / name).parent_path());
  std::ofstream(path_ / name, std::ios::binary)
      .write(reinterpret_cast<const char*>(content.data()), static_cast<std::streamsize>(content.size()));
}

void TemporaryFolder::write(const std::string& name, const std::string& content) const {
  write(name, FileContent(content.begin(), content.end()));
}

void TemporaryFolder::remove(const std::string& name) const { std::filesystem::remove_all(path_ / name); }

FileContent gzipped(const FileContent& content) { return deflated(content, 31); }

FileContent idx(const std::vector<std::uint32_t>& dims, const FileContent& data) {
  FileContent file = big_endian(0x0800 + static_cast<std::uint32_t>(dims.size()));
  for (const std::uint32_t dim : dims) append(file, big_endian(dim));
  append(file, data);
  return file;
}

FileContent png(std::uint32_t height, std::uint32_t width, std::uint32_t channels, const FileContent& pixels) {
  FileContent file{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'}, header = big_endian(width), rows;
  append(header, big_endian(height));
  append(header, {8, static_cast<std::uint8_t>(channels == 3 ? 2 : 0), 0, 0, 0});  // depth, colour type, defaults
  const std::size_t row = std::size_t{width} * channels;
  for (std::size_t y = 0; y < height; ++y) {
    rows.push_back(0);  // no filter
    rows.insert(rows.end(), pixels.begin() + static_cast<std::ptrdiff_t>(y * row),
                pixels.begin() + static_cast<std::ptrdiff_t>((y + 1) * row));
  }
  append_chunk(file, "IHDR", header);
  append_chunk(file, "IDAT", deflated(rows, 15));
  append_chunk(file, "IEND", {});
  return file;
}

FileContent mask_png(std::uint32_t height, std::uint32_t width, const FileContent& values, MaskForm form) {
  FileContent file{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'}, header = big_endian(width), rows;
  append(header, big_endian(height));
  append(header, {static_cast<std::uint8_t>(form.depth), static_cast<std::uint8_t>(form.indexed ? 3 : 0), 0, 0, 0});
  const std::size_t row = (width * static_cast<std::size_t>(form.depth) + 7) / 8;
  FileContent above(row);
  for (std::size_t y = 0; y < height; ++y) {
    FileContent packed(row);
    for (std::size_t x = 0; x < width; ++x) {
      const std::size_t bit = x * static_cast<std::size_t>(form.depth);
      packed[bit / 8] |=
          static_cast<std::uint8_t>(values[y * width + x] << std::max(0, 8 - form.depth - static_cast<int>(bit % 8)));
    }
    rows.push_back(static_cast<std::uint8_t>(form.filter));
    append(rows, filtered(form.filter, packed, above));
    above = packed;
  }
  append_chunk(file, "IHDR", header);
  if (form.indexed) append_chunk(file, "PLTE", FileContent(std::size_t{3} << form.depth, 77));
  const FileContent data = deflated(rows, 15);
  const auto half = data.begin() + static_cast<std::ptrdiff_t>(data.size() / 2);
  append_chunk(file, "IDAT", {data.begin(), half});
  append_chunk(file, "IDAT", {half, data.end()});
  append_chunk(file, "IEND", {});
  return file;
}

FileContent grey_jpeg() { return jpeg_of(8, {1}, {0}, {0x3f}); }  // two codes: the mean of before, and no more

FileContent two_halves_jpeg(bool restarts) {
  // A category of 0 is written 0, one of 9 is 10 and then nine bits: 400 is 8 times what the right half has more.
  const FileContent lengths{1, 1}, categories{0, 9};
  if (!restarts) return jpeg_of(16, lengths, categories, {0x2c, 0x83});  // 0 0, 10 110010000 0
  FileContent file = jpeg_of(16, lengths, categories, {0x3f, 0xff, 0xd0, 0xb2, 0x0f});
  const FileContent interval{0xff, 0xdd, 0, 4, 0, 1};
  file.insert(file.begin() + 2, interval.begin(), interval.end());
  return file;
}

std::string real_data() {
  const char* folder = std::getenv("LETHE_DATA");
  return folder ? folder : "";
}

std::string refusal(const std::string& spec, const ImageShape& image, std::int64_t classes, Exit code) {
  return error_from([&] { open_dataset(spec, image, classes, 0); }, code);
}

Device& host() {
  static const std::unique_ptr<Device> cpu = open_cpu(1);
  return *cpu;
}

}  // namespace lethe::testing
