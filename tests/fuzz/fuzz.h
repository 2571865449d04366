// What the fuzz targets share. A target is one source that hands inputs to one reader, and registers itself. All are
// one program, linked with libFuzzer where there is clang, elsewhere with loop.cpp:
//   fuzz NAME [what libFuzzer takes]      or --targets, which names them all
// What makes libFuzzer start the program again (-fork, -jobs, -merge, -minimize_crash) ends for want of a name.
#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "framework/error.h"

namespace lethe::fuzz {

/// What inputs are made from: whole ones to begin with, and words of the format.
struct Material {
  std::vector<std::string> seeds = {}, words = {};
};

struct Target {
  const char* name;
  Material (*material)();
  void (*read_input)(const std::uint8_t* data, std::size_t size);
};
struct RegisterTarget {
  explicit RegisterTarget(const Target& target);
};
/// The one that the program's first argument names. Prints all names for --targets; ends the program with a line for
/// any other word, or none.
const Target& chosen_target(int argc, char** argv);

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Ends the program unless the error blames the input: with one of these exit codes and in one line.
void check_complaint(const Error& error, std::initializer_list<Exit> allowed);

/// Runs a reader, which must succeed or complain of its input. Any other exception ends the program.
template <class Body>
void reads(std::initializer_list<Exit> allowed, const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    check_complaint(error, allowed);
  }
}

/// Ends the program with a line that says what does not hold.
void require(bool holds, const char* what);

/// A directory in memory, for readers that take names of files.
class Directory {
 public:
  Directory();
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  ~Directory();

  const std::string& path() const { return path_; }
  /// Makes or replaces a file; gives its path.
  std::string put(const std::string& name, std::string_view content) const;

 private:
  std::string path_;
};

std::string text_in(const std::string& file);

/// The files of a folder of the source tree that have this ending; fails if there are none.
std::vector<std::string> files_in_source(const std::string& folder, const std::string& ending);

}  // namespace lethe::fuzz
