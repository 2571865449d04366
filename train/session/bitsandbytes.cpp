#include "train/session/bitsandbytes.h"

#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "framework/language/block_formats.h"
#include "models/json_source.h"

namespace lethe {
namespace {

constexpr std::string_view kNf4State = ".quant_state.bitsandbytes__nf4", kFp4State = ".quant_state.bitsandbytes__fp4";
constexpr std::string_view kWeight = "weight", kScales = "SCB";
constexpr const char* kInt8 = "I8";
constexpr std::int64_t kMostElements = std::int64_t{1} << 39;

/// What a JSON text says of a weight in nf4.
struct Nf4State {
  Shape shape;
  bool nested;
  float offset;
};

Nf4State state_of(const std::vector<std::byte>& text) {
  const nlohmann::json json =
      nlohmann::json::parse(reinterpret_cast<const char*>(text.data()),
                            reinterpret_cast<const char*>(text.data()) + text.size(), nullptr, false);
  check_as(Exit::Data, json.is_object(), "is no JSON object");
  const auto whole = [](const nlohmann::json& value) {
    return value.is_number_unsigned() ? value.get<std::int64_t>() : -1;
  };
  const auto number = [&](const char* key) { return json.contains(key) ? whole(json[key]) : -1; };
  check_as(Exit::Data, number("blocksize") == kNf4Block, "has no \"blocksize\" of ", kNf4Block);
  check_as(Exit::Data, json.contains("shape") && json["shape"].is_array() && json["shape"].size() == 2,
           "has no \"shape\" of two sizes");
  Nf4State state{.shape = {}, .nested = json.contains("nested_blocksize"), .offset = 0};
  for (const nlohmann::json& size : json["shape"]) state.shape.push_back(whole(size));
  check_as(Exit::Data, state.shape[0] > 0 && state.shape[1] > 0, "has a \"shape\" of ", text_of(state.shape));
  check_as(Exit::Data, state.shape[0] <= kMostElements / state.shape[1], "has a \"shape\" of ", text_of(state.shape),
           ", too many elements");
  if (!state.nested) return state;
  check_as(Exit::Data, number("nested_blocksize") == kNf4Blocks, "has no \"nested_blocksize\" of ", kNf4Blocks);
  check_as(Exit::Data, json.contains("nested_offset") && json["nested_offset"].is_number(), "has no \"nested_offset\"");
  state.offset = json["nested_offset"].get<float>();
  check_as(Exit::Data, std::isfinite(state.offset), "has a \"nested_offset\" of ", state.offset);
  return state;
}

std::string without(const std::string& name, std::string_view ending) {
  return name.substr(0, name.size() - ending.size());
}

/// Copies between blocks and the tensors of their parts, either way.
template <class Blocks, class Part>
void exchange(Blocks* block, Part* part, std::int64_t bytes) {
  if constexpr (std::is_const_v<Blocks>)
    std::memcpy(part, block, static_cast<std::size_t>(bytes));
  else
    std::memcpy(block, part, static_cast<std::size_t>(bytes));
}

/// The tensors that a weight's blocks are made of; parts that a format has not are empty.
template <class Byte>
struct Parts {
  Byte *codes, *magnitudes, *nested, *map;
};

/// What is whole of each part, but for the last blocks.
template <class Blocks, class Part>
void exchange_all(DType dtype, const Shape& shape, Blocks* blocks, const Parts<Part>& parts) {
  const BlockFormat format = block_format(dtype, shape);
  const std::int64_t all = elements(shape), groups = (all + kNf4Block - 1) / kNf4Block;
  if (dtype == DType::nf4_dq) exchange(blocks + 4, parts.map, 1024);
  for (std::int64_t first = 0, b = 0; first < all; first += format.elements, ++b) {
    Blocks* const block = blocks + format.offset(first);
    const std::int64_t count = std::min(format.elements, all - first);
    if (dtype == DType::int8) {
      exchange(block, parts.magnitudes + 4 * b, 4);
      exchange(block + 4, parts.codes + first, count);
    } else if (dtype == DType::nf4) {
      exchange(block, parts.magnitudes + 4 * b, 4);
      exchange(block + 4, parts.codes + first / 2, (count + 1) / 2);
    } else {
      exchange(block, parts.nested + 4 * b, 4);
      exchange(block + 4, parts.magnitudes + kNf4Blocks * b, std::min(kNf4Blocks, groups - kNf4Blocks * b));
      exchange(block + 4 + kNf4Blocks, parts.codes + first / 2, (count + 1) / 2);
    }
  }
}

class BitsandbytesReader final : public TensorReader {
 public:
  explicit BitsandbytesReader(std::unique_ptr<TensorReader> in) : TensorReader(in->file()), in_(std::move(in)) {
    std::set<std::string> parts;
    for (const TensorEntry& tensor : in_->tensors()) with_context(file_, [&] { find_weight(tensor, parts); });
    for (const TensorEntry& tensor : in_->tensors()) {
      const auto found = weights_.find(tensor.name);
      if (found != weights_.end())
        tensors_.push_back(found->second.entry);
      else if (!parts.contains(tensor.name))
        tensors_.push_back(tensor);
    }
  }

