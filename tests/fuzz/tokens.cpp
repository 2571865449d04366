// A shard of tokens, as it is, or with checksums that fit it, so that what stands after them is reached too.
#include <cstring>

#include "tests/fuzz/fuzz.h"
#include "train/data/sequences.h"
#include "train/data/token_shard.h"

namespace lethe::fuzz::tokens_target {
namespace {

constexpr std::int64_t kLength = 3, kSymbols = 20;

std::string shard_of(ShardHeader header, const std::vector<std::uint16_t>& tokens) {
  header.vocabulary = kSymbols;
  header.count = tokens.size();
  header.checksum = checksum_of(std::as_bytes(std::span(tokens)));
  header.header_checksum = checksum_of(header);
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  return bytes.append(reinterpret_cast<const char*>(tokens.data()), 2 * tokens.size());
}

std::string with_checksums(std::string bytes) {
  ShardHeader header;
  if (bytes.size() < sizeof header) return bytes;
  std::memcpy(&header, bytes.data(), sizeof header);
  header.checksum = checksum_of(std::as_bytes(std::span(bytes)).subspan(sizeof header));
  header.header_checksum = checksum_of(header);
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

void read_all(const std::string& directory) {
  const std::unique_ptr<Sequences> data = open_sequences("tokens:" + directory, kLength, kSymbols, 0, -1);
  const std::unique_ptr<SampleReader> reader = data->reader({.seed = 1});
  std::int32_t symbols[kLength], labels[kLength];
  for (const Split split : {Split::Train, Split::Test})
    for (std::int64_t i = 0; i < data->size(split); ++i) {
      reader->read(split, i, 2, reinterpret_cast<std::byte*>(symbols), labels);
      for (const std::int32_t symbol : symbols) require(symbol >= 0 && symbol < kSymbols, "a symbol is one");
    }
}

Material material() {
  const std::string first = shard_of({}, {1, 2, 3, 4, 5, 19, 7, 8}), last = shard_of({.number = 1}, {1, 2, 3, 4});
  return {.seeds = {'\0' + first, '\1' + first, '\1' + last},
          .words = {std::string("\x02\0\0\0", 4), std::string("\x04\0\0\0", 4), std::string(8, '\xff'),
                    std::string(8, '\0')}};
}

void read_input(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return;
  static const Directory directory;
  const std::string input(text_of(data + 1, size - 1));
  directory.put("train-0000.bin", data[0] == 0 ? input : with_checksums(input));
  directory.put("val-0000.bin", shard_of({}, {1, 2, 3, 4}));
  reads({Exit::Data}, [&] { read_all(directory.path()); });
}

const RegisterTarget target{{"tokens", material, read_input}};

}  // namespace
}  // namespace lethe::fuzz::tokens_target
