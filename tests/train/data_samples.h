// Small data files made on the spot, good and bad, in a folder that goes away.
#pragma once
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "framework/error.h"
#include "framework/run/device.h"
#include "train/data/dataset.h"

namespace lethe::testing {

using FileContent = std::vector<std::uint8_t>;

class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::string text() const { return path_.string(); }
  /// Makes the folders on the way too.
  void write(const std::string& name, const FileContent& content) const;
  void write(const std::string& name, const std::string& content) const;
  void remove(const std::string& name) const;

 private:
  std::filesystem::path path_;
};

FileContent gzipped(const FileContent& content);
/// An IDX file of bytes with those dimensions in its header.
FileContent idx(const std::vector<std::uint32_t>& dims, const FileContent& data);
/// A PNG file; `channels` is 1 or 3.
FileContent png(std::uint32_t height, std::uint32_t width, std::uint32_t channels, const FileContent& pixels);
/// A PNG file of classes: indexed, or grey, with so many bits a pixel; each row by that filter, 0 to 4.
struct MaskForm {
  int depth = 8;
  bool indexed = true;
  int filter = 0;
};
FileContent mask_png(std::uint32_t height, std::uint32_t width, const FileContent& values, MaskForm form = {});
/// 8 x 8, all 128.
FileContent grey_jpeg();
/// 8 high and 16 wide, 128 on the left and 178 on the right; each half after a restart if so asked.
FileContent two_halves_jpeg(bool restarts = false);

/// The folder that LETHE_DATA names, or "".
std::string real_data();

/// The message of the Error that `body` throws; it must ask for that exit code and be one line.
template <class Body>
std::string error_from(const Body& body, Exit code = Exit::Data) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.code, code) << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

/// Opens a set that must be refused, and gives the message.
std::string refusal(const std::string& spec, const ImageShape& image, std::int64_t classes, Exit code = Exit::Data);

/// For EXPECT_PRED2: that a message has these words in it.
inline bool says(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

/// A CPU, for batches to be made in its memory.
Device& host();

}  // namespace lethe::testing
