#include "train/session/merge.h"

#include <algorithm>
#include <set>

#include "framework/builder/lora.h"
#include "framework/error.h"
#include "framework/language/core_ops.h"
#include "train/session/stored_tensor.h"

namespace lethe {
namespace {

std::vector<double> numbers_in(const Store& store, const std::string& name) {
  const std::vector<std::byte> bytes = converted(store.read(name), store.var(name).dtype, DType::f64);
  const auto* const values = reinterpret_cast<const double*>(bytes.data());
  return {values, values + bytes.size() / sizeof(double)};
}

/// A [n, rank] matrix, from one that may be stored as [rank, n].
std::vector<double> by_rank(const std::vector<double>& values, std::int64_t rank, bool transposed) {
  if (!transposed) return values;
  const std::int64_t n = std::ssize(values) / rank;
  std::vector<double> turned(values.size());
  for (std::int64_t r = 0; r < rank; ++r)
    for (std::int64_t i = 0; i < n; ++i)
      turned[static_cast<std::size_t>(i * rank + r)] = values[static_cast<std::size_t>(r * n + i)];
  return turned;
}

/// Adds scale times left [rows, rank] times right [columns, rank], transposed, to rows of the weight from `first` on.
template <class T>
void add_product(T* weight, const Adapter& adapter, const std::vector<double>& left, const std::vector<double>& right) {
  const auto rank = static_cast<std::size_t>(adapter.rank);
  const std::size_t columns = right.size() / rank;
  T* to = weight + static_cast<std::size_t>(adapter.first) * columns;
  for (auto row = left.begin(); row != left.end(); row += adapter.rank)
    for (std::size_t c = 0; c < columns; ++c, ++to) {
      double sum = 0;
      for (std::size_t r = 0; r < rank; ++r) sum += row[static_cast<std::ptrdiff_t>(r)] * right[c * rank + r];
      *to = static_cast<T>(static_cast<double>(*to) + adapter.scale * sum);
    }
}

/// Fails if another kind of layer reads the weight, too, which would compute with what is added for this one.
void check_alone(const Network& network, const Adapter& adapter) {
  std::set<VarId> values;  // the weight, and copies in another dtype
  for (const ParamInfo& info : network.params)
    if (network.program.vars[info.var].name == adapter.weight) values.insert(info.var);
  for (const Block& block : network.program.blocks)
    for (const Op& op : block.ops) {
      if (std::ranges::none_of(op.in, [&](VarId v) { return values.contains(v); })) continue;
      if (op.type == kCast)
        values.insert(op.out[0]);
      else
        check(adapter_kind(op.type) == adapter.kind, quote(adapter.weight),
              " is the weight of two layers, of which one has an adapter: they cannot share what is merged");
    }
}

}  // namespace

void merge_adapters(Store& store, const Network& network) {
  for (const Adapter& adapter : network.adapters) {
    check_alone(network, adapter);
    const bool of_embedding = adapter.kind == AdapterKind::Embedding;
    const std::vector<double> a = by_rank(numbers_in(store, adapter.a), adapter.rank, !of_embedding),
                              b = numbers_in(store, adapter.b);
    const Var& var = store.var(adapter.weight);
    check_as(Exit::Internal, wide_of(var.dtype) == var.dtype, quote(var.name), " is ", name_of(var.dtype),
             " to merge into");
    std::vector<std::byte> weight = store.read(var.name);
    const auto add = [&](auto* values) { add_product(values, adapter, of_embedding ? a : b, of_embedding ? b : a); };
    if (var.dtype == DType::f64)
      add(reinterpret_cast<double*>(weight.data()));
    else
      add(reinterpret_cast<float*>(weight.data()));
    store.write(var.name, weight.data(), std::ssize(weight));
    const std::vector<std::byte> zeros(static_cast<std::size_t>(bytes_of(store.var(adapter.b))));
    store.write(adapter.b, zeros.data(), std::ssize(zeros));
  }
}

}  // namespace lethe
