#include "train/data/data_files.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>

#include "framework/error.h"
#include "framework/host_memory.h"
#include "framework/text_input.h"
#include "train/data/checksum.h"

namespace lethe {
namespace {

bool is_gzip(const FileBytes& bytes) { return bytes.size() >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b; }

void grow(FileBytes& bytes, std::size_t size, const std::filesystem::path& path) {
  taking(path.string(), static_cast<std::int64_t>(size), [&] { bytes.resize(size); });
}

/// A stream of zlib's that ends itself; expects gzip.
class Inflater {
 public:
  Inflater() { check_as(Exit::Internal, inflateInit2(&stream, 16 + MAX_WBITS) == Z_OK, "zlib: inflateInit2 failed"); }
  ~Inflater() { inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  z_stream stream{};
};

void check_extent(std::uint64_t bytes, std::uint64_t most, const Extent& extent, const std::filesystem::path& path) {
  check_as(Exit::Data, bytes <= most, path.string(), ": has more than ", most, " bytes, ", extent.source);
}

/// All gzip members of the file, one after the other. zlib counts in 32 bits, so both sides go in pieces.
FileBytes gunzip(const FileBytes& packed, const Extent& extent, const std::filesystem::path& path) {
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  Inflater inflater;
  z_stream& stream = inflater.stream;
  FileBytes out;
  std::uint64_t most = extent.front;  // until the front is there
  bool most_is_known = false;
  std::size_t used = 0, made = 0;
  for (int status = Z_OK; used < packed.size() || status != Z_STREAM_END;) {
    if (!most_is_known && made == extent.front) most = extent.bytes(out.data()), most_is_known = true;
    check_extent(made, most, extent, path);
    if (status == Z_STREAM_END) inflateReset(&stream);
    const std::uint64_t end = most_is_known ? most + 1 : most;  // one more tells that the file goes on
    if (made == out.size())
      grow(out, std::min<std::uint64_t>(std::max(2 * made, 4 * packed.size() + kPiece), end), path);
    const std::size_t give = std::min(packed.size() - used, kPiece), room = std::min(out.size() - made, kPiece);
    stream.next_in = const_cast<Bytef*>(packed.data() + used);
    stream.avail_in = static_cast<uInt>(give);
    stream.next_out = out.data() + made;
    stream.avail_out = static_cast<uInt>(room);
    status = inflate(&stream, Z_NO_FLUSH);
    used += give - stream.avail_in;
    made += room - stream.avail_out;
    check_as(Exit::Data, status != Z_BUF_ERROR, path.string(), ": gzip data ends early");
    check_as(Exit::Data, status == Z_OK || status == Z_STREAM_END, path.string(), ": damaged gzip data (",
             stream.msg ? stream.msg : "no reason given", ")");
  }
  check_extent(made, most_is_known ? most : made, extent, path);
  out.resize(made);
  return out;
}

}  // namespace

std::int64_t size_of_file(const std::filesystem::path& path) {
  std::error_code status;
  check_as(Exit::Data, !std::filesystem::is_directory(path, status), path.string(), ": is a directory, not a file");
  const std::uintmax_t bytes = std::filesystem::file_size(path, status);
  check_as(Exit::Data, !status, path.string(), ": cannot be opened (", status.message(), ")");
  return static_cast<std::int64_t>(bytes);
}

FileBytes read_file(const std::filesystem::path& path, std::int64_t most) {
  const std::int64_t size = std::min(size_of_file(path), most);
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  check_as(Exit::Data, file.is_open(), path.string(), ": cannot be opened (", std::strerror(errno), ")");
  FileBytes bytes;
  grow(bytes, static_cast<std::size_t>(size), path);
  file.read(reinterpret_cast<char*>(bytes.data()), size);
  check_as(Exit::Data, file.good(), path.string(), ": cannot be read (", std::strerror(errno), ")");
  return bytes;
}

FileBytes read_file_unpacked(const std::filesystem::path& path, const Extent& extent) {
  constexpr std::size_t kTellsGzip = 2;
  const FileBytes front = read_file(path, static_cast<std::int64_t>(std::max(extent.front, kTellsGzip)));
  if (is_gzip(front)) return gunzip(read_file(path), extent, path);
  if (front.size() >= extent.front)
    check_extent(static_cast<std::uint64_t>(size_of_file(path)), extent.bytes(front.data()), extent, path);
  return read_file(path);
}

FileBytes read_text_file(const std::filesystem::path& path) {
  // Packed text is a tenth to a third of its size; whatever is a hundred times as large unpacked is not that.
  constexpr std::uint64_t kRatio = 100, kAlways = std::uint64_t{64} << 20;
  const std::uint64_t most = kAlways + kRatio * static_cast<std::uint64_t>(size_of_file(path));
  FileBytes bytes = read_file_unpacked(
      path, {.bytes = [most](const std::uint8_t*) { return most; }, .source = "a hundred times what it is packed"});
  const std::string_view front(reinterpret_cast<const char*>(bytes.data()), std::min<std::size_t>(bytes.size(), 3));
  bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(mark_length(front)));
  return bytes;
}

void compare_md5(const FileBytes& bytes, std::string_view official, const std::filesystem::path& path,
                 const Notify& notify) {
  if (!notify) return;
  const std::string md5 = md5_of(bytes.data(), bytes.size());
  if (md5 != official) notify(message(path.string(), ": MD5 ", md5, " is not the official file's ", official));
}

void check_directory(std::string_view set, const std::filesystem::path& directory, std::string_view hint) {
  std::error_code status;
  check_as(Exit::Data, std::filesystem::is_directory(directory, status), set, ": ", directory.string(),
           std::filesystem::exists(directory, status) ? ": is not a directory; " : ": no such directory; ", hint);
}

}  // namespace lethe
