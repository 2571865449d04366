#include "tests/train/run_samples.h"

#include <cstring>

namespace lethe::testing {
namespace {

std::vector<std::byte> content(const Var& var, std::int64_t step) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(bytes_of(var)));
  for (std::int64_t i = 0; i < elements(var.shape); ++i) {
    const std::int64_t whole = step * 1000 + static_cast<std::int64_t>(hash_of(var.name) % 100) + i;
    const auto real = static_cast<float>(whole);
    std::byte* const to = bytes.data() + i * bytes_of(var.dtype);
    if (var.dtype == DType::i64)
      std::memcpy(to, &whole, sizeof whole);
    else
      std::memcpy(to, &real, sizeof real);
  }
  return bytes;
}

}  // namespace

SmallRun::SmallRun() {
  network.name = "small";
  const auto add = [&](const char* name, Shape shape, Kind kind, DType dtype, FileLayout layout = {}) {
    const VarId var = add_var(network.program, {.name = name, .shape = std::move(shape), .dtype = dtype, .kind = kind});
    network.params.push_back({.var = var, .layout = layout});
  };
  add("conv.weight", {2, 1, 3, 2}, Kind::Param, DType::f32, {.kind = FileLayout::Conv});
  add("bn.running_mean", {2}, Kind::State, DType::f32);
  add("step", {}, Kind::State, DType::i64);
  add("fc.weight", {2, 12}, Kind::Param, DType::f32, {.kind = FileLayout::FlatImage, .hwc = {2, 3, 2}});
  add("fc.bias", {2}, Kind::Param, DType::f32);
  program = network.program;
  for (const char* name : {"conv.weight", "fc.weight", "fc.bias"}) {
    Var state = program.vars[find_var(program, name)];
    state.name.append("@momentum");
    state.kind = Kind::State;
    add_var(program, state);
  }
  store.add(program);
}

void SmallRun::fill(std::int64_t step) {
  for (const std::string& name : store.names()) {
    const std::vector<std::byte> bytes = content(store.var(name), step);
    store.write(name, bytes.data(), static_cast<std::int64_t>(bytes.size()));
  }
}

bool SmallRun::holds(std::int64_t step) const {
  for (const std::string& name : store.names())
    if (store.read(name) != content(store.var(name), step)) return false;
  return true;
}

RunState SmallRun::state(std::int64_t step) const {
  return {.network = "small",
          .program = program_id(network.program),
          .epoch = step / 7,
          .batch_in_epoch = step % 7,
          .step = step,
          .seed = 0xFFFFFFFFFFFFFFFFull,
          .batch = 128,
          .learning_rate = 0.1,
          .schedule = "multistep@32000,48000x0.1",
          .optimizer = "momentum",
          .data = "cifar10:/some/where",
          .best_score = 1.0 / 3,
          .best_step = step / 2,
          .meaning = {.classes = {"caf\xe9", "caf\xc3\xa9", "\\xe9"},
                      .mean = {0.5},
                      .deviation = {0.25},
                      .alphabet = std::string("\0a\xff", 3),
                      .tokenizer = "bpe of 3 tokens, checksum 0"},
          .options = {{"epochs", "10"}},
          .file = {.name = "small.json", .variant = "tiny", .text = "{}\n"}};
}

std::vector<float> SmallRun::floats(const std::string& name) const {
  const std::vector<std::byte> bytes = store.read(name);
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

}  // namespace lethe::testing
