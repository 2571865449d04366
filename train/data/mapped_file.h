// A file to read, mapped into memory: pages of it come as they are touched, and go when others need the room. Of a file
// that another process cuts, or that its disk no longer gives, bytes are zeros from then on, and check_whole says so.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace lethe {

class MappedFile {
 public:
  /// Fails with Exit::Data, the path and the system's reason.
  explicit MappedFile(const std::string& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  /// Fails with Exit::Data if what was read of it so far may not have been the file's. Whoever has read calls this
  /// before anything comes of that; it costs a call of the system.
  void check_whole() const;

  std::span<const std::byte> bytes() const { return bytes_; }
  std::string_view text() const { return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()}; }

  /// Where a file is mapped, as a signal finds it.
  struct Place;

 private:
  std::string path_;
  int descriptor_ = -1;  // stays open, to ask how long the file is
  std::span<const std::byte> bytes_ = {};
  Place* place_ = nullptr;  // null if there are no bytes
};

}  // namespace lethe
