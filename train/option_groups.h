// Groups of options that several commands have.
#pragma once
#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "train/options.h"

namespace lethe {

/// An option whose last value counts, with `text` for what it takes.
template <class T>
CLI::Option* add_option(CLI::App& app, const char* name, T& value, const char* text, const std::string& help) {
  return app.add_option(name, value, help)->option_text(text)->take_last();
}

/// One that takes steps or epochs.
CLI::Option* add_interval(CLI::App& app, const char* name, std::optional<Interval>& value, const std::string& help);

void add_network(CLI::App& app, Options& o);
void add_batch(CLI::App& app, Options& o, const char* help);
void add_micro_batch(CLI::App& app, Options& o);
void add_context(CLI::App& app, Options& o);
void add_ranks(CLI::App& app, Options& o);
void add_skip_bad(CLI::App& app, Options& o, const std::string& help);
void add_data(CLI::App& app, Options& o);            // with the batch and bad files
void add_weights(CLI::App& app, Options& o);         // to start from
void add_weights_of_run(CLI::App& app, Options& o);  // whose run says what the command line leaves open
void add_seed(CLI::App& app, Options& o);
void add_optimizer(CLI::App& app, Options& o);    // with learning rate and schedule
void add_update_rule(CLI::App& app, Options& o);  // without
void add_threads(CLI::App& app, Options& o);
void add_device_name(CLI::App& app, Options& o);  // the one in `o` is the default
void add_machine(CLI::App& app, Options& o);      // device and threads
void add_pins(CLI::App& app, Options& o);
/// The option alone, which keeps what else `o.memopt` has.
CLI::Option* add_memopt_text(CLI::App& app, Options& o, const std::string& help);
/// With the pins; `standard` is the default.
void add_memopt(CLI::App& app, Options& o, const char* standard);
/// --memory-budget and --overhead.
void add_budget(CLI::App& app, Options& o);
void add_print_log(CLI::App& app, Options& o);
/// The first of `forms` is the default.
void add_format(CLI::App& app, Options& o, std::vector<std::string> forms);

}  // namespace lethe
