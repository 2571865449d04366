// Packing instances as comma-separated text: read, packed if they are small, and written.
#include "train/report/pack_csv.h"

#include "tests/fuzz/fuzz.h"

namespace lethe::fuzz::pack_csv_target {
namespace {

constexpr std::size_t kMostPacked = 16;

void pack_table(const std::string& file) {
  const PackTable table = read_pack_csv(file);
  require(table.ids.size() == table.items.size(), "each buffer has an id");
  if (table.items.size() > kMostPacked) return;
  const Packing packing = pack(table.items, {.seconds = 0});
  require(packing.height >= packing.lower_bound, "a packing is at least as high as its bound");
  pack_csv(table, packing.offsets);
}

Material material() {
  return {.seeds = {"id,lower,upper,size\n", "id,lower,upper,size\n0,0,3,4\n1,3,6,4\nx,1,5,8\n",
                    "lower,upper,id,offset,size\r\n-5,5,a,0,1\r\n\r\n5,7,b,0,100\r\n"},
          .words = {"id", "lower", "upper", "size", "offset", ",", "\n", "\r\n", "\xEF\xBB\xBF"}};
}

void read_input(const std::uint8_t* data, std::size_t size) {
  static Directory directory;
  const std::string file = directory.put("table.csv", text_of(data, size));
  reads({Exit::Data}, [&] { pack_table(file); });
}

const RegisterTarget target{{"pack_csv", material, read_input}};

}  // namespace
}  // namespace lethe::fuzz::pack_csv_target
