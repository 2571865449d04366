// Tokens of documents, one after the other, in files that are mapped and never held.
#include <algorithm>
#include <filesystem>
#include <numeric>

#include "framework/error.h"
#include "framework/language/init.h"
#include "framework/random.h"
#include "train/data/data_files.h"
#include "train/data/sequences.h"
#include "train/data/token_shard.h"

namespace lethe {
namespace {

/// A split: its shards, and the windows in all of them up to each.
struct TokenSplit {
  std::vector<TokenShard> shards;
  std::vector<std::int64_t> windows_to;
};

std::int64_t windows_of(const TokenShard& shard, std::int64_t length) {
  return std::max<std::int64_t>(shard.count() - 1, 0) / length;
}

TokenSplit open_split(const std::string& directory, Split which, std::int64_t length) {
  TokenSplit split{.shards = open_shards(directory, which), .windows_to = {}};
  std::int64_t windows = 0, tokens = 0;
  for (const TokenShard& shard : split.shards) {
    split.windows_to.push_back(windows += windows_of(shard, length));
    tokens += shard.count();
  }
  check_as(Exit::Data, windows > 0 || split.shards.empty(), directory, ": has ", tokens,
           which == Split::Train ? " tokens for training, but windows of " : " tokens for tests, but windows of ",
           length, " take ", length + 1, " in one shard; `set` length=L makes them shorter");
  check_as(Exit::Data, windows <= INT32_MAX, directory, ": has ", windows, " windows of ", length,
           " tokens, more than ", INT32_MAX);
  return split;
}

class Tokens final : public Sequences {
 public:
  Tokens(SequenceInfo info, std::array<TokenSplit, 2> splits, std::int64_t end, std::int32_t label_of_end)
      : Sequences(std::move(info)), splits_(std::move(splits)), end_(end), label_of_end_(label_of_end) {
    const TokenShard& shard = splits_[0].shards.front();
    if (has_tokenizer(shard.header().kind, folder_of(shard))) meaning_.tokenizer = vocabulary()->identity();
  }

  std::unique_ptr<SampleReader> reader(const ReadOptions& options) const override;

  std::unique_ptr<Vocabulary> vocabulary() const override {
    const TokenShard& shard = splits_[0].shards.front();
    return open_tokenizer(shard.header().kind, folder_of(shard));
  }
  /// Shards alone can be trained on: then nothing is known of what their tokens stand for.
  Meaning meaning() const override { return meaning_; }

  std::optional<std::int32_t> end_symbol() const override {
    const std::uint32_t end = splits_[0].shards.front().header().end;
    return end == ShardHeader::kNoEnd ? std::nullopt : std::optional(static_cast<std::int32_t>(end));
  }

  void read(Split split, std::int64_t index, std::int32_t* symbols, std::int32_t* labels) const override {
    read(split, index, 0, symbols, labels);
  }

  /// Where windows end that begin so many tokens later; the last ends with its shard at the latest.
  void read(Split which, std::int64_t index, std::int64_t later, std::int32_t* symbols, std::int32_t* labels) const {
    const TokenSplit& split = splits_[static_cast<std::size_t>(which)];
    const auto next = std::ranges::upper_bound(split.windows_to, index);
    const TokenShard& shard = split.shards[static_cast<std::size_t>(next - split.windows_to.begin())];
    const std::int64_t length = info().length, in_shard = index - (*next - windows_of(shard, length));
    const std::int64_t from = std::min(in_shard * length + later, shard.count() - 1 - length);
    for (std::int64_t t = 0; t < length; ++t) {
      symbols[t] = static_cast<std::int32_t>(shard.token(from + t));
      labels[t] = symbols[t] == end_ ? label_of_end_ : static_cast<std::int32_t>(shard.token(from + t + 1));
    }
    shard.check_whole();
  }

 private:
  static std::string folder_of(const TokenShard& shard) {
    return std::filesystem::path(shard.path()).parent_path().string();
  }

  std::array<TokenSplit, 2> splits_;
  Meaning meaning_ = {};  // reading a vocabulary takes its time
  std::int64_t end_;      // the token whose label is another: -1 is none
  std::int32_t label_of_end_;
};

class TokensReader final : public SampleReader {
 public:
  TokensReader(const Tokens& data, std::uint64_t seed) : data_(data), seed_(seed) {}
  void read(Split split, std::int64_t index, std::int64_t epoch, std::byte* sample, std::int32_t* labels) override {
    Random random(seed_, hash_of("tokens"), static_cast<std::uint64_t>(epoch));
    const std::int64_t later =
        split == Split::Train ? random.below(static_cast<std::uint32_t>(data_.info().length)) : 0;
    data_.read(split, index, later, reinterpret_cast<std::int32_t*>(sample), labels);
  }

 private:
  const Tokens& data_;
  std::uint64_t seed_;
};

std::unique_ptr<SampleReader> Tokens::reader(const ReadOptions& options) const {
  check(options.augment == Augmentation{}, name(), ": gives sequences, which are not augmented");
  return std::make_unique<TokensReader>(*this, options.seed);
}

}  // namespace

std::unique_ptr<Sequences> open_tokens(const TokensSpec& spec, std::int64_t length, std::int64_t symbols,
                                       std::optional<std::int64_t> ignored) {
  check_directory("tokens", spec.directory, "`train tokenize` makes one of text files");
  std::array<TokenSplit, 2> splits{open_split(spec.directory, Split::Train, length),
                                   open_split(spec.directory, Split::Test, length)};
  check_as(Exit::Data, !splits[0].shards.empty(), spec.directory, ": has no ", shard_name(Split::Train, 0),
           "; `train tokenize` makes it of text files");
  const ShardHeader& form = splits[0].shards.front().header();
  SequenceInfo info{.name = "tokens", .length = length};
  for (std::size_t i = 0; i < splits.size(); ++i) {
    for (const TokenShard& shard : splits[i].shards) {
      shard.check_below(symbols, "the symbols that the network tells apart");
      shard.check_like(splits[0].shards.front());
    }
    info.sizes[i] = splits[i].shards.empty() ? 0 : splits[i].windows_to.back();
  }
  if (!spec.ignore_borders) return std::make_unique<Tokens>(std::move(info), std::move(splits), -1, 0);
  check_as(Exit::Data, form.end != ShardHeader::kNoEnd, spec.directory,
           ": documents have no end token there, so ignore-borders finds no border");
  check(ignored.has_value(), "tokens: ignore-borders takes a network whose loss ignores a label: ",
        R"({"op": "cross_entropy", "ignore": -1, ...})");
  const std::int64_t end = form.end;
  return std::make_unique<Tokens>(std::move(info), std::move(splits), end, static_cast<std::int32_t>(*ignored));
}

}  // namespace lethe
