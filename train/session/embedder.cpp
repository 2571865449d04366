#include "train/session/embedder.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "framework/error.h"
#include "train/data/data_files.h"
#include "train/session/logits.h"

namespace lethe {
namespace {

/// The network, if embeddings can be made of what it gives.
const Network& checked(const Network& network) {
  const Var& rows = network.program.vars[network.embedding];
  check(network.inputs.size() == 1, network.name, ": its embedding follows from ", network.inputs.size(),
        " inputs, predict gives it one: a text");
  const Var& text = network.program.vars[network.inputs[0]];
  const bool fits = text.dtype == DType::i32 && text.shape.size() == 2 && is_float(rows.dtype) &&
                    rows.shape.size() == 3 && std::ranges::equal(text.shape, Shape{rows.shape[0], rows.shape[1]});
  check(fits, network.name, ": its embedding is ", text_of(rows), " of ", text_of(text),
        ", expected numbers [N,T,C] of tokens i32[N,T]");
  return network;
}

/// An object of a JSON file; empty without the file.
nlohmann::json object_in(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) return nlohmann::json::object();
  const FileBytes bytes = read_file(file.string());
  nlohmann::json object = nlohmann::json::parse(bytes.begin(), bytes.end(), nullptr, false);
  check_as(Exit::Data, object.is_object(), file.string(), ": is no JSON object");
  return object;
}

/// Torch's normalize: of length 1, if they have any.
void normalize(std::vector<double>& values) {
  double square = 0;
  for (const double value : values) square += value * value;
  const double length = std::max(std::sqrt(square), 1e-12);
  for (double& value : values) value /= length;
}

/// Of the rows of one text's tokens, the mean of those that are no padding.
std::vector<double> mean_of(std::span<const double> rows, std::span<const std::int32_t> tokens) {
  const std::size_t width = rows.size() / tokens.size();
  std::vector<double> mean(width);
  for (std::size_t t = 0; t < tokens.size(); ++t)
    for (std::size_t c = 0; tokens[t] != 0 && c < width; ++c) mean[c] += rows[t * width + c];
  const auto count = std::ssize(tokens) - std::ranges::count(tokens, 0);
  for (double& value : mean) value /= static_cast<double>(std::max(count, std::ptrdiff_t{1}));
  return mean;
}

}  // namespace

std::int64_t tokens_pooled(const std::string& weights) {
  const std::filesystem::path path(weights);
  const std::filesystem::path folder = std::filesystem::is_directory(path) ? path : path.parent_path();
  const std::filesystem::path pooling = folder / "1_Pooling" / "config.json";
  const nlohmann::json modes = object_in(pooling);
  for (const auto& [key, value] : modes.items()) {
    const bool is_mean = key == "pooling_mode_mean_tokens" ? value == true
                         : key == "pooling_mode"           ? value == "mean"
                         : key.starts_with("pooling_mode") ? value == false
                                                           : true;
    check_as(Exit::Data, is_mean, pooling.string(), ": ", key, " is ", value.dump(),
             "; embeddings are the mean over tokens here");
  }
  const nlohmann::json most =
      object_in(folder / "sentence_bert_config.json").value("max_seq_length", nlohmann::json(0));
  return most.is_number_integer() ? most.get<std::int64_t>() : 0;
}

Embedder::Embedder(const Network& network, const Planned& planned, Prepared& prepared, Store& store)
    : network_(checked(network)),
      batch_(network.program, network.inputs[0]),
      executor_(planned.program, planned.plan, prepared, store) {}

std::vector<Embedding> Embedder::run() {
  const std::vector<std::string> names = batch_.run(executor_);
  if (names.empty()) return {};
  const std::vector<double> all = fetch_numbers(executor_, network_.program, network_.embedding);
  const std::size_t of_text = all.size() / batch_.rows(), tokens = batch_.samples().size() / sizeof(std::int32_t);
  const std::span text(reinterpret_cast<const std::int32_t*>(batch_.samples().data()), tokens);
  const std::size_t length = tokens / batch_.rows();
  std::vector<Embedding> embeddings;
  for (std::size_t row = 0; row < names.size(); ++row) {
    Embedding embedding{names[row],
                        mean_of(std::span(all).subspan(row * of_text, of_text), text.subspan(row * length, length))};
    normalize(embedding.values);
    check_as(Exit::Numeric, std::ranges::all_of(embedding.values, [](double value) { return std::isfinite(value); }),
             embedding.name, ": the network gives what is no number");
    embeddings.push_back(std::move(embedding));
  }
  return embeddings;
}

}  // namespace lethe
