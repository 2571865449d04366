// Programs as text. What keeps the rules of a Program reads back as the same.
#include "framework/language/op_def.h"
#include "framework/language/text.h"
#include "framework/language/verify.h"
#include "framework/language/views.h"
#include "models/network.h"
#include "tests/fuzz/fuzz.h"

namespace lethe::fuzz::program_text_target {
namespace {

void read_twice(std::string_view text) {
  const Program program = parse_program(text);
  verify(program);
  views_of(program);
  const std::string written = to_text(program);
  require(to_text(parse_program(written)) == written, "a program reads back as another");
}

std::string network(const char* name) {
  const std::string file = std::string(LETHE_SOURCE_DIR) + "/models/" + name;
  return to_text(load_network(file, {.batch = 2}).program);
}

/// Parts of wider vars.
constexpr const char* kViews =
    "input x f32[4,6]\ntemp a f32[4,2] pitch 6\ntemp b f32[4,2] pitch 4\ntemp c f32[4,2] pitch 4\ntemp y f32[4,4]\n"
    "block 0 {\n  a = slice_view(x) {axis=1, begin=3, end=5}\n  b = relu(a)\n  c = tanh(a)\n"
    "  y = concat_view(b, c) {axis=1}\n}\n";

Material material() {
  Material all{.seeds = {network("mlp.json"), network("lenet.json"), network("char_lstm.json"),
                         network("adaptive_depth.json"), kViews},
               .words = {"input ", "param ", "state ", "temp ",     "block ",    " parent ", " results (", " {", "}",
                         "f32[",   "f64[",   "bf16[",  "f16[",      "i32[",      "i64[",     "u8[",        "]",  " = ",
                         "(",      ")",      "_",      " backward", " optimize", " pitch ",  "\""}};
  for (const OpDef* op : all_ops()) all.words.push_back(op->type + "(");
  return all;
}

void read_input(const std::uint8_t* data, std::size_t size) {
  reads({Exit::Usage}, [&] { read_twice(text_of(data, size)); });
}

const RegisterTarget target{{"program_text", material, read_input}};

}  // namespace
}  // namespace lethe::fuzz::program_text_target
