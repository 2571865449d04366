// shares.json of a checkpoint of one rank, whose file is there.
#include "kernels/cpu/device.h"
#include "tests/fuzz/fuzz.h"
#include "train/session/share_files.h"

namespace lethe::fuzz::shares_target {
namespace {

void save_in(const Directory& directory) {
  Program program;
  add_var(program, {.name = "fc.weight", .shape = {2, 3}, .dtype = DType::f32, .kind = Kind::Param});
  add_var(program, {.name = "step", .shape = {}, .dtype = DType::i64, .kind = Kind::State});
  const std::unique_ptr<Device> device = open_cpu(1);
  Store store(*device);
  store.add(program);
  save_shares(directory.path(), 400, {{.var = program.vars[0], .names = {"fc.weight"}}},
              {{.var = program.vars[1], .names = {"step"}}}, store);
}

Material material() {
  const Directory directory;
  save_in(directory);
  return {
      .seeds = {text_in(directory.path() + "/shares.json")},
      .words = {"\"version\":", "\"step\":", "\"ranks\":", "\"weights\":", "\"states\":", "\"dtype\":", "\"shape\":",
                "\"checksums\":", "\"f32\"", "\"i64\"", "[", "]", "{", "}", "null", "0", "-1", "4294967296", "\\n"}};
}

void read_input(const std::uint8_t* data, std::size_t size) {
  static const Directory directory;
  [[maybe_unused]] static const bool saved = (save_in(directory), true);
  const std::string index = directory.put("shares.json", text_of(data, size));
  for (const SharesOf which : {SharesOf::Weights, SharesOf::States})
    reads({Exit::Data}, [&] {
      const std::unique_ptr<TensorReader> reader = read_shares(index, which);
      for (const TensorEntry& tensor : reader->tensors()) reader->read(tensor);
    });
}

const RegisterTarget target{{"shares", material, read_input}};

}  // namespace
}  // namespace lethe::fuzz::shares_target
