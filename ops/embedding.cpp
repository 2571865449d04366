// y = for each id its row of the table: ids [..] and table [V, D] give [.., D]. The gradient adds up each row's shares
// in the order of the ids, whatever the threads; where the table has other readers, it adds them to what these gave, so
// that no second table is there.
#include <limits>

#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/error.h"
#include "framework/language/op_def.h"
#include "kernels/dtypes.h"
#include "kernels/for_each_pair.h"
#include "kernels/quantized/dequantize.h"
#include "kernels/reduce/add_rows.h"

namespace lethe {
namespace {

/// Fails unless every id is a row. CUDA's kernels cannot: there an id that is no row gives NaN.
void check_ids(Cpu, const std::int32_t* ids, std::int64_t n, std::int64_t rows) {
  for (std::int64_t i = 0; i < n; ++i)
    check_as(Exit::Data, ids[i] >= 0 && ids[i] < rows, "embedding: id ", ids[i], " at position ", i,
             " is not in the table of ", rows, " rows");
}
[[maybe_unused]] void check_ids(Cuda, const std::int32_t*, std::int64_t, std::int64_t) {}

/// Of a table in blocks.
template <class T, class Groups>
struct LookUpInBlocks {
  const std::int32_t* ids;
  Groups groups;
  const std::byte* table;
  T* y;
  std::int64_t rows, width;
  HD void operator()(std::int64_t at) const {
    const std::int64_t i = at / width, id = ids[i];
    if (id >= 0 && id < rows)
      Dequantize<Groups, T>{groups, table, id * width - i * width, y}(at);
    else
      y[at] = std::numeric_limits<Compute<T>>::quiet_NaN();
  }
};

/// S: of the table.
template <class T, class S>
struct LookUp {
  const std::int32_t* ids;
  const S* table;
  T* y;
  std::int64_t rows, width;
  HD void operator()(std::int64_t column, std::int64_t i) const { pack<1>(column, i); }
  template <int V>
  HD void pack(std::int64_t column, std::int64_t i) const {
    const std::int64_t id = ids[i];
    Pack<T, V> values;
    if (id >= 0 && id < rows) {
      const Pack<S, V> from = load_pack<V>(table + id * width + column);
      for (int k = 0; k < V; ++k) values.at[k] = from[k];
    } else {
      for (int k = 0; k < V; ++k) values.at[k] = std::numeric_limits<Compute<T>>::quiet_NaN();
    }
    store_pack(y + i * width + column, values);
  }
};

template <class T, class S>
void look_up(Cpu device, void* stream, std::int64_t n, const LookUp<T, S>& of) {
  for_each_pair(device, stream, make_box({n, of.width}, {0, 1}, {1, 0}), of);
}
#ifdef LETHE_DEVICE_CODE
/// Element by element of y.
template <class T, class S>
struct LookUpIndex {
  LookUp<T, S> of;
  Divisor width;
  HD void operator()(std::int64_t i) const { pack<1>(i); }
  template <int V>
  HD void pack(std::int64_t i) const {
    const std::int64_t row = width.quotient(i);
    of.template pack<V>(i - row * width.by(), row);
  }
};
template <class T, class S>
void look_up(Cuda device, void* stream, std::int64_t n, const LookUp<T, S>& of) {
  for_each_pack<kPack<T>>(device, stream, n * of.width, of.width % kPack<T> == 0 && can_pack({of.table, of.y}),
                          LookUpIndex<T, S>{of, Divisor(of.width)});
}
#endif

struct Embedding {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const std::int64_t n = elements(args.in(0).shape), rows = args.in(1).shape[0], width = args.in(1).shape[1];
    const BlockedWeight table{args.in(1).dtype, args.in(1).shape};
    return for_float(args.out(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      if (is_in_blocks(table.dtype))
        return make_kernel([=](const KernelArgs& a) {
          const auto* ids = a.in<std::int32_t>(0);
          check_ids(Device{}, ids, n, rows);
          for_groups(table, [&](const auto& groups) {
            using Groups = std::decay_t<decltype(groups)>;
            parallel_for(Device{}, a.stream, n * width,
                         LookUpInBlocks<T, Groups>{ids, groups, a.in<std::byte>(1), a.out<T>(0), rows, width});
          });
        });
      const auto with = [=](auto entry) {
        using S = decltype(entry);
        return make_kernel([=](const KernelArgs& a) {
          const auto* ids = a.in<std::int32_t>(0);
          check_ids(Device{}, ids, n, rows);
          look_up(Device{}, a.stream, n, LookUp<T, S>{ids, a.in<S>(1), a.out<T>(0), rows, width});
        });
      };
      if constexpr (std::is_same_v<T, float>)
        if (table.dtype != DType::f32) return for_float(table.dtype, with);
      return table.dtype == args.out(0).dtype ? with(T()) : with(Compute<T>());
    });
  }
};

struct EmbeddingGrad {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const std::int64_t n = elements(args.in(0).shape), rows = args.out(0).shape[0], width = args.out(0).shape[1];
    const bool adds = args.has_in(2);
    return for_float(args.in(1).dtype, [&](auto zero) {
      using T = decltype(zero);
      const auto run = [=](const KernelArgs& a) {
        const auto* before = adds ? a.in<Compute<T>>(2) : nullptr;
        add_rows(Device{}, a.stream,
                 RowSums<T>{a.in<std::int32_t>(0), a.in<T>(1), before, a.out<Compute<T>>(0), n, rows, width});
      };
      // For each id its row of the table, read and written after what it begins with.
      return make_kernel(run, 0, 2 * n * width * std::int64_t{sizeof(Compute<T>)});
    });
  }
};

