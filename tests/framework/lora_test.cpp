#include "framework/builder/lora.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "framework/autodiff/autodiff.h"
#include "framework/builder/builder.h"
#include "tests/support/expect_error.h"
#include "tests/support/interpreter.h"

namespace lethe::testing {
namespace {

using Words = std::vector<std::string>;

/// Two blocks of a fused projection [2 + 1 + 3, 4], a tied table, and names as a library has them.
Network text_network(BuildOptions options = {.batch = 2, .dtype = DType::f64}) {
  Builder net(std::move(options));
  VarId x = net.layer("embedding", net.input("text", {3}, DType::i32), {{"vocab", 5}, {"out", 4}}, "tokens");
  for (int i = 0; i < 2; ++i) {
    const std::string path = message("layer/", i, "/");
    x = net.layer("fc", x, {{"out", 6}, {"flatten", 0}}, path + "qkv");
    x = net.layer("fc", net.layer("tanh", x), {{"out", 4}, {"flatten", 0}}, path + "out");
    x = net.layer("layer_norm", x, {}, path + "norm");
  }
  net.loss("cross_entropy", net.layer("fc", x, {{"out", 5}}, "logits"), net.input("label", {}, DType::i32));
  Network network = net.finish();
  WeightNames names;
  names.prefix = "m.";
  names.weights.push_back({.param = "tokens.weight", .tensors = {"embed.weight"}});
  for (const std::string i : {"0", "1"}) {
    names.weights.push_back({.param = "layer/" + i + "/qkv.weight",
                             .tensors = {"m.h." + i + ".q.weight", "m.h." + i + ".k.weight", "m.h." + i + ".v.weight"},
                             .rows = {2, 1, 3}});
    names.weights.push_back({.param = "layer/" + i + "/out.weight", .tensors = {"m.h." + i + ".proj.weight"}});
    names.weights.push_back({.param = "layer/" + i + "/norm.weight", .tensors = {"m.h." + i + ".norm.weight"}});
  }
  names.again.push_back({.param = "tokens.weight", .tensors = {"lm_head.weight"}});
  names.lora = {"q", "v"};
  network.weight_names = {names};
  return network;
}

/// "weight:first+rows" of each.
Words places(const std::vector<Adapter>& adapters) {
  Words words;
  for (const Adapter& a : adapters) words.push_back(message(a.weight, ':', a.first, '+', a.rows));
  return words;
}

Words meant(const Words& targets) {
  LoraSetting setting{.rank = 2};
  for (const std::string& target : targets) setting.targets.push_back({.pattern = target});
  return places(adapters_of(text_network(), setting));
}

TEST(Lora, TargetsAreEndsOfNamesOursOrALibrarys) {
  const Words q = {"layer/0/qkv.weight:0+2", "layer/1/qkv.weight:0+2"};
  EXPECT_EQ(meant({"q"}), q);
  EXPECT_EQ(meant({"m.h.*.q"}), q);
  EXPECT_EQ(meant({"h.1.v"}), Words{"layer/1/qkv.weight:3+3"});
  EXPECT_EQ(meant({"0/qkv"}), Words{"layer/0/qkv.weight:0+6"});
  EXPECT_EQ(meant({"embed"}), Words{"tokens.weight:0+5"});
  EXPECT_EQ(meant({"m.embed"}), Words{"tokens.weight:0+5"}) << "with the prefix";
  EXPECT_EQ(meant({}), (Words{"layer/0/qkv.weight:0+2", "layer/0/qkv.weight:3+3", "layer/1/qkv.weight:0+2",
                              "layer/1/qkv.weight:3+3"}))
      << "the network's";
  Words all;
  for (const std::string layer : {"layer/0/", "layer/1/"})
    for (const char* place : {"qkv.weight:0+2", "qkv.weight:2+1", "qkv.weight:3+3", "out.weight:0+4"})
      all.push_back(layer + place);
  EXPECT_EQ(meant({"all-linear"}), all) << "neither the table nor what gives the logits";
}

TEST(Lora, RanksScalesAndNames) {
  const std::vector<Adapter> adapters =
      adapters_of(text_network(), {.rank = 4,
                                   .alpha = 8,
                                   .dropout = 0.5,
                                   .rslora = true,
                                   .targets = {{.pattern = "q"}, {.pattern = "h.1.q", .rank = 1}, {"embed", 2, 6}}});
  ASSERT_EQ(adapters.size(), 3U);
  const Adapter expected{.weight = "layer/0/qkv.weight",
                         .module = "m.h.0.q",
                         .a = "layer/0/qkv.q.lora_A",
                         .b = "layer/0/qkv.q.lora_B",
                         .rows = 2,
                         .rank = 4,
                         .alpha = 8,
                         .scale = 4,
                         .dropout = 0.5};
  EXPECT_EQ(adapters[1], expected);
  EXPECT_EQ(adapters[2].rank, 1) << "the last target counts";
  EXPECT_EQ(adapters[2].scale, 8);
  EXPECT_EQ(adapters[0].kind, AdapterKind::Embedding);
  EXPECT_EQ(adapters[0].a, "tokens.lora_A");
  EXPECT_EQ(adapters[0].module, "embed");
  EXPECT_EQ(adapters[0].scale, 6 / std::sqrt(2.0));
  EXPECT_EQ(adapters[0].dropout, 0) << "PEFT's embeddings drop nothing";
}

TEST(Lora, SaysWhatCanHaveNone) {
  const auto error = [](const Words& targets) { return error_of([&] { meant(targets); }); };
  EXPECT_EQ(error({"prj"}), "`lora_targets`: no layer is called 'prj'; did you mean 'proj'?");
  EXPECT_EQ(error({"norm"}),
            "`lora_targets`: 'norm' can have no adapter: 'layer/1/norm.weight', it is no fc, conv or embedding");
  EXPECT_EQ(error({"lm_head"}),
            "`lora_targets`: 'lm_head' can have no adapter: 'tokens.weight', it is the weight of another layer, or an "
            "older name of it");
  EXPECT_EQ(error({"0/qkv", "q"}),
            "`lora_targets`: 'layer/0/qkv' and 'm.h.0.q' are the same rows of 'layer/0/qkv.weight', expected one "
            "adapter for each");
  Network unnamed = text_network();
  unnamed.weight_names.clear();
  unnamed.name = "plain";
  EXPECT_EQ(error_of([&] { adapters_of(unnamed, {.rank = 2}); }),
            "`lora`: plain says of no layers that they have adapters by default; `lora_targets` has to name them, as "
            "all-linear");
  Builder net({.batch = 1});
  net.layer("conv", net.input("image", {4, 4, 2}), {{"out", 2}, {"k", 3}, {"groups", 2}}, "conv");
  const Network grouped = net.finish();
  EXPECT_EQ(error_of([&] { adapters_of(grouped, {.rank = 2, .targets = {{.pattern = "conv"}}}); }),
            "`lora_targets`: 'conv' can have no adapter: 'conv.weight', its convolution has groups");
  EXPECT_EQ(error_of([&] { adapters_of(grouped, {.rank = 2, .targets = {{.pattern = "all-linear"}}}); }),
            "`lora_targets`: all-linear means no layer here: none is fully connected but those that give the output");
}

/// The same of any network with such inputs.
void fill_inputs(const Network& network, Interpreter& values) {
  for (std::size_t i = 0; i < network.inputs.size(); ++i) values.fill_uniform(network.inputs[i], 0, 4, i);
}

/// The values of a network whose parameters are drawn by their names; adapters are added up into their weights first,
/// if there are none in it.
class Values {
 public:
  Values(const Network& network, const std::vector<Adapter>& merged, const Network& adapted)
      : network_(network), values_(network.program) {
    fill_inputs(network, values_);
    for (const ParamInfo& info : network.params) draw(values_, info.var);
    Interpreter drawn(adapted.program);
    for (const Adapter& adapter : merged) merge(adapter, adapted.program, drawn);
    values_.run();
  }
  std::vector<double> outputs() const {
    std::vector<double> all;
    const VarId out = network_.outputs.front();
    for (std::int64_t i = 0; i < elements(network_.program.vars[out].shape); ++i) all.push_back(values_.number(out, i));
    return all;
  }

