// The commands of the program `train`. Each gives its exit code or throws an Error.
#pragma once
#include "train/options.h"

namespace lethe {

int train(const Options& options);
int evaluate(const Options& options);
int predict(const Options& options);
int generate(const Options& options);
int lr_find(const Options& options);
int show(const Options& options);
int export_weights(const Options& options);
int plan(const Options& options);
int bench(const Options& options);
int profile(const Options& options);         // `bench --profile`
int count_launches(const Options& options);  // `bench --count`
int roofline(const Options& options);        // `plan --roofline`
int write_graph(const Options& options);
int write_timeline(const Options& options);
int pack_file(const Options& options);
int tokenize(const Options& options);
int print_schema(const Options& options);
int count_memory(const Options& options);
int tables(const Options& options);
int list_devices(const Options& options);
int print_completion(const Options& options);
int print_man_page(const Options& options);

}  // namespace lethe