  std::vector<std::string> files() const override { return in_->files(); }
  std::vector<std::byte> read(const TensorEntry& tensor) override {
    const auto found = weights_.find(tensor.name);
    return found == weights_.end() ? in_->read(*in_->find(tensor.name))
                                   : with_context(file_, [&] { return blocks_of(found->second); });
  }

 private:
  struct Weight {
    TensorEntry entry;
    float offset;
  };

  void find_weight(const TensorEntry& tensor, std::set<std::string>& parts) {
    check_as(Exit::Data, !tensor.name.ends_with(kFp4State), "tensor '", tensor.name,
             "': weights in fp4 are not read; nf4 and int8 are");
    if (tensor.name.ends_with(kNf4State)) {
      const Nf4State state =
          with_context(message("tensor '", tensor.name, "'"), [&] { return state_of(in_->read(tensor)); });
      const std::string name = without(tensor.name, kNf4State);
      for (const char* part : {".absmax", ".quant_map", ".nested_absmax", ".nested_quant_map"})
        parts.insert(name + part);
      parts.insert(tensor.name);
      add(name, state.nested ? DType::nf4_dq : DType::nf4, state.shape, state.offset);
    } else if (tensor.name.ends_with(message('.', kScales))) {
      const std::string name = without(tensor.name, kScales).append(kWeight);
      const TensorEntry* const codes = in_->find(name);
      if (!codes || codes->foreign_dtype != kInt8) return;
      check_as(Exit::Data, codes->shape.size() == 2, "tensor '", name, "' is ", type_and_shape(*codes),
               ", expected a matrix");
      parts.insert(tensor.name);
      parts.insert(name + "_format");
      add(name, DType::int8, codes->shape, 0);
    }
  }

  void add(const std::string& name, DType dtype, const Shape& shape, float offset) {
    Weight weight{{.name = name, .dtype = dtype, .shape = shape}, offset};
    for (const TensorEntry& part : parts_of(weight.entry)) {
      const TensorEntry* const there = in_->find(part.name);
      check_as(Exit::Data, there != nullptr, "no tensor '", part.name, "' says what '", name, "' means");
      const bool fits = there->is_foreign() ? there->foreign_dtype == part.foreign_dtype : there->dtype == part.dtype;
      check_as(Exit::Data, fits && there->shape == part.shape, "tensor '", part.name, "' is ", type_and_shape(*there),
               ", expected ", type_and_shape(part));
    }
    weights_.emplace(name, std::move(weight));
  }

