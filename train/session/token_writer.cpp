#include "train/session/token_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "framework/error.h"

namespace lethe {
namespace {

namespace fs = std::filesystem;

/// "DIR/" is "DIR".
std::string without_slash(std::string directory) {
  while (directory.size() > 1 && directory.ends_with('/')) directory.pop_back();
  return directory;
}

void check_free(const std::string& directory) {
  std::error_code error;
  const fs::file_status there = fs::status(directory, error);
  check(!fs::exists(there) || fs::is_directory(there), directory, ": is there already, and no directory");
  check(!fs::exists(there) || fs::is_empty(directory, error), directory,
        ": is there already, with something in it; remove it, or name another directory");
}

}  // namespace

TokenWriter::TokenWriter(std::string directory, const ShardHeader& form, std::int64_t most, Unlocked)
    : directory_(std::move(directory)), form_(form), most_(most) {}

TokenWriter::TokenWriter(const std::string& directory, const ShardHeader& form, std::int64_t most)
    : TokenWriter(without_slash(directory), form, most, Unlocked{}) {
  const fs::path path(directory_), parent = path.parent_path().empty() ? "." : path.parent_path();
  check_writable(parent.string());
  aside_ = (parent / message('.', path.filename().string(), ".new")).string();
  std::error_code error;
  do {
    fs::create_directory(aside_, error);
    check_as(Exit::Data, !error, "cannot make directory '", aside_, "': ", error.message());
    lock_ = open_alone(aside_, O_RDONLY | O_DIRECTORY, Busy::Fails);
    check(lock_ >= 0 || errno != EWOULDBLOCK, directory_,
          ": another process is making it; wait for its end, or name another directory");
  } while (lock_ < 0 && errno == ENOENT);  // the other has just made or given up its own
  check_as(Exit::Data, lock_ >= 0, "cannot open '", aside_, "': ", std::strerror(errno));
  check_free(directory_);  // which nobody else makes from here on
  for (const fs::directory_entry& left : fs::directory_iterator(aside_)) fs::remove_all(left);  // by a killed process
}

TokenWriter::~TokenWriter() {
  if (lock_ < 0) return;
  if (!committed_) {
    for (Output& output : outputs_) output.file.reset();
    std::error_code ignored;
    fs::remove_all(aside_, ignored);
  }
  ::close(lock_);
}

void TokenWriter::add(Split split, std::span<const std::int32_t> tokens) {
  Output& output = of(split);
  while (!tokens.empty()) {
    if (output.file && static_cast<std::int64_t>(output.header.count) == most_) end_shard(output, false);
    if (!output.file) begin_shard(split);
    const auto room = static_cast<std::size_t>(most_) - output.header.count;
    const std::span<const std::int32_t> front = tokens.first(std::min(room, tokens.size()));
    write(output, front);
    tokens = tokens.subspan(front.size());
  }
}

void TokenWriter::begin_shard(Split split) {
  Output& output = of(split);
  output.header = form_;
  output.header.number = static_cast<std::uint32_t>(output.names.size());
  output.names.push_back(shard_name(split, output.header.number));
  output.file = std::make_unique<AtomicFile>(aside_ + '/' + output.names.back());
  output.file->write(&output.header, sizeof output.header);  // its room: count and checksum are not known yet
}

void TokenWriter::write(Output& output, std::span<const std::int32_t> tokens) {
  packed_.resize(tokens.size() * form_.width);
  for (std::size_t i = 0; i < tokens.size(); ++i)
    std::memcpy(packed_.data() + i * form_.width, &tokens[i], form_.width);  // the low bytes stand first
  output.file->write(packed_.data(), std::ssize(packed_));
  output.header.checksum = checksum_of(packed_, output.header.checksum);
  output.header.count += tokens.size();
  output.tokens += std::ssize(tokens);
}

void TokenWriter::end_shard(Output& output, bool last) {
  output.header.last = last ? 1 : 0;
  output.header.header_checksum = checksum_of(output.header);
  output.file->write_front(&output.header, sizeof output.header);
  output.file->commit();
  output.file.reset();
}

std::vector<std::string> TokenWriter::finish(Split split) {
  if (of(split).file) end_shard(of(split), true);
  return of(split).names;
}

void TokenWriter::put(const std::string& name, std::string_view content) { replace_file(aside_ + '/' + name, content); }

void TokenWriter::commit() {
  std::error_code error;
  fs::rename(aside_, directory_, error);  // in the place of an empty directory, or of none
  check_as(Exit::Data, !error, "cannot make '", directory_, "': ", error.message());
  committed_ = true;
  const fs::path parent = fs::path(directory_).parent_path();
  sync_directory(parent.empty() ? "." : parent.string());
}

}  // namespace lethe
