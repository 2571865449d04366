// Options of the commands that ask what weights are good for: those of a run, which says what the command line leaves
// open.
#pragma once
#include <CLI/CLI.hpp>

#include "train/options.h"

namespace lethe {

void add_eval(CLI::App& app, Options& o);
void add_predict(CLI::App& app, Options& o);
void add_generate(CLI::App& app, Options& o);
void add_export(CLI::App& app, Options& o);

}  // namespace lethe