 private:
  static void draw(Interpreter& values, VarId var) {
    const Var& of = values.program().vars[var];
    if (is_float(of.dtype)) values.fill_uniform(var, -1, 1, hash_of(of.name));
  }
  /// weight[row, in] += scale sum over k of b[row, k] a[k, in]; of an embedding a[row, k] b[in, k].
  void merge(const Adapter& adapter, const Program& from, Interpreter& drawn) {
    const VarId a = find_var(from, adapter.a), b = find_var(from, adapter.b);
    const VarId weight = find_var(network_.program, adapter.weight);
    draw(drawn, a), draw(drawn, b);
    const bool is_table = adapter.kind == AdapterKind::Embedding;
    const std::int64_t width = elements(network_.program.vars[weight].shape) / network_.program.vars[weight].shape[0];
    for (std::int64_t row = 0; row < adapter.rows; ++row)
      for (std::int64_t in = 0; in < width; ++in) {
        const std::int64_t at = (adapter.first + row) * width + in;
        double sum = 0;
        for (std::int64_t k = 0; k < adapter.rank; ++k)
          sum += is_table ? drawn.number(a, row * adapter.rank + k) * drawn.number(b, in * adapter.rank + k)
                          : drawn.number(b, row * adapter.rank + k) * drawn.number(a, k * width + in);
        values_.set(weight, at, values_.number(weight, at) + adapter.scale * sum);
      }
  }

