// Kernels whose sums are promised to be the same to the bit on every device: device code, run on the host in two orders
// of threads, at addresses where packs can be read and where they cannot, against the CPU's.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "framework/error.h"
#include "framework/language/op_def.h"
#include "framework/language/text.h"
#include "kernels/low_floats.h"
#include "kernels/reduce/lane_sums.h"
#include "tests/support/interpreter.h"

namespace lethe::testing {
namespace {

const DeviceInfo kShim{.kind = DeviceKind::Cuda, .name = "shim"};

/// The program's only op on the values that it has in `values`.
void expect_same_bits(const Interpreter& values) {
  const Program& program = values.program();
  const Op& op = program.blocks[0].ops[0];
  const Kernels kernels = op_def(op.type).kernels;
  const Trial expected = try_op(values, op, *kernels.cpu({program, op, {.threads = 3}}));
  for (const std::int64_t shift : {0, 8})
    for (const auto order : {simt::Order::Forward, simt::Order::Reverse}) {
      SCOPED_TRACE(message(order == simt::Order::Forward ? "forward" : "reverse", ", shifted ", shift));
      simt::order = order;
      Guarded::shift = shift;
      const Trial got = try_op(values, op, *kernels.cuda({program, op, kShim}));
      Guarded::shift = 0;
      simt::order = simt::Order::Forward;
      EXPECT_EQ(got.harm, "") << "was written";
      for (std::size_t slot = 0; slot < op.out.size(); ++slot)
        EXPECT_TRUE(got.outputs[slot].holds_same(expected.outputs[slot])) << "output " << slot;
    }
}

struct AddEach {
  HD double operator()(double sum, double x) const { return sum + x; }
};
/// Sum i is that of all but the first i elements.
template <class T>
struct SumFrom {
  const T* x;
  std::int64_t n;
  double* sums;
  template <class Team>
  HD void operator()(const Team& team, std::int64_t i) const {
    const double sum = team.sum(x + i, n - i, AddEach{});
    if (team.leads()) sums[i] = sum;
  }
};

template <class T>
void expect_same_lane_sums() {
  constexpr std::int64_t kSize = 2027, kSums = 70;  // with rests of packs of each length, at all addresses
  std::vector<T> x;
  for (std::int64_t i = 0; i < kSize; ++i) x.push_back(static_cast<T>(1 / static_cast<double>(3 + i * i % 97)));
  for (const auto order : {simt::Order::Forward, simt::Order::Reverse}) {
    simt::order = order;
    std::vector<double> host(kSums), device(kSums);
    for_each_warp(Cpu{}, nullptr, kSums, SumFrom<T>{x.data(), kSize, host.data()});
    for_each_warp(Cuda{}, nullptr, kSums, SumFrom<T>{x.data(), kSize, device.data()});
    EXPECT_EQ(host, device);
    double plain = 0;
    for (const T value : x) plain += value;
    EXPECT_NEAR(host[0], plain, 1e-12 * plain);
  }
}

TEST(SameBits, SumsOfAWarpAndOfAThread) {
  expect_same_lane_sums<float>();
  expect_same_lane_sums<double>();
  expect_same_lane_sums<Bf16>();
}

std::string clip_program(const char* dtype, const std::vector<std::int64_t>& sizes) {
  std::string vars = message("temp scale ", name_of(wide_of(dtype_named(dtype))), "[]\n"),
              op = "  scale = clip_scale(_";
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    vars += message("input g", i, ' ', dtype, '[', sizes[i], "]\n");
    op += message(", g", i);
  }
  return vars + "block 0 {\n" + op + ") {max_norm=0.5} optimize\n}\n";
}

void expect_same_norm(const char* dtype, const std::vector<std::int64_t>& sizes) {
  SCOPED_TRACE(dtype);
  const Program program = parse_program(clip_program(dtype, sizes));
  Interpreter values(program);
  for (std::size_t v = 1; v < program.vars.size(); ++v) values.fill_uniform(static_cast<VarId>(v), -1, 1, v);
  expect_same_bits(values);
}

TEST(SameBits, TheNormOfGradients) {
  std::vector<std::int64_t> many;  // more than a launch takes
  for (std::int64_t i = 0; i < 150; ++i) many.push_back(i % 50 == 0 ? 1024 * (1 + i % 3) + 1 : 1 + i * 37 % 300);
  for (const char* dtype : {"f32", "f64", "bf16", "f16"}) expect_same_norm(dtype, many);
  expect_same_norm("f64", {3, 1024 * 1024 + 5});  // more chunks than one sum of them takes
}

/// More ids than are looked through at once, some of them often and some no row.
void expect_same_row_sums(const char* dtype, std::int64_t n, std::int64_t rows, std::int64_t width) {
  SCOPED_TRACE(message(dtype, ", ", n, " ids, ", rows, " rows of ", width));
  const Program program =
      parse_program(message("input ids i32[", n, "]\ninput dy ", dtype, '[', n, ',', width, "]\ntemp dtable ",
                            name_of(wide_of(dtype_named(dtype))), '[', rows, ',', width,
                            "]\nblock 0 {\n  dtable = embedding_grad(ids, dy) {rows=", rows, "} backward\n}\n"));
  Interpreter values(program);
  for (std::int64_t i = 0; i < n; ++i) values.set(0, i, i % 3 == 0 ? 2 : i * i % (rows + 2) - 1);
  values.fill_uniform(1, -1, 1, 0);
  expect_same_bits(values);
}

TEST(SameBits, RowsOfAnEmbeddingsGradient) {
  for (const char* dtype : {"f32", "f64", "bf16"}) {
    expect_same_row_sums(dtype, 2100, 6, 12);
    expect_same_row_sums(dtype, 40, 3, 1100);  // several blocks of columns
    expect_same_row_sums(dtype, 1500, 3, 5);   // no packs
  }
  expect_same_row_sums("f32", 300, 600, 12);  // several rows a block
}

/// An update whose states are in blocks, of a parameter in `param`; the last block is not whole.
void expect_same_update(const char* param, const std::string& states, const std::string& update) {
  SCOPED_TRACE(message(update, " of ", param));
  std::string vars = message("param w ", param, "[2900]\ninput g f32[2900]\ninput lr f32[]\nstate step i64[]\n");
  for (std::size_t at = 0; at < states.size(); ++at)
    vars += message("state ", states[at], states[at] == 'v' ? " udynamic8" : " dynamic8", "[2900]\n");
  const Program program = parse_program(vars + "block 0 {\n  " + update + " optimize\n}\n");
  Interpreter values(program);
  for (VarId v = 0; v < 3; ++v) values.fill_uniform(v, -1, 1, static_cast<std::uint64_t>(v));
  for (VarId v = 3; v < static_cast<VarId>(program.vars.size()); ++v)
    std::memset(values.memory(v).data(), 0, static_cast<std::size_t>(values.memory(v).bytes()));
  expect_same_bits(values);
  values.run();  // and from what the first step left
  expect_same_bits(values);
}

TEST(SameBits, UpdatesByBlocks) {
  const std::string rounded = ", rounding=77, rounding_first=512}";
  for (const char* param : {"f32", "bf16"}) {
    const std::string end = param[0] == 'b' ? rounded : "}";
    expect_same_update(param, "m", "w, m = lion(w, m, g, lr, _, step) {beta1=0.9, beta2=0.99, weight_decay=0.1" + end);
    expect_same_update(param, "m", "w, m = momentum(w, m, g, lr, _, step) {momentum=0.9, nesterov=1" + end);
    expect_same_update(param, "mv", "w, m, v = adam(w, m, v, g, lr, step) {beta1=0.9, beta2=0.99, eps=1e-08" + end);
  }
  expect_same_update("bf16", "", "w = sgd(w, g, lr, _, step) {weight_decay=0.1" + rounded);
}

/// The program's only op, in both orders of threads and at both kinds of addresses.
void expect_same_anywhere(const std::string& text) {
  const Program program = parse_program(text);
  Interpreter values(program);
  for (std::size_t v = 0; v < program.vars.size(); ++v) values.fill_uniform(static_cast<VarId>(v), -1, 1, v);
  const Op& op = program.blocks[0].ops[0];
  const auto kernel = op_def(op.type).kernels.cuda({program, op, kShim});
  const Trial expected = try_op(values, op, *kernel);
  Guarded::shift = 8;
  simt::order = simt::Order::Reverse;
  const Trial got = try_op(values, op, *kernel);
  Guarded::shift = 0;
  simt::order = simt::Order::Forward;
  EXPECT_EQ(got.harm, "") << "was written";
  for (std::size_t slot = 0; slot < op.out.size(); ++slot)
    EXPECT_TRUE(got.outputs[slot].holds_same(expected.outputs[slot])) << text << "output " << slot;
}

TEST(SameBits, AttentionWhereverItsVarsLie) {
  const std::string in = "input q bf16[1,70,72]\n", outputs = " bf16[1,70,24]\n", lse = " lse f32[1,1,70]\n";
  expect_same_anywhere(in + "temp y" + outputs + "temp" + lse +
                       "block 0 {\n  y, lse = attention(q) {causal=1, heads=1}\n}\n");
  expect_same_anywhere(
      in + "input y" + outputs + "input" + lse + "input dy" + outputs + "temp dq bf16[1,70,72]\n" +
      "block 0 {\n  dq = attention_grad(q, _, _, _, _, _, _, y, lse, dy) {causal=1, heads=1} backward\n}\n");
}

TEST(SameBits, ARowThatIsNoneIsNan) {
  const Program program = parse_program(
      "input ids i32[3]\nparam table f32[2,8]\ntemp y f32[3,8]\n"
      "block 0 {\n  y = embedding(ids, table) {dtype=\"f32\"}\n}\n");
  Interpreter values(program);
  values.fill_uniform(1, -1, 1, 0);
  for (int i = 0; i < 3; ++i) values.set(0, i, i - 1 + (i == 2));
  const Op& op = program.blocks[0].ops[0];
  const Trial got = try_op(values, op, *op_def(op.type).kernels.cuda({program, op, kShim}));
  const auto* const y = static_cast<const float*>(got.outputs[0].data());
  for (int c = 0; c < 8; ++c) {
    EXPECT_TRUE(std::isnan(y[c])) << "-1";
    EXPECT_EQ(y[8 + c], values.number(1, c)) << "0";
    EXPECT_TRUE(std::isnan(y[16 + c])) << "2";
  }
}

/// Of all windows that have kernels of their own, and of one that has none.
void expect_same_pools(const std::string& gradient, std::int64_t k, std::int64_t stride, const char* dtype) {
  const std::int64_t out = (9 + 2 - k) / stride + 1;
  const std::string of = message(dtype, "[2,", out, ',', out, ",16]\n");
  const std::string given = gradient == "max_pool_grad" ? message("input index u8[2,", out, ',', out, ",16]\n") : "";
  SCOPED_TRACE(message(gradient, ", ", dtype, ", windows of ", k, " every ", stride));
  const Program program =
      parse_program(message(given, "input dy ", of, "temp dx ", dtype, "[2,9,9,16]\nblock 0 {\n  dx = ", gradient,
                            given.empty() ? "(" : "(index, ", "dy) {ceil_mode=0, count_include_pad=0, height=9, k=[", k,
                            ',', k, "], pad=[1,1], stride=[", stride, ',', stride, "], width=9} backward\n}\n"));
  Interpreter values(program);
  const VarId dy = given.empty() ? 0 : 1;
  values.fill_uniform(dy, -1, 1, 0);
  for (std::int64_t i = 0; dy == 1 && i < 2 * out * out * 16; ++i) values.set(0, i, i * 7 % (k * k));
  expect_same_bits(values);
}

TEST(SameBits, GradientsOfPools) {
  for (const char* gradient : {"max_pool_grad", "avg_pool_grad"})
    for (const char* dtype : {"f32", "f64", "bf16"})
      for (const auto& [k, stride] : {std::pair{2, 2}, {3, 2}, {3, 1}, {3, 3}})
        expect_same_pools(gradient, k, stride, dtype);
}

TEST(SameBits, RowsInPacksAndByThemselves) {
  for (const std::string dtype : {"f32", "bf16"}) {
    const std::string x = dtype + "[5,48]\n", weight = "f32[48]\n", one = "f32[5]\n";
    expect_same_anywhere("input x " + x + "temp y " + x + "block 0 {\n  y = softmax(x)\n}\n");
    expect_same_anywhere("input x " + x + "input w " + weight + "input b " + weight + "temp y " + x + "temp mean " +
                         one + "temp inverse " + one +
                         "block 0 {\n  y, mean, inverse = layer_norm(x, w, b) {eps=1e-05}\n}\n");
    expect_same_anywhere("input x " + x + "input w " + weight + "input mean " + one + "input inverse " + one +
                         "input dy " + x + "temp dx " + x + "temp dw " + weight + "temp db " + weight +
                         "block 0 {\n  dx, dw, db = layer_norm_grad(x, w, mean, inverse, dy) backward\n}\n");
  }
}

/// Of a norm's gradient on rows [rows, length]: alone, and with another gradient z that it adds.
template <class T>
void expect_sum_on_the_way(const std::string& dtype, int rows, int length) {
  const auto of = [&](const char* kind, const char* name, const std::string& type) {
    return message(kind, ' ', name, ' ', type, '\n');
  };
  const std::string x = message(dtype, '[', rows, ',', length, ']'), c = message("f32[", length, ']'),
                    one = message("f32[", rows, ']');
  const std::string vars = of("input", "x", x) + of("input", "w", c) + of("input", "mean", one) +
                           of("input", "inverse", one) + of("input", "dy", x) + of("input", "z", x) +
                           of("temp", "dx", x) + of("temp", "dw", c) + of("temp", "db", c);
  const auto outputs = [&](const std::string& more) {
    const Program program = parse_program(vars + "block 0 {\n  dx, dw, db = layer_norm_grad(x, w, mean, inverse, dy" +
                                          more + ") backward\n}\n");
    Interpreter values(program);
    for (VarId v = 0; v < 6; ++v) values.fill_uniform(v, -1, 1, static_cast<std::uint64_t>(v));
    const Op& op = program.blocks[0].ops[0];
    Trial got = try_op(values, op, *op_def(op.type).kernels.cuda({program, op, kShim}));
    EXPECT_EQ(got.harm, "");
    EXPECT_EQ(op_def(op.type).kernels.cuda({program, op, kShim})->bytes_again(),
              length > 2048 ? 2 * rows * length * std::int64_t{sizeof(T)} : 0);
    if (more.empty()) {
      auto* const dx = static_cast<T*>(got.outputs[0].data());
      for (int i = 0; i < rows * length; ++i) dx[i] = T(compute(dx[i]) + static_cast<Compute<T>>(values.number(5, i)));
    }
    return got;
  };
  const Trial apart = outputs(""), on_the_way = outputs(", z");
  for (int slot = 0; slot < 3; ++slot) EXPECT_TRUE(on_the_way.outputs[slot].holds_same(apart.outputs[slot])) << slot;
}

TEST(SameBits, ANormsGradientAddsAnotherAsASumWould) {
  for (const int length : {24, 37, 768, 2501}) {  // held by some threads, by two warps, and read again
    SCOPED_TRACE(length);
    expect_sum_on_the_way<float>("f32", 35, length);
    expect_sum_on_the_way<Bf16>("bf16", 35, length);
  }
}

TEST(SameBits, ChannelsInPacksAndByThemselves) {
  for (const char* dtype : {"f32", "f64", "bf16"}) {
    const std::string shape = message(dtype, "[3,24]\n"), attrs = "{alpha=2.5, beta=0.75, k=1.5, size=5}";
    expect_same_anywhere("input x " + shape + "temp y " + shape + "block 0 {\n  y = lrn(x) " + attrs + "\n}\n");
    expect_same_anywhere("input x " + shape + "input dy " + shape + "temp dx " + shape +
                         "block 0 {\n  dx = lrn_grad(x, dy) " + attrs + " backward\n}\n");
  }
}

}  // namespace
}  // namespace lethe::testing
