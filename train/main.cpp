// The command line: reads it, runs the command, says in one line what went wrong.
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <vector>

#include "framework/error.h"
#include "train/commands.h"
#include "train/report/streams.h"
#include "train/session/atomic_file.h"

namespace lethe {
namespace {

int run_command(const Options& options) {
  switch (options.command) {
    case Command::Train:
      return train(options);
    case Command::Eval:
      return evaluate(options);
    case Command::Predict:
      return predict(options);
    case Command::LrFind:
      return lr_find(options);
    case Command::Show:
      return show(options);
    case Command::Export:
      return export_weights(options);
    case Command::Bench:
      return bench(options);
    case Command::Plan:
      return plan(options);
    case Command::Graph:
      return write_graph(options);
    case Command::Timeline:
      return write_timeline(options);
    case Command::Pack:
      return pack_file(options);
    case Command::Schema:
      return print_schema(options);
    case Command::Count:
      return count_memory(options);
    case Command::Tables:
      return tables(options);
    case Command::Device:
      return list_devices(options);
    case Command::Completion:
      return print_completion(options);
    case Command::Man:
      return print_man_page(options);
  }
  return static_cast<int>(Exit::Internal);
}

int run(const std::vector<std::string>& args) {
  const Options options = parse_options(args);
  if (!options.answer.empty()) {
    write_result("", options.answer);
    return 0;
  }
  const int code = run_command(options);
  finish_output();
  return code;
}

int complain(const char* what, Exit code) {
  std::fprintf(stderr, "train: error: %s\n", what);
  return static_cast<int>(code);
}

}  // namespace
}  // namespace lethe

int main(int argc, char** argv) {
  using lethe::Exit;
  lethe::open_missing_streams();
  std::signal(SIGXFSZ, SIG_IGN);  // a file size limit is an error of the write, like a full disk
  try {
    return lethe::run({argv + 1, argv + argc});
  } catch (const lethe::Error& error) {
    return lethe::complain(error.what(), error.code);
  } catch (const std::filesystem::filesystem_error& error) {
    return lethe::complain(lethe::error_of(error).what(), Exit::Data);
  } catch (const std::bad_alloc&) {
    return lethe::complain("the machine has no memory left", Exit::Device);
  } catch (const std::exception& error) {
    return lethe::complain(error.what(), Exit::Internal);
  }
}
