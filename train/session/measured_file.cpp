#include "train/session/measured_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "train/session/atomic_file.h"

namespace lethe {

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.rfind("model name", 0) == 0) return line.substr(std::min(line.find(": ") + 2, line.size()));
  return "";
}

MeasuredFile::MeasuredFile(std::string file, Json head, std::string key)
    : file_(std::move(file)), key_(std::move(key)), head_(std::move(head)) {
  const std::string directory = std::filesystem::path(file_).parent_path().string();
  check_writable(directory.empty() ? "." : directory);
}

void MeasuredFile::read(const std::function<void(const std::string&, const JsonNode&)>& visit) const {
  if (!std::filesystem::exists(file_)) return;
  const JsonSource source(file_);
  for (const auto& [key, here] : head_.items())
    if (const JsonNode there = source.root().at(key); there.json() != here)
      there.fail("it was measured with ", key, " ", there.shown(), ", here that is ", here.dump());
  for (const auto& [name, found] : source.root().at(key_).members()) visit(name, found);
}

bool MeasuredFile::mentions(const std::string& word) const {
  std::ifstream in(file_);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  return text.empty() || text.find('"' + word + '"') != std::string::npos;
}

void MeasuredFile::write(const Json& found) const {
  Json json = head_;
  json[key_] = found;
  const std::string text = json.dump(1) + "\n";
  AtomicFile out(file_);
  out.write(text.data(), static_cast<std::int64_t>(text.size()));
  out.commit();
}

}  // namespace lethe
