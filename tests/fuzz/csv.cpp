// A table in comma-separated values.
#include "framework/builder/builder.h"
#include "tests/fuzz/fuzz.h"
#include "train/data/table.h"

namespace lethe::fuzz::csv_target {
namespace {

void read_all(const std::string& file) {
  static const Network network = [] {
    Builder net({.batch = 1});
    const VarId x = net.input("x", {2}), b = net.input("b", {}, DType::i32);
    net.loss(
        "mse",
        net.layer("add", {net.layer("fc", x, {{"out", 1}}), net.layer("embedding", b, {{"vocab", 9}, {"out", 1}})}),
        net.input("y", {1}));
    return net.finish();
  }();
  const FedInputs fed{.inputs = network.inputs, .samples = network.inputs[0], .target = network.inputs[2]};
  const auto data = open_table(DataSpec("csv:" + file + ",target=d,categories=b"), network, fed, {}, {});
  struct Row {
    float x[2];
    std::int32_t b;
    float y;
  } row;
  for (const Split split : {Split::Train, Split::Test})
    for (std::int64_t i = 0; i < data->size(split); ++i) {
      data->read(split, i, reinterpret_cast<std::byte*>(&row), nullptr);
      require(row.b >= 0 && row.b <= std::ssize(data->meaning().columns[1].categories), "a category has a number");
    }
}

Material material() {
  std::string rows;
  for (int row = 0; row < 12; ++row) rows += std::string(1, static_cast<char>('0' + row % 10)) + ",x,3,-1e2\n";
  return {.seeds = {"a,b,c,d\n" + rows, "a,b,c,d\r\n\"1\",\"y\"\"z\",2,3\r\n,,,0\r\n" + rows},
          .words = {",", "\n", "\r\n", "\"", "\"\"", "1e9", "-", "+"}};
}

void read_input(const std::uint8_t* data, std::size_t size) {
  static Directory directory;
  const std::string file = directory.put("t.csv", text_of(data, size));
  reads({Exit::Data, Exit::Usage}, [&] { read_all(file); });
}

const RegisterTarget target{{"csv", material, read_input}};

}  // namespace
}  // namespace lethe::fuzz::csv_target