std::vector<Type> infer_embedding(const InferArgs& args) {
  const Var &ids = args.in(0), &table = args.in(1);
  check(ids.dtype == DType::i32, "embedding: ids are ", name_of(ids.dtype), ", expected i32");
  check(table.shape.size() == 2, "embedding: table is ", text_of(table.shape), ", expected [V,D]");
  Shape shape = ids.shape;
  shape.push_back(table.shape[1]);
  const DType dtype = args.op.attrs.has("dtype") ? dtype_named(args.op.attrs.text("dtype")) : table.dtype;
  const bool in_blocks = is_in_blocks(table.dtype) && is_float(dtype);
  check(table.dtype == wide_of(dtype) || wide_of(table.dtype) == dtype || table.dtype == dtype || in_blocks,
        "embedding: table is ", name_of(table.dtype), ", values ", name_of(dtype));
  return {{shape, dtype}};
}

std::vector<Type> infer_embedding_grad(const InferArgs& args) {
  const Type table{{args.op.attrs.integer("rows"), args.in(1).shape.back()}, wide_of(args.in(1).dtype)};
  check_input(args, 2, table);
  return {table};
}

VarId build_embedding(LayerCall& c) {
  const std::int64_t rows = c.settings().integer("vocab"), width = c.settings().integer("out");
  const Init init = c.init("init", {.kind = Init::Normal, .value = 1, .fan_in = rows, .fan_out = width});
  const VarId table = c.wide_param("weight", {rows, width}, init, true);
  const DType of = c.var(table).dtype, own = c.dtype();
  const bool converts = is_in_blocks(of) || of == own || of == wide_of(own) || wide_of(of) == own;
  const DType looked_up = converts ? own : of;
  const VarId y = c.emit("embedding", {c.in(), table}, {{"dtype", std::string(name_of(looked_up))}});
  return looked_up == own ? y : c.emit(kCast, {y}, {{"dtype", std::string(name_of(own))}});
}

const Register embedding{{
    .type = "embedding",
    .inputs = {"ids", "table"},
    .outputs = {"y"},
    .infer = infer_embedding,
    .grad =
        [](GradBuilder& g) {
          g.set(1, "embedding_grad", {g.x(0), g.dy(), g.given(1)}, {{"rows", g.var(g.x(1)).shape[0]}});
        },
    .along = Along::Rows,
    .kernels = each_device<Embedding>(),
    .layer = {.name = "embedding",
              .aliases = {"Embedding"},
              .keys = {{.name = "out", .type = KeyType::Int, .min = 1, .help = "numbers for each id"},
                       {.name = "vocab", .type = KeyType::Int, .min = 1, .help = "ids are 0 to vocab - 1"},
                       {.name = "init", .type = KeyType::Init, .help = "default normal:1", .optional = true}},
              .build = build_embedding,
              .help = "a learned row of numbers for each id (i32)"},
}};

const Register embedding_grad{{
    .type = "embedding_grad",
    .inputs = {"ids", "dy", "before?"},
    .outputs = {"dtable"},
    .infer = infer_embedding_grad,
    .inplace = {{.in = 2, .out = 0}},
    .kernels = each_device<EmbeddingGrad>(),
}};

}  // namespace
}  // namespace lethe
