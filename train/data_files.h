// Files of data sets: whole files in memory, unpacked, and compared with the official ones.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "train/dataset.h"

namespace lethe {

using FileBytes = std::vector<std::uint8_t>;

/// Fails with Exit::Data, the path and the system's reason.
FileBytes read_file(const std::filesystem::path& path);
/// The same, unpacked if it begins as gzip does; fails with Exit::Data if it is damaged or ends early.
FileBytes read_file_unpacked(const std::filesystem::path& path);

/// One line to the user if the bytes are not the official file's. Other data in the same format is welcome.
void compare_md5(const FileBytes& bytes, std::string_view official, const std::filesystem::path& path,
                 const Notify& notify);

/// "mnist: data/mnist: no such directory", with `hint` behind it, unless `directory` is one.
void check_directory(std::string_view set, const std::filesystem::path& directory, std::string_view hint);

}  // namespace lethe
