// A directory of token shards, there as a whole or not at all: written under a hidden name beside it, then renamed.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "train/data/token_shard.h"
#include "train/session/atomic_file.h"

namespace lethe {

class TokenWriter {
 public:
  /// `form` says what is alike in all shards, none of which gets more than `most` tokens. Fails with Exit::Usage if
  /// the directory is there and has something in it, or if another process is making it.
  TokenWriter(const std::string& directory, const ShardHeader& form, std::int64_t most);
  TokenWriter(const TokenWriter&) = delete;
  TokenWriter& operator=(const TokenWriter&) = delete;
  /// Removes what was written, unless committed.
  ~TokenWriter();

  void add(Split split, std::span<const std::int32_t> tokens);
  std::int64_t tokens(Split split) const { return of(split).tokens; }
  /// Ends the shards and gives the names of theirs. Then only other files may follow.
  std::vector<std::string> finish(Split split);
  /// Another file beside them.
  void put(const std::string& name, std::string_view content);
  /// Puts the directory in its place; from here on it is there, also after a power cut.
  void commit();

 private:
  struct Output {
    std::unique_ptr<AtomicFile> file;
    ShardHeader header;  // of the shard that is being written
    std::int64_t tokens = 0;
    std::vector<std::string> names;
  };
  Output& of(Split split) { return outputs_[static_cast<std::size_t>(split)]; }
  const Output& of(Split split) const { return outputs_[static_cast<std::size_t>(split)]; }
  struct Unlocked {};
  /// Makes nothing yet, but an object that is destroyed if the other constructor fails: with the lock, what it made.
  TokenWriter(std::string directory, const ShardHeader& form, std::int64_t most, Unlocked);
  void begin_shard(Split split);
  void end_shard(Output& output, bool last);
  void write(Output& output, std::span<const std::int32_t> tokens);

  std::string directory_, aside_;
  int lock_ = -1;  // of aside_
  ShardHeader form_;
  std::int64_t most_;
  std::vector<std::byte> packed_;  // tokens as the file has them
  Output outputs_[2];
  bool committed_ = false;
};

}  // namespace lethe
