#include "train/gguf_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numbers>
#include <optional>

#include "framework/error.h"
#include "models/config_writer.h"
#include "train/session/gguf_reader.h"

namespace lethe {
namespace {

constexpr const char* kRopeFactors = "rope_freqs.weight";
/// Of which values are real numbers; of others they are counts.
constexpr std::array kRealKeys = {".rope.freq_base", ".attention.layer_norm_rms_epsilon"};

/// The keys of the architecture, and which tensors there are that say what the network has.
Json config_of(const GgufHeader& header) {
  const std::string family = header.family();
  check_as(Exit::Data, !family.empty(), "lacks 'general.architecture', which says what kind of model it is of");
  const GgufEntry* const files = header.find("split.count");
  check_as(Exit::Data, !files || files->value == 1, "is one of ", files ? files->value.dump() : "",
           " files, which are read as one alone; gguf-split --merge makes that");
  Json config = {{"model_type", family}};
  const std::string architecture = *header.text("general.architecture") + '.';
  for (const GgufEntry& entry : header.entries)
    if (entry.key.starts_with(architecture)) put_at(config, entry.key, entry.value);
  if (const std::string key = architecture + "vocab_size"; !header.find(key))
    for (const GgufTensor& tensor : header.tensors)
      if (tensor.name == "token_embd.weight") put_at(config, key, tensor.shape.front());
  for (const char* tensor : {"output.weight", "blk.0.attn_q.bias", "blk.0.attn_output.bias", "blk.0.ffn_up.bias"})
    if (header.has_tensor(tensor)) put_at(config, tensor, "here");
  return config;
}

/// By what rotary positions are slowed, if the file's tensor of that holds what Llama 3 makes of a factor, as
/// llama.cpp's convert_hf_to_gguf.py does; low_freq_factor is 1, high_freq_factor 4 and the original length 8192, as
/// the network's file has them. None for other values.
std::optional<double> rope_factor(const std::string& file, const Sets& sets) {
  constexpr double kLow = 1, kHigh = 4, kLength = 8192, kNear = 1e-5;
  GgufReader reader(file);
  const TensorEntry& tensor = *reader.find(kRopeFactors);
  const std::int64_t head = std::stoll(sets.at("head_size"));
  if (!tensor.is_of(DType::f32) || tensor.shape != Shape{head / 2}) return std::nullopt;
  const std::vector<std::byte> bytes = reader.read(tensor);
  std::vector<float> factors(bytes.size() / sizeof(float));
  std::memcpy(factors.data(), bytes.data(), bytes.size());
  const double base = std::stod(sets.at("rope_base")), factor = factors.back();
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const double turns = kLength * std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(head)) /
                         (2 * std::numbers::pi);  // within the original length
    const double smooth = std::clamp((turns - kLow) / (kHigh - kLow), 0.0, 1.0);
    if (!(std::abs(factors[i] * ((1 - smooth) / factor + smooth) - 1) < kNear)) return std::nullopt;
  }
  return factor;
}

}  // namespace

ConfiguredNetwork read_gguf_model(const std::string& file) {
  const GgufHeader header = read_gguf_header(file);
  Json config = with_context(file, [&] { return config_of(header); });
  if (!header.has_tensor(kRopeFactors)) return read_config(file, config);
  const ConfiguredNetwork plain = read_config(file, config);
  const std::optional<double> factor = rope_factor(file, plain.sets);
  put_at(config, kRopeFactors, factor ? Json(*factor) : Json("here"));
  return read_config(file, config);
}

std::vector<GgufEntry> gguf_keys(const NetworkFile& file, const Sets& sets, const std::string& family) {
  const std::string architecture = family.substr(std::min(family.size(), kGgufFamily.size()));
  std::vector<GgufEntry> entries = {{.key = "general.architecture", .type = GgufType::Text, .value = architecture}};
  for (const auto& [key, value] : written_config(file, sets, family)) {
    check(key != kRopeFactors || value == 1, "rope_factor is ", value.dump(),
          ", but slowed rotary positions are not written as GGUF");
    if (!key.starts_with(architecture + '.')) continue;
    const bool is_real = std::ranges::any_of(kRealKeys, [&](const char* real) { return key.ends_with(real); });
    entries.push_back({.key = key, .type = is_real ? GgufType::F32 : GgufType::U32, .value = value});
  }
  return entries;
}

}  // namespace lethe
