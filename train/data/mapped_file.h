// A file to read, mapped into memory: pages of it come as they are touched, and go when others need the room.
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

  std::span<const std::byte> bytes() const { return bytes_; }
  std::string_view text() const { return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()}; }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace lethe
