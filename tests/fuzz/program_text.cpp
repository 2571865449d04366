// Programs as text. What keeps the rules of a Program reads back as the same.
#include "framework/op_def.h"
#include "framework/text.h"
#include "framework/verify.h"
#include "models/network.h"
#include "tests/fuzz/fuzz.h"

namespace lethe::fuzz {
namespace {

void read_twice(std::string_view text) {
  const Program program = parse_program(text);
  verify(program);
  const std::string written = to_text(program);
  require(to_text(parse_program(written)) == written, "a program reads back as another");
}

std::string network(const char* name) {
  const std::string file = std::string(LETHE_SOURCE_DIR) + "/models/" + name;
  return to_text(load_network(file, {.batch = 2}).program);
}

}  // namespace

Material material() {
  Material all{
      .seeds = {network("mlp.json"), network("lenet.json"), network("char_lstm.json"), network("adaptive_depth.json")},
      .words = {"input ", "param ", "state ", "temp ", "block ", " parent ",  " results (", " {",
                "}",      "f32[",   "f64[",   "bf16[", "f16[",   "i32[",      "i64[",       "u8[",
                "]",      " = ",    "(",      ")",     "_",      " backward", " optimize",  "\""}};
  for (const OpDef* op : all_ops()) all.words.push_back(op->type + "(");
  return all;
}

}  // namespace lethe::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  lethe::fuzz::reads({lethe::Exit::Usage}, [&] { lethe::fuzz::read_twice(lethe::fuzz::text_of(data, size)); });
  return 0;
}
