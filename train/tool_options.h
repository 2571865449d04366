// Options of the commands beside training: what a file may say, other tools' memory, texts, devices, the shell.
#pragma once
#include <CLI/CLI.hpp>

#include "train/options.h"

namespace lethe {

void add_schema(CLI::App& app, Options& o);
void add_pack(CLI::App& app, Options& o);
void add_tokenize(CLI::App& app, Options& o);
void add_count(CLI::App& app, Options& o);
void add_tables(CLI::App& app, Options& o);
void add_device(CLI::App& app, Options& o);
void add_completion(CLI::App& app, Options& o);

}  // namespace lethe