  const Network& network_;
  Interpreter values_;
};

/// What adapters add is what their products added to the weights would.
void expect_merged(const std::function<Network(BuildOptions)>& make, const std::vector<LoraTarget>& targets) {
  const BuildOptions options{.batch = 2, .dtype = DType::f64};
  const Network base = make(options);
  BuildOptions with = options;
  with.adapters = adapters_of(base, {.rank = 2, .alpha = 3, .dropout = 0.5, .targets = targets});
  with.training = false;
  const Network adapted = make(with);
  EXPECT_EQ(adapted.adapters, with.adapters);
  const std::vector<double> one = Values(adapted, {}, adapted).outputs(),
                            other = Values(base, with.adapters, adapted).outputs(),
                            plain = Values(base, {}, adapted).outputs();
  double change = 0;
  ASSERT_EQ(one.size(), other.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_NEAR(one[i], other[i], 1e-12 * std::max(1.0, std::fabs(other[i]))) << i;
    change = std::max(change, std::fabs(other[i] - plain[i]));
  }
  EXPECT_GT(change, 0.01);
}

Network image_network(BuildOptions options) {
  Builder net(std::move(options));
  VarId x = net.layer("conv", net.input("image", {5, 5, 2}), {{"out", 3}, {"k", 3}, {"stride", 2}}, "spatial");
  x = net.layer("conv", net.layer("tanh", x), {{"out", 2}, {"k", 1}, {"bias", 0}}, "point");
  net.layer("fc", x, {{"out", 3}}, "head");
  return net.finish();
}

TEST(Lora, AddsWhatMergedWeightsWould) {
  const auto text = [](BuildOptions options) { return text_network(std::move(options)); };
  expect_merged(text, {{.pattern = "out"}});
  expect_merged(text, {{.pattern = "q"}, {.pattern = "v"}});
  expect_merged(text, {{.pattern = "all-linear"}, {.pattern = "k", .rank = 1}});
  expect_merged(text, {{.pattern = "tokens"}});
  expect_merged(image_network, {{.pattern = "spatial"}});
  expect_merged(image_network, {{.pattern = "point"}, {.pattern = "head"}});
}

// B begins with zeros, that of an embedding's table its A.
TEST(Lora, BeginsAsTheBaseDoes) {
  BuildOptions options{.batch = 2, .dtype = DType::f64};
  const Network base = text_network(options);
  options.adapters = adapters_of(base, {.rank = 2, .targets = {{.pattern = "all-linear"}, {.pattern = "embed"}}});
  const Network adapted = text_network(options);
  const auto loss = [](const Network& network) {
    Interpreter values(network.program);
    fill_inputs(network, values);
    for (const ParamInfo& info : network.params) {
      const Var& var = network.program.vars[info.var];
      fill_initial(info.init, 3, var.name, var.dtype, elements(var.shape), values.memory(info.var).data());
    }
    values.run();
    return values.number(network.loss);
  };
  EXPECT_EQ(loss(adapted), loss(base));
  const auto init = [&](const std::string& name) {
    return std::ranges::find(adapted.params, find_var(adapted.program, name), &ParamInfo::var)->init;
  };
  EXPECT_EQ(init("layer/0/out.lora_A"), (Init{.kind = Init::Uniform, .value = 1 / std::sqrt(6.0)}));
  EXPECT_EQ(init("layer/0/out.lora_B"), Init{});
  EXPECT_EQ(init("tokens.lora_A"), Init{});
  EXPECT_EQ(init("tokens.lora_B"), (Init{.kind = Init::Normal, .value = 1}));
}

// Its columns stand in files as those of the weight, which read an image in the order c, h, w.
TEST(Lora, HasTheColumnsOfItsWeight) {
  BuildOptions options{.batch = 2, .dtype = DType::f64};
  options.adapters = adapters_of(image_network(options), {.rank = 2, .targets = {{.pattern = "head"}}});
  const Network adapted = image_network(options);
  const auto layout = [&](const std::string& name) {
    return std::ranges::find(adapted.params, find_var(adapted.program, name), &ParamInfo::var)->layout;
  };
  EXPECT_EQ(layout("head.weight"), (FileLayout{FileLayout::FlatImage, {3, 3, 2}}));
  EXPECT_EQ(layout("head.lora_A"), layout("head.weight"));
  EXPECT_EQ(layout("head.lora_B"), FileLayout{});
}

TEST(Lora, BackwardReadsAFrozenLayersInputForAnAdapterAlone) {
  BuildOptions options{.batch = 2, .dtype = DType::f64};
  const Network base = text_network(options);
  options.adapters = adapters_of(base, {.rank = 2, .targets = {{.pattern = "h.0.proj"}}});
  for (const ParamInfo& info : base.params) options.frozen.insert(base.program.vars[info.var].name);
  Network network = text_network(options);
  const std::vector<ParamGrad> gradients = append_backward(network.program, network.loss, {}, kNone, network.frozen);
  Words trained;
  for (const ParamGrad& each : gradients) trained.push_back(network.program.vars[each.param].name);
  EXPECT_EQ(trained, (Words{"layer/0/out.lora_A", "layer/0/out.lora_B"}));
  const auto is_read = [&](const std::string& layer) {
    const std::vector<Op>& ops = network.program.blocks[0].ops;
    const VarId weight = find_var(network.program, layer + ".weight");
    const auto fc = std::ranges::find_if(ops, [&](const Op& op) { return op.type == "fc" && op.in[1] == weight; });
    return std::ranges::any_of(
        ops, [&](const Op& op) { return op.role == Role::Backward && std::ranges::count(op.in, fc->in[0]) > 0; });
  };
  EXPECT_TRUE(is_read("layer/0/out"));
  EXPECT_FALSE(is_read("layer/1/qkv"));
  EXPECT_FALSE(is_read("logits"));
}

// Two layers of one weight have one adapter, which both use.
TEST(Lora, IsSharedWithItsWeight) {
  const auto make = [](BuildOptions options) {
    Builder net(std::move(options));
    VarId x = net.layer("fc", net.input("x", {4}), {{"out", 4}}, "first");
    net.layer("fc", net.layer("tanh", x), {{"out", 4}, {"share", "first"}}, "second");
    return net.finish();
  };
  expect_merged(make, {{.pattern = "first"}});
}

}  // namespace
}  // namespace lethe::testing
