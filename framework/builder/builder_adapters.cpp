// Adapters as ops: y + b a x for the layer that has just been built, in the order that keeps least. Backward reads x,
// which it keeps for a alone, and the product a x, which is as narrow as the rank; of the two wide values, y and what
// is added to it, nothing.
#include <algorithm>
#include <cmath>

#include "framework/builder/builder.h"
#include "framework/builder/lora.h"
#include "framework/language/core_ops.h"

namespace lethe {
namespace {

/// The adapters of one layer, those of a weight, which its op reads.
class Adapted {
 public:
  Adapted(Builder& builder, const std::string& path, VarId y, const Op& op, const std::vector<Adapter>& adapters)
      : builder_(builder), call_(builder, path + ".lora", {y}, {}), path_(path), op_(op), adapters_(adapters) {}

  VarId sum() {
    const AdapterKind kind = adapters_.front().kind;
    const VarId added = kind == AdapterKind::Linear ? linear() : kind == AdapterKind::Conv ? conv() : embedding();
    return call_.emit(kAdd, {call_.in(), shaped(added, call_.shape())});
  }

 private:
  const Shape& shape(VarId var) const { return call_.var(var).shape; }
  VarId shaped(VarId var, const Shape& as) { return shape(var) == as ? var : call_.view(var, as, "lora"); }
  VarId scaled(VarId var, double scale) {
    return scale == 1 ? var : call_.emit(kScale, {var}, {{"a", scale}, {"b", 0.0}});
  }
  VarId joined(const std::vector<VarId>& parts, std::int64_t axis) {
    return parts.size() == 1 ? parts.front() : call_.emit(kConcat, parts, {{"axis", axis}});
  }

  /// A parameter of an adapter; of a layer that shares its weight that of the other layer.
  VarId param(const std::string& name, Shape shape, Init init, bool wide = false, FileLayout layout = {}) {
    const std::size_t dot = name.rfind('.');
    const std::string of = name.substr(0, dot), own = name.substr(dot + 1);
    const bool is_there = find_var(builder_.program(), name) != kNone;
    LayerCall call(builder_, of, {}, is_there ? Attrs{{"share", of}} : Attrs{});
    return wide ? call.wide_param(own, std::move(shape), init, true, layout)
                : call.param(own, std::move(shape), init, true, layout);
  }

  bool drops(const Adapter& adapter) const { return adapter.dropout > 0 && call_.training(); }
  /// What the adapter reads: x, in training without the numbers that it drops.
  VarId read(const Adapter& adapter) {
    const VarId x = op_.in[0];
    if (!drops(adapter)) return x;
    const auto key = static_cast<std::int64_t>(hash_of(path_ + ' ' + adapter.a) >> 1);
    return call_.emit("dropout", {x, call_.step()}, {{"p", adapter.dropout}, {"seed", call_.seed()}, {"key", key}});
  }

  /// As PyTorch's layers begin: kaiming_uniform with a = sqrt(5), which is U(-1/sqrt(fan_in), 1/sqrt(fan_in)).
  static Init uniform(const Shape& a) {
    const auto fan_in = static_cast<double>(elements(a) / a[0]);
    return {.kind = Init::Uniform, .value = 1 / std::sqrt(fan_in)};
  }

  /// The adapters' a, one above the other, read x once where they read the same; their b stand in the rows of the
  /// weight that they are for and in the columns of their ranks, among zeros. So there is one wide product.
  VarId linear() {
    const auto inputs = shape(op_.in[0])[1];
    const auto image = call_.image_of(op_.in[0]);  // then a's columns stand in files as those of the weight do
    const FileLayout layout = image ? FileLayout{FileLayout::FlatImage, *image} : FileLayout{};
    std::vector<VarId> as, narrow;
    for (const Adapter& adapter : adapters_) {
      const Shape of_a{adapter.rank, inputs};
      as.push_back(param(adapter.a, of_a, uniform(of_a), false, layout));
    }
    const bool alike = std::ranges::all_of(
        adapters_, [&](const Adapter& adapter) { return !drops(adapter) && adapter.scale == adapters_.front().scale; });
    if (alike)
      narrow = {scaled(call_.emit("fc", {op_.in[0], joined(as, 0), kNone}), adapters_.front().scale)};
    else
      for (std::size_t i = 0; i < as.size(); ++i)
        narrow.push_back(scaled(call_.emit("fc", {read(adapters_[i]), as[i], kNone}), adapters_[i].scale));
    return call_.emit("fc", {joined(narrow, 1), all_b(), kNone});
  }

  VarId all_b() {
    const std::int64_t rows = shape(op_.in[1])[0];
    std::vector<VarId> bs;
    for (const Adapter& adapter : adapters_) {
      const VarId b = param(adapter.b, {adapter.rows, adapter.rank}, {});
      const Ints before{adapter.first, 0}, after{rows - adapter.first - adapter.rows, 0};
      bs.push_back(adapter.rows == rows ? b : call_.emit(kPad, {b}, {{"before", before}, {"after", after}}));
    }
    return joined(bs, 1);
  }

  VarId conv() {
    const Adapter& adapter = adapters_.front();
    Shape of_a = shape(op_.in[1]);
    of_a[0] = adapter.rank;
    const VarId a = param(adapter.a, of_a, uniform(of_a), false, {FileLayout::Conv});
    const VarId narrow = scaled(call_.emit("conv2d", {read(adapter), a, kNone}, op_.attrs), adapter.scale);
    const VarId b = param(adapter.b, {adapter.rows, 1, 1, adapter.rank}, {}, false, {FileLayout::Conv});
    return call_.emit("conv2d", {narrow, b, kNone},
                      {{"stride", Ints{1, 1}}, {"pad", Ints{0, 0}}, {"dilation", Ints{1, 1}}, {"groups", 1}});
  }

  VarId embedding() {
    const Adapter& adapter = adapters_.front();
    const Shape& table = shape(op_.in[1]);
    const std::int64_t width = table[1];
    const VarId a = param(adapter.a, {table[0], adapter.rank}, {}, true);
    const VarId looked_up = call_.emit("embedding", {op_.in[0], a}, {{"dtype", std::string(name_of(call_.dtype()))}});
    const VarId narrow = shaped(looked_up, {elements(shape(looked_up)) / adapter.rank, adapter.rank});
    const VarId b = param(adapter.b, {width, adapter.rank}, {.kind = Init::Normal, .value = 1});
    return call_.emit("fc", {scaled(narrow, adapter.scale), b, kNone});
  }

  Builder& builder_;
  LayerCall call_;  // of y
  const std::string& path_;
  const Op op_;
  const std::vector<Adapter>& adapters_;
};

}  // namespace

VarId Builder::adapted(VarId y, std::size_t first, const std::string& path) {
  if (options_.adapters.empty()) return y;
  for (std::size_t i = first; i < program().blocks[block_].ops.size(); ++i) {
    const Op op = program().blocks[block_].ops[i];
    const std::optional<AdapterKind> kind = adapter_kind(op.type);
    if (!kind) continue;
    VarId weight = op.in[1];
    for (const auto& [at, copy] : copies_)
      if (copy == weight) weight = at.second;
    std::vector<Adapter> adapters;
    for (const Adapter& adapter : options_.adapters)
      if (adapter.kind == *kind && adapter.weight == program().vars[weight].name) adapters.push_back(adapter);
    if (adapters.empty()) continue;
    for (const Adapter& adapter : adapters)
      if (find_var(program(), adapter.a) == kNone) network_.adapters.push_back(adapter);
    return Adapted(*this, path, y, op, adapters).sum();
  }
  return y;
}

}  // namespace lethe
