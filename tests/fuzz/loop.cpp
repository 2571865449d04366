// The main of the fuzz targets where there is no libFuzzer. It takes libFuzzer's words:
//   fuzz NAME [-runs=N] [-max_total_time=SECONDS] [-seed=K] [FILE...]
// With files it reads these alone. An input that ends the program, or takes a minute, is left in crash-NAME.
#include <sanitizer/asan_interface.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "tests/fuzz/mutator.h"

/// Read by the sanitizer as the program starts: an allocation or a program that is too large ends it.
extern "C" const char* __asan_default_options() {
  return "max_allocation_size_mb=2048:hard_rss_limit_mb=2048:detect_stack_use_after_return=0";
}

namespace lethe::fuzz {
namespace {

constexpr unsigned kMostSeconds = 60;  // of one input

std::string input, crash_file;
const Target* target = nullptr;

void keep_input() {
  std::ofstream(crash_file, std::ios::binary) << input;
  std::fprintf(stderr, "fuzz: the input is in %s\n", crash_file.c_str());
}

void end_at(int signal) {
  std::fprintf(stderr, "fuzz: %s\n", signal == SIGALRM ? "the input takes too long" : "aborted");
  keep_input();
  std::_Exit(1);
}

void run_input() {
  alarm(kMostSeconds);
  target->read_input(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

struct Arguments {
  std::uint64_t runs = UINT64_MAX, seed = 1;
  double seconds = 1e9;
  std::vector<std::string> files = {};
};

Arguments read(const std::vector<std::string>& given) {
  Arguments arguments;
  for (const std::string& arg : given) {
    const std::string value = arg.substr(std::min(arg.find('='), arg.size() - 1) + 1);
    if (arg.starts_with("-runs="))
      arguments.runs = std::stoull(value);
    else if (arg.starts_with("-seed="))
      arguments.seed = std::stoull(value);
    else if (arg.starts_with("-max_total_time="))
      arguments.seconds = std::stod(value);
    else
      arguments.files.push_back(arg);
  }
  return arguments;
}

void run_files(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    input = text_in(file);
    run_input();
  }
}

void run_mutations(const Arguments& arguments) {
  const Material given = target->material();
  Mutator mutator(given, arguments.seed);
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  std::printf("%s: seed %llu, %zu seeds, %zu words\n", target->name, static_cast<unsigned long long>(arguments.seed),
              given.seeds.size(), given.words.size());
  std::uint64_t runs = 0;
  for (; runs < arguments.runs && seconds() < arguments.seconds; ++runs) {
    input = runs < given.seeds.size() ? given.seeds[runs] : mutator.next();
    run_input();
  }
  std::printf("Done %llu runs in %.1f second(s)\n", static_cast<unsigned long long>(runs), seconds());
}

}  // namespace
}  // namespace lethe::fuzz

int main(int argc, char** argv) {
  using namespace lethe::fuzz;
  target = &chosen_target(argc, argv);
  crash_file = std::string("crash-") + target->name;
  __sanitizer_set_death_callback(keep_input);
  std::signal(SIGABRT, end_at);
  std::signal(SIGALRM, end_at);
  const Arguments arguments = read({argv + 2, argv + argc});
  if (arguments.files.empty())
    run_mutations(arguments);
  else
    run_files(arguments.files);
  alarm(0);
  __sanitizer_set_death_callback(nullptr);
  return 0;
}
