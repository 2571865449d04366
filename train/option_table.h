// Every option of every command: its name, what it takes, what it fills in, its help.
#pragma once
#include <CLI/CLI.hpp>

#include "train/options.h"

namespace lethe {

/// Makes `app` the command line of `options.command`: its help and its options, bound to `options`, which must outlive
/// the app.
void set_up(CLI::App& app, Options& options);
/// Whether the command works on a network, and so has --model.
bool has_network(Command command);
/// Whether it runs programs, and not only plans them.
bool runs(Command command);

}  // namespace lethe
