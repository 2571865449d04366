#include "train/data/token_shard.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>

#include "framework/error.h"
#include "framework/formatted.h"

namespace lethe {
namespace {

static_assert(std::endian::native == std::endian::little, "shards are little-endian, and so is what reads them");

std::int64_t token_at(const std::byte* tokens, std::uint32_t width, std::int64_t at) {
  if (width == 2) return reinterpret_cast<const std::uint16_t*>(tokens)[at];
  return reinterpret_cast<const std::uint32_t*>(tokens)[at];
}

/// The header of a file that is as long as it says.
ShardHeader read_header(const std::string& path, std::span<const std::byte> bytes) {
  ShardHeader header;
  const auto is_magic = [&] { return std::memcmp(bytes.data(), header.magic, sizeof header.magic) == 0; };
  check_as(Exit::Data, bytes.size() >= sizeof header && is_magic(), path,
           ": is no shard that `train tokenize` has made");
  std::memcpy(&header, bytes.data(), sizeof header);
  check_as(Exit::Data, header.version == ShardHeader{}.version, path, ": is of version ", header.version,
           ", this program reads version ", ShardHeader{}.version);
  check_as(Exit::Data, header.header_checksum == checksum_of(header), path, ": the header is damaged: its checksum is ",
           checksum_of(header), ", it says ", header.header_checksum);
  check_as(Exit::Data, header.width == 2 || header.width == 4, path, ": tokens have ", header.width,
           " bytes, expected 2 or 4");
  check_as(Exit::Data,
           header.vocabulary > 0 && header.vocabulary <= INT32_MAX && header.kind <= TokenKind::SentencePieces, path,
           ": the header says a vocabulary of ", header.vocabulary, " tokens of kind ",
           static_cast<std::uint32_t>(header.kind));
  check_as(Exit::Data, header.last <= 1, path, ": the header says ", header.last,
           " for whether it is the last, expected 0 or 1");
  check_as(Exit::Data, header.end == ShardHeader::kNoEnd || header.end < header.vocabulary, path,
           ": the header says an end token of ", header.end, " in a vocabulary of ", header.vocabulary);
  const bool as_version_1 = std::ranges::all_of(header.reserved, [](std::uint32_t word) { return word == 0; });
  check_as(Exit::Data, as_version_1, path, ": the header has what version ", header.version,
           " has not, in bytes 52 to 59");
  const std::uint64_t room = bytes.size() - sizeof header;
  check_as(Exit::Data, room % header.width == 0 && room / header.width == header.count, path, ": has ", room,
           " bytes of tokens, its header says ", header.count, " tokens of ", header.width);
  return header;
}

}  // namespace

std::uint32_t token_width(std::int64_t vocabulary) { return vocabulary <= UINT16_MAX + 1 ? 2 : 4; }

std::uint32_t checksum_of(const ShardHeader& header) {
  return checksum_of(std::as_bytes(std::span(&header, 1)).first(offsetof(ShardHeader, header_checksum)));
}

std::string shard_name(Split split, std::uint32_t number) {
  return formatted("%s-%04u.bin", split == Split::Train ? "train" : "val", number);
}

TokenShard::TokenShard(const std::string& path) : path_(path), file_(path), header_(read_header(path, file_.bytes())) {
  constexpr std::size_t kPiece = std::size_t{1} << 16;  // is still near when its largest token is looked for
  std::span<const std::byte> rest = file_.bytes().subspan(sizeof header_);
  std::uint32_t checksum = 0;
  while (!rest.empty()) {
    const std::span<const std::byte> piece = rest.first(std::min(kPiece, rest.size()));
    checksum = checksum_of(piece, checksum);
    std::int64_t largest = 0;
    for (std::size_t i = 0; i < piece.size() / header_.width; ++i)
      largest = std::max(largest, token_at(piece.data(), header_.width, static_cast<std::int64_t>(i)));
    largest_ = std::max(largest_, largest);
    rest = rest.subspan(piece.size());
  }
  file_.check_whole();
  check_as(Exit::Data, checksum == header_.checksum, path, ": the tokens are damaged: their checksum is ", checksum,
           ", the header says ", header_.checksum);
  check_below(static_cast<std::int64_t>(header_.vocabulary), "the vocabulary that its header says");
}

std::int64_t TokenShard::token(std::int64_t at) const {
  return token_at(file_.bytes().data() + sizeof header_, header_.width, at);
}

void TokenShard::check_below(std::int64_t symbols, const std::string& whose) const {
  if (largest_ < symbols) return;
  std::int64_t at = 0;
  while (token(at) < symbols) ++at;
  fail_as(Exit::Data, path_, ": token ", token(at), " at offset ", at, " is beyond ", whose, ", ", symbols);
}

void TokenShard::check_like(const TokenShard& other) const {
  const ShardHeader& theirs = other.header_;
  const bool alike =
      header_.vocabulary == theirs.vocabulary && header_.kind == theirs.kind && header_.end == theirs.end;
  check_as(Exit::Data, alike, path_, ": is of another vocabulary than ", other.path_);
}

std::vector<TokenShard> open_shards(const std::string& directory, Split split) {
  std::vector<TokenShard> shards;
  const auto path = [&] { return directory + '/' + shard_name(split, static_cast<std::uint32_t>(shards.size())); };
  if (!std::filesystem::exists(path())) return shards;
  do {
    const TokenShard& shard = shards.emplace_back(path());
    const std::uint32_t number = shard.header().number, width = shard.header().width;
    check_as(Exit::Data, number == shards.size() - 1, shard.path(), ": is shard ", number,
             " of its split by its header");
    check_as(Exit::Data, width == shards.front().header().width, shard.path(), ": tokens have ", width,
             " bytes, those of ", shards.front().path(), " have ", shards.front().header().width);
    shard.check_like(shards.front());
  } while (shards.back().header().last == 0);
  check_as(Exit::Data, !std::filesystem::exists(path()), shards.back().path(),
           ": is the last of its split by its header, but ", path(), " is there");
  return shards;
}

}  // namespace lethe
