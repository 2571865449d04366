#include "train/session/share_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "framework/error.h"
#include "framework/host_memory.h"
#include "framework/language/block_formats.h"
#include "framework/ranks/peers.h"
#include "framework/text_input.h"
#include "models/json_source.h"
#include "train/data/checksum.h"
#include "train/session/atomic_file.h"
#include "train/session/safetensors.h"

namespace lethe {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kIndexVersion = 2;
constexpr std::int64_t kEvenShares = 1;                 // the version whose shares were no numbers of blocks
constexpr const char* kPart[] = {"weights", "states"};  // of the index, by SharesOf

std::string file_of(const fs::path& directory, Rank rank) {
  return (directory / message("rank-", rank.number, "-of-", rank.of, ".safetensors")).string();
}

/// The key that says to which checkpoint a rank's file belongs.
Metadata metadata_of(std::int64_t step, Rank rank) {
  return {{"step", std::to_string(step)}, {"rank", std::to_string(rank.number)}, {"ranks", std::to_string(rank.of)}};
}

/// Whether shares of such numbers would not be blocks of their own.
bool shares_cut_blocks(DType dtype, const Shape& whole, std::int64_t ranks) {
  if (!is_in_blocks(dtype)) return false;
  const Shape share = {size_of_share(elements(whole), ranks)};
  const BlockFormat format = block_format(dtype, whole);
  return format.header > 0 || !complaint_about_blocks(dtype, share).empty() || share[0] % format.elements != 0;
}

/// What a rank's file has of a tensor: its share. Blocks that shares would cut are all in that of the first rank.
TensorEntry share_of_tensor(const TensorEntry& whole, Rank rank) {
  if (!shares_cut_blocks(whole.dtype, whole.shape, rank.of))
    return {.name = whole.name, .dtype = whole.dtype, .shape = {share_of(elements(whole.shape), rank).count}};
  return rank.number == 0 ? whole : TensorEntry{.name = whole.name, .dtype = DType::u8, .shape = {0}};
}

/// As a program of that version cut it.
TensorEntry share_in_version(std::int64_t version, const TensorEntry& whole, Rank rank) {
  if (version != kEvenShares) return share_of_tensor(whole, rank);
  const std::int64_t count = elements(whole.shape), size = (count + rank.of - 1) / rank.of;
  const std::int64_t begin = std::min(rank.number * size, count);
  return {.name = whole.name, .dtype = whole.dtype, .shape = {std::min(size, count - begin)}};
}

std::vector<std::byte> own_share(const Store& store, const Var& whole, const TensorEntry& share, Rank rank) {
  std::vector<std::byte> values = store.read(whole.name);
  if (std::ssize(values) == share.bytes()) return values;
  const bool has_all = std::ssize(values) == bytes_of(whole) && share.bytes() > 0;
  const std::int64_t first = has_all ? share_of(elements(whole.shape), rank).begin : 0;
  const auto begin = values.begin() + block_format(whole.dtype, whole.shape).offset(first);
  return {begin, begin + share.bytes()};
}

/// Comes back when all ranks have called it.
void meet(Peers* peers) {
  if (peers) peers->gather(std::vector<std::byte>(static_cast<std::size_t>(peers->rank().of)).data(), 1);
}

/// The part of the index on vars, by name; their checksums are ranks x vars from `first` on.
Json index_of(const std::vector<StoredTensor>& vars, const std::uint32_t* first, std::size_t all, std::int64_t ranks) {
  Json part = Json::object();
  for (std::size_t i = 0; i < vars.size(); ++i) {
    Json checksums = Json::array();
    for (std::int64_t rank = 0; rank < ranks; ++rank)
      checksums.push_back(first[static_cast<std::size_t>(rank) * all + i]);
    part[vars[i].names.front()] = {
        {"dtype", name_of(vars[i].var.dtype)}, {"shape", vars[i].var.shape}, {"checksums", checksums}};
  }
  return part;
}

std::int64_t whole_number_at(const JsonNode& node, std::int64_t most) {
  const Json& json = node.json();
  if (!json.is_number_unsigned() || json.get<std::uint64_t>() > static_cast<std::uint64_t>(most))
    node.fail(node.shown(), " is no whole number up to ", most);
  return json.get<std::int64_t>();
}

Shape shape_at(const JsonNode& node) {
  Shape shape;
  for (const JsonNode& size : node.items()) shape.push_back(whole_number_at(size, INT64_MAX));
  with_context(node.where(), [&] { elements(shape); });  // fails if these are too many
  return shape;
}

class ShareReader final : public TensorReader {
 public:
  ShareReader(const std::string& index, SharesOf which) : TensorReader(index) {
    std::ifstream in(index, std::ios::binary);
    check_as(Exit::Data, in.good(), index, ": cannot be opened");
    const std::string text = with_context(index, [&] { return rest_of(in, Exit::Data); });
    try {
      read_index(JsonSource(index, text), kPart[static_cast<std::size_t>(which)]);
    } catch (const Error& error) {
      throw Error(error.what(), Exit::Data);
    }
    // The index of a run may be a link to that of a checkpoint.
    const fs::path directory = fs::canonical(index).parent_path();
    for (std::int64_t number = 0; number < ranks_; ++number) open(directory, {number, ranks_});
  }

