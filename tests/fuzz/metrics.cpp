// metrics.csv and its like as JSON lines, of which a run that is taken up again keeps what it does not repeat. The
// input's first byte says which.
#include "train/report/metrics.h"

#include "tests/fuzz/fuzz.h"

namespace lethe::fuzz::metrics_target {
namespace {

Material material() {
  const Record train{
      .step = 4, .epoch = 1, .split = "train", .loss = 0.5, .accuracy = 0.25, .lr = 0.1, .ms = 3, .mem_peak = 9};
  const Record eval{.step = 8, .epoch = 2, .split = "eval", .loss = 0.5, .lr = 0.1};
  return {.seeds = {std::string(1, '\0') + kCsvHeader + '\n' + csv_row(train) + '\n' + csv_row(eval) + '\n',
                    '\1' + json_line(train) + '\n' + json_line(eval) + '\n'},
          .words = {kCsvHeader, "\n", ",", "{\"step\":", "-1", "4", "5", "null", "}", "\\n"}};
}

void read_input(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return;
  static Directory directory;
  const std::string file = directory.put("metrics", text_of(data + 1, size - 1));
  const auto form = data[0] % 2 == 0 ? MetricsFile::Form::Csv : MetricsFile::Form::Json;
  reads({Exit::Data}, [&] { MetricsFile(file, form, 5); });
}

const RegisterTarget target{{"metrics", material, read_input}};

}  // namespace
}  // namespace lethe::fuzz::metrics_target
