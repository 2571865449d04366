#include "kernels/attention/op_shape.h"

#include <cmath>

#include "framework/checked.h"
#include "framework/language/op_attrs.h"
#include "framework/random.h"
#include "kernels/attention/heads.h"

namespace lethe {
namespace {

/// Fails unless a var has three axes.
void check_sequence(const InferArgs& args, int slot, const char* axes) {
  check(args.in(slot).shape.size() == 3, args.op.type, ": ", "qkv"[slot], " is ", text_of(args.in(slot)), ", expected ",
        axes);
}

/// Sets the rate and the stream by which shares are dropped; without a step none are.
void drop(AttentionShape& s, const InferArgs& args) {
  if (!args.has_in(4)) return;
  check_input(args, 4, {{}, DType::i64});
  const Attrs& attrs = args.op.attrs;
  s.dropout = attrs.number("dropout");
  check(s.dropout >= 0 && s.dropout < 1, args.op.type, ": dropout is ", s.dropout, ", expected at least 0 and below 1");
  s.dropout_key =
      stream_key(static_cast<std::uint64_t>(attrs.integer("seed")), static_cast<std::uint64_t>(attrs.integer("key")));
}

/// Sets what the mask is; fails unless it is of scores, or the same along axes of 1.
void mask(AttentionShape& s, const InferArgs& args) {
  if (!args.has_in(kSlotOfMask)) return;
  const Var& mask = args.in(kSlotOfMask);
  const DType own = args.in(0).dtype;
  check(mask.dtype == own || mask.dtype == DType::f32, args.op.type, ": mask is ", text_of(mask), ", expected ",
        name_of(own), own == DType::f32 ? "" : " or f32");
  const Shape scores = {s.batch, s.heads, s.rows, s.keys};
  bool fits = mask.shape.size() == scores.size() && mask.shape.back() == s.keys;
  for (std::size_t axis = 0; fits && axis < scores.size(); ++axis)
    fits = mask.shape[axis] == scores[axis] || mask.shape[axis] == 1;
  check(fits, args.op.type, ": mask is ", text_of(mask), ", expected the shape of scores, ", text_of(scores),
        ", or 1 for any of its first three axes");
  s.mask = {.samples = mask.shape[0],
            .heads = mask.shape[1],
            .rows = mask.shape[2],
            .keys = s.keys,
            .wide = mask.dtype == DType::f32};
}

/// Sets head size and numbers of keys by the inputs; fails if heads do not divide their widths.
void fit(AttentionShape& s, const InferArgs& args) {
  const std::string& type = args.op.type;
  const Shape& q = args.in(0).shape;
  const std::int64_t of_q = checked_add(s.heads, s.packed ? checked_mul(2, s.kv_heads, "heads") : 0, "heads");
  check(q[2] % of_q == 0, type, ": ", of_q, " heads", s.packed ? " of queries, keys and values" : "",
        " do not divide a width of ", q[2]);
  s.batch = q[0], s.rows = s.keys = q[1], s.size = q[2] / of_q;
  if (s.packed) return;
  check_sequence(args, 1, "[B,S,kv_heads*D]");
  s.keys = args.in(1).shape[1];
  for (const int slot : {1, 2})
    check_input(args, slot, {{s.batch, s.keys, checked_mul(s.kv_heads, s.size, "a width")}, args.in(0).dtype});
}

}  // namespace

AttentionShape shape_of(const InferArgs& args) {
  const Attrs& attrs = args.op.attrs;
  const std::string& type = args.op.type;
  check_sequence(args, 0, "[B,T,width]");
  check(args.has_in(1) == args.has_in(2), type, ": one of k and v is given, expected both or neither");
  AttentionShape s{.heads = attrs.integer("heads"),
                   .window = attrs.integer("window", 0),
                   .causal = attrs.flag("causal", false),
                   .packed = !args.has_in(1),
                   .lengths = args.has_in(3),
                   .texts = args.has_in(5)};
  s.kv_heads = attrs.integer("kv_heads", s.heads);
  check(s.heads >= 1 && s.kv_heads >= 1, type, ": ", s.heads, " heads and ", s.kv_heads,
        " of keys and values, expected at least 1");
  check(s.heads % s.kv_heads == 0, type, ": ", s.kv_heads, " heads of keys and values do not divide ", s.heads,
        " of queries");
  check(s.window >= 0, type, ": window is ", s.window, ", expected at least 0");
  fit(s, args);
  check(s.keys >= s.rows || (!s.causal && s.window == 0), type, ": ", s.rows, " rows and ", s.keys,
        " keys, expected as many keys at least where rows have positions among them");
  check_input(args, 3, {{s.batch}, DType::i32});
  check_input(args, 5, {{s.batch, s.rows}, DType::i32});
  s.scale = attrs.number("scale", 1 / std::sqrt(static_cast<double>(s.size)));
  check(std::isfinite(s.scale), type, ": scale is ", s.scale);
  s.softcap = attrs.number("softcap", 0);
  check(std::isfinite(s.softcap) && s.softcap >= 0, type, ": softcap is ", s.softcap, ", expected at least 0");
  drop(s, args);
  mask(s, args);
  return s;
}

AttentionShape shape_of(const PrepareArgs& args) {
  AttentionShape s = shape_of(InferArgs{args.program, args.op});
  s.first_sample = args.op.attrs.integer(kFirstElement, 0) * s.batch / elements(args.out(0).shape);
  return s;
}

Type lse_of(const AttentionShape& s, const Var& q) { return {{s.batch, s.heads, s.rows}, wide_of(q.dtype)}; }
Type output_of(const AttentionShape& s, const Var& q) { return {{s.batch, s.rows, s.heads * s.size}, q.dtype}; }

std::int64_t attention_products(const InferArgs& args, std::int64_t a_pair) {
  const AttentionShape s = shape_of(args);
  std::int64_t pairs = 0;
  for (std::int64_t row = 0; row < s.rows; ++row) {
    const Positions seen = s.keys_of(row, {s.keys, nullptr});
    pairs = checked_add(pairs, seen.last - seen.first, "pairs");
  }
  const char* const what = "the number of multiply-adds";
  return checked_mul(checked_mul(pairs, s.batch * s.heads, what), checked_mul(a_pair, s.size, what), what);
}

}  // namespace lethe
