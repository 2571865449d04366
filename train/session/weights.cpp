#include "train/session/weights.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "framework/did_you_mean.h"
#include "framework/error.h"
#include "framework/op_def.h"
#include "framework/peers.h"
#include "train/session/safetensors.h"

namespace lethe {
namespace {

/// A weight seen as [outer, h, w, c] in memory and [outer, c, h, w] in the file.
struct Image {
  std::int64_t outer, h, w, c;
};

Image image_of(const FileLayout& layout, const Shape& shape) {
  if (layout.kind == FileLayout::Conv) return {shape[0], shape[1], shape[2], shape[3]};
  return {shape[0], layout.hwc[0], layout.hwc[1], layout.hwc[2]};
}

enum class Direction { ToFile, ToMemory };

template <class Element>
std::vector<std::byte> reordered(const std::vector<std::byte>& data, const Image& image, Direction direction) {
  std::vector<std::byte> result(data.size());
  const auto* from = reinterpret_cast<const Element*>(data.data());
  auto* to = reinterpret_cast<Element*>(result.data());
  std::int64_t in_file = 0;
  for (std::int64_t o = 0; o < image.outer; ++o)
    for (std::int64_t c = 0; c < image.c; ++c)
      for (std::int64_t pixel = 0; pixel < image.h * image.w; ++pixel, ++in_file) {
        const std::int64_t in_memory = (o * image.h * image.w + pixel) * image.c + c;
        if (direction == Direction::ToFile)
          to[in_file] = from[in_memory];
        else
          to[in_memory] = from[in_file];
      }
  return result;
}

std::vector<std::byte> in_layout(std::vector<std::byte> data, const Var& var, const FileLayout& layout,
                                 Direction direction) {
  if (layout.kind == FileLayout::Same) return data;
  const Image image = image_of(layout, var.shape);
  check_as(Exit::Internal, elements({image.outer, image.h, image.w, image.c}) == elements(var.shape), quote(var.name),
           " is ", text_of(var.shape), ", which no images of ", image.h, 'x', image.w, 'x', image.c, " fill");
  switch (bytes_of(var.dtype)) {
    case 8:
      return reordered<std::uint64_t>(data, image, direction);
    case 4:
      return reordered<std::uint32_t>(data, image, direction);
    case 2:
      return reordered<std::uint16_t>(data, image, direction);
    default:
      return reordered<std::uint8_t>(data, image, direction);
  }
}

Shape file_shape(const Var& var, const FileLayout& layout) {
  if (layout.kind != FileLayout::Conv) return var.shape;
  return {var.shape[0], var.shape[3], var.shape[1], var.shape[2]};
}

/// A var and how it stands in the file.
struct Stored {
  Var var;
  FileLayout layout;
};

/// Parameters and running statistics; whole numbers, as the step counter, belong to the run.
std::vector<Stored> weights_of(const Network& network) {
  std::vector<Stored> weights;
  for (const ParamInfo& info : network.params) {
    const Var& var = network.program.vars[info.var];
    if (is_float(var.dtype)) weights.push_back({var, info.layout});
  }
  return weights;
}

/// The rest of the store; `<param>@momentum` and the like have the layout of their parameter, and its shape where this
/// rank has a share of them.
std::vector<Stored> run_states_of(const Store& store, const Network& network) {
  std::map<std::string, Stored> weights;
  for (const Stored& weight : weights_of(network)) weights[weight.var.name] = weight;
  const Peers* const peers = store.device().peers();
  std::vector<Stored> states;
  for (const std::string& name : store.names()) {
    if (weights.count(name)) continue;
    Stored state = {store.var(name), {}};
    if (const auto param = weights.find(name.substr(0, name.rfind('@'))); param != weights.end()) {
      const Shape& whole = param->second.var.shape;
      state.layout = param->second.layout;
      if (peers && state.var.shape == Shape{size_of_share(elements(whole), peers->rank().of)}) state.var.shape = whole;
    }
    states.push_back(state);
  }
  return states;
}

void save(const std::string& file, const Store& store, std::vector<Stored> all, const std::string& content) {
  std::stable_sort(all.begin(), all.end(), [](const Stored& a, const Stored& b) {  // keeps every tensor aligned
    return bytes_of(a.var.dtype) > bytes_of(b.var.dtype);
  });
  std::vector<TensorEntry> tensors;
  for (const Stored& each : all)
    tensors.push_back({.name = each.var.name, .dtype = each.var.dtype, .shape = file_shape(each.var, each.layout)});
  if (file.empty()) {
    for (const Stored& each : all) store.read_whole(each.var);
    return;
  }
  SafetensorsWriter writer(file, tensors, {{"format", "pt"}, {"content", content}});
  for (const Stored& each : all)
    writer.write(in_layout(store.read_whole(each.var), each.var, each.layout, Direction::ToFile));
  writer.finish();
}

/// "'a', 'b', 'c' and 4 more".
std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMost); ++i)
    text.append(i > 0 ? ", " : "").append("'").append(names[i]).append("'");
  return names.size() > kMost ? message(text, " and ", names.size() - kMost, " more") : text;
}