  std::vector<std::byte> read(const TensorEntry& tensor) override {
    std::vector<std::byte> whole;
    taking(message(file_, ": tensor '", tensor.name, "'"), tensor.bytes(),
           [&] { whole.reserve(static_cast<std::size_t>(tensor.bytes())); });
    const auto at = static_cast<std::size_t>(&tensor - tensors_.data());
    for (std::size_t rank = 0; rank < files_.size(); ++rank) {
      SafetensorsReader& file = *files_[rank];
      const std::vector<std::byte> share = file.read(*file.find(tensor.name));
      check_as(Exit::Data, checksum_of(share) == checksums_[at][rank], file.file(), ": tensor '", tensor.name,
               "' is not what ", kShareIndex, " says: the file is damaged, or of another checkpoint");
      whole.insert(whole.end(), share.begin(), share.end());
    }
    return whole;
  }

  std::vector<std::string> files() const override {
    std::vector<std::string> all = {file_};
    for (const auto& file : files_) all.push_back(file->file());
    return all;
  }

 private:
  void read_index(const JsonSource& source, const char* part) {
    const JsonNode root = source.root();
    const JsonNode version = root.at("version");
    if (version.json() != kIndexVersion && version.json() != kEvenShares)
      version.fail("is of version ", version.shown(), ", this program reads version ", kIndexVersion);
    version_ = version.json().get<std::int64_t>();
    step_ = whole_number_at(root.at("step"), INT64_MAX);
    ranks_ = whole_number_at(root.at("ranks"), kMostRanks);
    if (ranks_ == 0) root.at("ranks").fail("no ranks have written it");
    for (const auto& [name, tensor] : root.at(part).members()) {
      const std::string& dtype = tensor.at("dtype").text();
      tensors_.push_back({.name = name,
                          .dtype = with_context(tensor.where(), [&] { return dtype_named(dtype); }),
                          .shape = shape_at(tensor.at("shape"))});
      std::vector<std::int64_t>& checksums = checksums_.emplace_back();
      for (const JsonNode& checksum : tensor.at("checksums").items())
        checksums.push_back(whole_number_at(checksum, UINT32_MAX));
      if (std::ssize(checksums) != ranks_)
        tensor.fail("has ", checksums.size(), " checksums, expected one of each of ", ranks_, " ranks");
    }
  }

  void open(const fs::path& directory, Rank rank) {
    const auto& file = files_.emplace_back(std::make_unique<SafetensorsReader>(file_of(directory, rank)));
    check_as(Exit::Data, file->metadata() == metadata_of(step_, rank), file->file(), ": is of another checkpoint than ",
             kShareIndex, ", which is of step ", step_);
    for (const TensorEntry& whole : tensors_) {
      const TensorEntry* const found = file->find(whole.name);
      const TensorEntry expected = share_in_version(version_, whole, rank);
      check_as(Exit::Data, found && found->shape == expected.shape && found->is_of(expected.dtype), file->file(),
               ": tensor '", whole.name, "' is ", found ? type_and_shape(*found) : "missing", ", expected ",
               type_and_shape(expected));
    }
  }

  std::int64_t version_ = kIndexVersion, step_ = 0, ranks_ = 0;
  std::vector<std::vector<std::int64_t>> checksums_ = {};       // by tensor and rank
  std::vector<std::unique_ptr<SafetensorsReader>> files_ = {};  // by rank
};

}  // namespace

std::string tensors_in(const std::string& checkpoint, const std::string& whole) {
  const fs::path index = fs::path(checkpoint) / kShareIndex;
  return (fs::exists(index) ? index : fs::path(checkpoint) / whole).string();
}

void save_shares(const std::string& directory, std::int64_t step, const std::vector<StoredTensor>& weights,
                 const std::vector<StoredTensor>& states, const Store& store) {
  Peers* const peers = store.device().peers();
  const Rank rank = peers ? peers->rank() : Rank{};
  std::vector<StoredTensor> all = weights;
  all.insert(all.end(), states.begin(), states.end());
  std::vector<TensorEntry> entries;
  for (const StoredTensor& each : all)
    entries.push_back(
        share_of_tensor({.name = each.names.front(), .dtype = each.var.dtype, .shape = each.var.shape}, rank));
  std::vector<std::uint32_t> checksums(static_cast<std::size_t>(rank.of) * all.size());
  meet(peers);  // the first has made the directory
  SafetensorsWriter writer(file_of(directory, rank), entries, metadata_of(step, rank));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::vector<std::byte> share = own_share(store, all[i].var, entries[i], rank);
    checksums[static_cast<std::size_t>(rank.number) * all.size() + i] = checksum_of(share);
    writer.write(share);
  }
  writer.finish();
  if (peers) peers->gather(checksums.data(), static_cast<std::int64_t>(all.size() * sizeof checksums[0]));
  if (rank.number > 0) return;
  const Json index = {{"version", kIndexVersion},
                      {"step", step},
                      {"ranks", rank.of},
                      {"weights", index_of(weights, checksums.data(), all.size(), rank.of)},
                      {"states", index_of(states, checksums.data() + weights.size(), all.size(), rank.of)}};
  replace_file((fs::path(directory) / kShareIndex).string(), index.dump(1) + "\n");
}

std::unique_ptr<TensorReader> read_shares(const std::string& index, SharesOf which) {
  return std::make_unique<ShareReader>(index, which);
}

}  // namespace lethe
