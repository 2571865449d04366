#include "memopt/options.h"

#include <vector>

#include "framework/error.h"

namespace lethe {
namespace {

constexpr const char* kKnown = "none, level=0, level=1 (each with ,release and ,inplace), level=2 or level=3";

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t comma; (comma = text.find(',', begin)) != std::string::npos; begin = comma + 1)
    parts.push_back(text.substr(begin, comma - begin));
  parts.push_back(text.substr(begin));
  return parts;
}

Level level_named(const std::string& text, const std::string& part) {
  if (part == "none") return Level::None;
  if (part == "level=0") return Level::SameShape;
  if (part == "level=1") return Level::Fits;
  if (part == "level=2") return Level::Arena;
  if (part == "level=3") return Level::Recompute;
  fail("`memopt` ", shortened(text), ": unknown setting ", quote(part), "; known: ", kKnown);
}

}  // namespace

MemoptOptions parse_memopt(const std::string& text) {
  const std::vector<std::string> parts = split(text);
  MemoptOptions options{.level = level_named(text, parts.front())};
  for (std::size_t i = 1; i < parts.size(); ++i) {
    check(parts[i] == "release" || parts[i] == "inplace", "`memopt` ", shortened(text), ": unknown ", quote(parts[i]),
          " after the level; known: ", kKnown);
    bool& wanted = parts[i] == "release" ? options.release : options.in_place;
    check(!wanted, "`memopt` ", shortened(text), ": '", parts[i], "' stands there twice");
    check(!is_in_arena(options.level), "`memopt` ", shortened(text), ": ", parts.front(), " ",
          parts[i] == "release" ? "gives every byte its place beforehand, so there is nothing to release"
                                : "is in place already",
          "; say `memopt` ", parts.front());
    wanted = true;
  }
  if (is_in_arena(options.level)) options.in_place = true;
  return options;
}

MemoptOptions suited(MemoptOptions options, const DeviceInfo& device) {
  const bool gpu = device.kind == DeviceKind::Cuda;
  options.fuse = gpu || is_in_arena(options.level);
  options.fuse_products = options.gather = options.stage_inputs = gpu;
  options.fuse_copies = !gpu;
  options.fuse_updates = !gpu && options.early_updates;
  return options;
}

}  // namespace lethe