 public:
  /// Codes first, then what they are parts of.
  static std::vector<TensorEntry> parts_of(const TensorEntry& weight) {
    const std::int64_t n = elements(weight.shape), groups = (n + kNf4Block - 1) / kNf4Block;
    if (weight.dtype == DType::int8) {
      TensorEntry codes{.name = weight.name, .shape = weight.shape, .foreign_dtype = kInt8, .foreign_bytes = n};
      return {codes, {.name = without(weight.name, kWeight).append(kScales), .shape = {weight.shape[0]}}};
    }
    const bool nested = weight.dtype == DType::nf4_dq;
    std::vector<TensorEntry> parts = {
        {.name = weight.name, .dtype = DType::u8, .shape = {(n + 1) / 2, 1}},
        {.name = weight.name + ".absmax", .dtype = nested ? DType::u8 : DType::f32, .shape = {groups}},
        {.name = weight.name + ".quant_map", .shape = {16}}};
    if (!nested) return parts;
    parts.push_back({.name = weight.name + ".nested_absmax", .shape = {(groups + kNf4Blocks - 1) / kNf4Blocks}});
    parts.push_back({.name = weight.name + ".nested_quant_map", .shape = {256}});
    return parts;
  }

 private:
  std::vector<std::byte> blocks_of(const Weight& weight) {
    const TensorEntry& entry = weight.entry;
    std::vector<std::vector<std::byte>> read;
    for (const TensorEntry& part : parts_of(entry)) read.push_back(in_->read(*in_->find(part.name)));
    if (entry.dtype != DType::int8) check_map(entry.name, read[2]);
    std::vector<std::byte> blocks(static_cast<std::size_t>(entry.bytes()));
    const bool nested = entry.dtype == DType::nf4_dq;
    if (nested) std::memcpy(blocks.data(), &weight.offset, sizeof weight.offset);
    exchange_all(entry.dtype, entry.shape, blocks.data(),
                 Parts<const std::byte>{read[0].data(), read[1].data(), nested ? read[3].data() : nullptr,
                                        nested ? read[4].data() : nullptr});
    return blocks;
  }

  static void check_map(const std::string& name, const std::vector<std::byte>& map) {
    for (int code = 0; code < 16; ++code) {
      float value;
      std::memcpy(&value, map.data() + 4 * code, sizeof value);
      check_as(Exit::Data, value == nf4_value(code), "tensor '", name, ".quant_map' has ", value, " for code ", code,
               ", nf4 has ", nf4_value(code));
    }
  }

  std::unique_ptr<TensorReader> in_;
  std::map<std::string, Weight> weights_;
};

}  // namespace

std::unique_ptr<TensorReader> with_blocks_of_bitsandbytes(std::unique_ptr<TensorReader> file) {
  for (const TensorEntry& tensor : file->tensors())
    if (tensor.name.ends_with(kNf4State) || tensor.name.ends_with(kFp4State) || tensor.foreign_dtype == kInt8)
      return std::make_unique<BitsandbytesReader>(std::move(file));
  return file;
}

std::vector<NamedTensor> bitsandbytes_tensors(const TensorEntry& weight, const std::vector<std::byte>& blocks) {
  std::vector<NamedTensor> tensors;
  for (const TensorEntry& part : BitsandbytesReader::parts_of(weight))
    tensors.push_back({part, std::vector<std::byte>(static_cast<std::size_t>(part.bytes()))});
  const bool nested = weight.dtype == DType::nf4_dq;
  exchange_all(weight.dtype, weight.shape, blocks.data(),
               Parts<std::byte>{tensors[0].data.data(), tensors[1].data.data(),
                                nested ? tensors[3].data.data() : nullptr, nested ? tensors[4].data.data() : nullptr});
  if (weight.dtype == DType::int8) return tensors;
  for (int code = 0; code < 16; ++code) {
    const float value = nf4_value(code);
    std::memcpy(tensors[2].data.data() + 4 * code, &value, sizeof value);
  }
  nlohmann::json state = {
      {"quant_type", "nf4"}, {"blocksize", kNf4Block}, {"dtype", "float32"}, {"shape", weight.shape}};
  if (nested) {
    float offset;
    std::memcpy(&offset, blocks.data(), sizeof offset);
    state.update({{"nested_blocksize", kNf4Blocks}, {"nested_dtype", "float32"}, {"nested_offset", offset}});
  }
  const std::string text = state.dump();
  const auto* const begin = reinterpret_cast<const std::byte*>(text.data());
  tensors.push_back({{.name = weight.name + std::string(kNf4State), .dtype = DType::u8, .shape = {std::ssize(text)}},
                     {begin, begin + text.size()}});
  return tensors;
}

}  // namespace lethe
