// Files of data sets: whole files in memory, unpacked, and compared with the official ones.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

#include "train/data/dataset.h"

namespace lethe {

using FileBytes = std::vector<std::uint8_t>;

/// The bytes of a plain file. Fails with Exit::Data, the path and the system's reason.
std::int64_t size_of_file(const std::filesystem::path& path);
/// All of them, or the first `most`.
FileBytes read_file(const std::filesystem::path& path, std::int64_t most = INT64_MAX);

/// How far a file may go, as its first bytes tell.
struct Extent {
  std::size_t front = 0;                                          // how many bytes tell it
  std::function<std::uint64_t(const std::uint8_t* front)> bytes;  // of the whole file, unpacked
  const char* source = "";                                        // "which is all that its header says"
};
/// The same, unpacked if it begins as gzip does. Fails with Exit::Data if it is damaged, ends early, or goes on beyond
/// its extent; no more than that is ever held. A file that has not even the front is given as it is.
FileBytes read_file_unpacked(const std::filesystem::path& path, const Extent& extent);

/// A text, plain or packed, without a mark before it. Fails where it unpacks to more than any text does.
FileBytes read_text_file(const std::filesystem::path& path);

/// Gives the user one line if the bytes are not the official file's. Other data in the same format is welcome.
void compare_md5(const FileBytes& bytes, std::string_view official, const std::filesystem::path& path,
                 const Notify& notify);

/// "mnist: data/mnist: no such directory", with `hint` after it, unless `directory` is one.
void check_directory(std::string_view set, const std::filesystem::path& directory, std::string_view hint);

}  // namespace lethe
