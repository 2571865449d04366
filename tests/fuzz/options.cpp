// Command lines, an argument a line; and the values of a checkpoint that a run takes up again.
#include "train/options.h"

#include <sstream>

#include "tests/fuzz/fuzz.h"

namespace lethe::fuzz::options_target {
namespace {

void read(std::string_view text) {
  std::istringstream lines{std::string(text)};
  std::vector<std::string> args;
  for (std::string line; std::getline(lines, line);) args.push_back(line);
  const Options options = parse_options(args);
  with_values(options, {{"batch", "3"}, {"lr", "0.5"}, {"set", "n=3"}});
}

Material material() {
  return {.seeds = {"--model=lenet\n--batch\n64\n--lr=0.1\n--set\nn=3,w=16\n--schedule=cosine\n",
                    "plan\n--model=resnet20\n--memory-budget\n1GiB\n--device\nh200\n--memopt=level=1,release\n",
                    "eval\n--model\nlenet\n--data=mnist:DIR\n--weights=runs\n--threads=2\n", "--help\n",
                    "pack\nbuffers.csv\n--time=2\n", "--resume=runs\n--epochs=5\n--save-every=2e\n--seed=7\n",
                    "bench\n--model=lenet\n--settings=none;level=2\n"},
          .words = {"--", "=", "\n", "--dtype=bf16\n", "--optimizer=adamw\n", "--help\n", "--version\n", "--quiet\n",
                    "show\n", "--eval\n", "--json\n", "--format=dot\n", "--skip-vars=a,b\n", "--resume=auto\n",
                    "--device=cuda:0\n", "--augment=flip\n"}};
}

void read_input(const std::uint8_t* data, std::size_t size) {
  reads({Exit::Usage, Exit::Device}, [&] { read(text_of(data, size)); });
}

const RegisterTarget target{{"options", material, read_input}};

}  // namespace
}  // namespace lethe::fuzz::options_target
