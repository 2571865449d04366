// An array of NumPy's.
#include "tests/fuzz/fuzz.h"
#include "train/data/npy_file.h"

namespace lethe::fuzz::npy_target {
namespace {

void read_all(const std::string& path) {
  const NpyFile file(path);
  require(file.rows() > 0 && file.row_elements() > 0, "an array has elements");
  std::vector<std::byte> values(static_cast<std::size_t>(8 * file.row_elements()));
  for (std::int64_t row = 0; row < file.rows(); ++row)
    for (const DType dtype : {DType::f64, DType::i32}) file.read(row, {}, dtype, values.data());
}

std::string array(int version, const std::string& descr, const std::string& shape, std::size_t bytes) {
  const std::string dict = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }\n";
  std::string file =
      std::string("\x93NUMPY") + static_cast<char>(version) + '\0' + static_cast<char>(dict.size()) + '\0';
  if (version == 2) file += std::string(2, '\0');
  return file + dict + std::string(bytes, '\0');
}

Material material() {
  return {.seeds = {array(1, "<f4", "(2, 3)", 24), array(2, "<i8", "(2,)", 16), array(1, "|b1", "(5,)", 5)},
          .words = {"<f8", "<i4", "|u1", "True", "(", ")", ",", "'", "}", "{"}};
}

void read_input(const std::uint8_t* data, std::size_t size) {
  static Directory directory;
  const std::string file = directory.put("x.npy", text_of(data, size));
  reads({Exit::Data}, [&] { read_all(file); });
}

const RegisterTarget target{{"npy", material, read_input}};

}  // namespace
}  // namespace lethe::fuzz::npy_target