bool convertible(DType from, DType to, bool convert) {
  const auto float_of_host = [](DType dtype) { return dtype == DType::f32 || dtype == DType::f64; };
  return from == to || (convert && float_of_host(from) && float_of_host(to));
}

/// Fails with one line unless the file holds just these, in these shapes.
void check_tensors(const SafetensorsReader& reader, const std::vector<Stored>& all, bool convert) {
  std::set<std::string> known;
  std::vector<std::string> missing, unexpected, problems;
  for (const Stored& each : all) {
    known.insert(each.var.name);
    const TensorEntry* tensor = reader.find(each.var.name);
    if (!tensor) {
      missing.push_back(each.var.name);
      continue;
    }
    const Shape expected = file_shape(each.var, each.layout);
    if (problems.empty() && (tensor->shape != expected || !convertible(tensor->dtype, each.var.dtype, convert)))
      problems.push_back(message("tensor '", each.var.name, "' is ", name_of(tensor->dtype), text_of(tensor->shape),
                                 ", expected ", name_of(each.var.dtype), text_of(expected)));
  }
  for (const TensorEntry& tensor : reader.tensors())
    if (!known.count(tensor.name)) unexpected.push_back(tensor.name);
  if (!unexpected.empty()) problems.insert(problems.begin(), message("unexpected ", some_of(unexpected)));
  if (!missing.empty())
    problems.insert(problems.begin(), message("missing ", some_of(missing), did_you_mean(missing.front(), unexpected)));
  std::string text;
  for (const std::string& problem : problems) text.append(text.empty() ? "" : "; ").append(problem);
  check_as(Exit::Data, problems.empty(), reader.file(), ": ", text);
}

template <class From, class To>
std::vector<std::byte> cast(const std::vector<std::byte>& data) {
  const auto* from = reinterpret_cast<const From*>(data.data());
  const std::size_t count = data.size() / sizeof(From);
  std::vector<std::byte> result(count * sizeof(To));
  std::transform(from, from + count, reinterpret_cast<To*>(result.data()), [](From x) { return static_cast<To>(x); });
  return result;
}

std::vector<std::byte> converted(std::vector<std::byte> data, DType from, DType to) {
  if (from == to) return data;
  return from == DType::f32 ? cast<float, double>(data) : cast<double, float>(data);
}

void load(const std::string& file, Store& store, const std::vector<Stored>& all, bool convert) {
  SafetensorsReader reader(file);
  check_tensors(reader, all, convert);
  for (const Stored& each : all) {
    const TensorEntry& tensor = *reader.find(each.var.name);
    const auto data = in_layout(converted(reader.read(tensor), tensor.dtype, each.var.dtype), each.var, each.layout,
                                Direction::ToMemory);
    store.write_whole(each.var, data.data());
  }
}

template <class Real>
bool all_finite(const std::vector<std::byte>& data) {
  const auto* values = reinterpret_cast<const Real*>(data.data());
  return std::all_of(values, values + data.size() / sizeof(Real), [](Real x) { return std::isfinite(x); });
}

}  // namespace

std::string not_finite(const Store& store, const Network& network) {
  for (const Stored& weight : weights_of(network)) {
    const std::vector<std::byte> data = store.read_whole(weight.var);
    const bool finite = weight.var.dtype == DType::f64 ? all_finite<double>(data) : all_finite<float>(data);
    if (!finite) return weight.var.name;
  }
  return "";
}

void save_weights(const std::string& file, const Store& store, const Network& network) {
  save(file, store, weights_of(network), "weights");
}

void load_weights(const std::string& file, Store& store, const Network& network) {
  load(file, store, weights_of(network), true);
}

void save_optimizer(const std::string& file, const Store& store, const Network& network) {
  save(file, store, run_states_of(store, network), "optimizer");
}

void load_optimizer(const std::string& file, Store& store, const Network& network) {
  load(file, store, run_states_of(store, network), false);
}

}  // namespace lethe
