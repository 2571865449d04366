// A file of tokens: a header of 64 bytes, then the tokens, in 2 bytes each or 4; all little-endian. A split is one such
// file or several, DIR/train-0000.bin, DIR/train-0001.bin...
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "train/data/checksum.h"
#include "train/data/mapped_file.h"
#include "train/data/samples.h"
#include "train/data/tokenizer.h"

namespace lethe {

struct ShardHeader {
  static constexpr std::uint32_t kNoEnd = UINT32_MAX;
  char magic[8] = {'L', 'E', 'T', 'H', 'E', 'T', 'O', 'K'};
  std::uint32_t version = 1;
  std::uint32_t width = 2;       // bytes of a token
  std::uint64_t vocabulary = 0;  // tokens are below it
  std::uint64_t count = 0;       // tokens in this shard
  TokenKind kind = TokenKind::Bytes;
  std::uint32_t end = kNoEnd;  // the token after each document
  std::uint32_t number = 0;    // of the shard in its split, from 0
  std::uint32_t last = 1;      // whether no other follows
  std::uint32_t checksum = 0;  // CRC-32 of the tokens
  std::uint32_t reserved[2] = {};
  std::uint32_t header_checksum = 0;  // CRC-32 of what stands before it
  bool operator==(const ShardHeader&) const = default;
};
static_assert(sizeof(ShardHeader) == 64);

/// Bytes of a token: as few as the vocabulary takes.
std::uint32_t token_width(std::int64_t vocabulary);
std::uint32_t checksum_of(const ShardHeader& header);
/// "train-0000.bin", "val-0000.bin".
std::string shard_name(Split split, std::uint32_t number);

class TokenShard {
 public:
  /// Reads it once. Fails with Exit::Data unless it is as its header says: as long, with its checksum, of tokens below
  /// its vocabulary; else says at which offset, in tokens, the first stands that is not.
  explicit TokenShard(const std::string& path);
  const std::string& path() const { return path_; }
  const ShardHeader& header() const { return header_; }
  std::int64_t count() const { return static_cast<std::int64_t>(header_.count); }
  std::int64_t token(std::int64_t at) const;
  /// Fails with Exit::Data if the file was cut while tokens were read.
  void check_whole() const { file_.check_whole(); }
  /// Fails with Exit::Data, saying at which offset, unless all tokens are below `symbols`.
  void check_below(std::int64_t symbols, const std::string& whose) const;
  /// Fails with Exit::Data unless its tokens are of the same vocabulary.
  void check_like(const TokenShard& other) const;

 private:
  std::string path_;
  MappedFile file_;
  ShardHeader header_;
  std::int64_t largest_ = -1;
};

/// All of a split, none if the directory has none. Fails with Exit::Data if one is missing or unlike the first, or if
/// another follows the one that says it is the last.
std::vector<TokenShard> open_shards(const std::string& directory, Split split);

}  // namespace lethe
