// Every option of every command: its name, what it takes, what it fills in, its help.
#pragma once
#include <CLI/CLI.hpp>

#include "train/options.h"

namespace lethe {

/// Adds the options of `options.command`, bound to `options`, which must outlive the app.
void add_options(CLI::App& app, Options& options);

}  // namespace lethe
