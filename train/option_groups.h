// Groups of options that several commands have.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "train/options.h"

namespace lethe {

/// Whether "auto" may stand for a number of samples.
enum class Largest : std::uint8_t { IsUnknown, CanBeFound };

/// Every command that takes --zero asks the same of its auto.
inline constexpr const char* kZeroAuto =
    "--zero auto is the stage that sends least and fits the --memory-budget, which it needs; it goes without --sweep "
    "and a batch of auto";
inline constexpr const char* kBatchHelp = "Samples a step (default: the network's)";

void add_network(
    OptionSet& set, Options& o,
    const char* dtype_help = "Numbers: f32, f64; bf16 or f16 with parameters and statistics in f32 (default f32)");
void add_batch(OptionSet& set, Options& o, const char* help = kBatchHelp, Largest largest = Largest::IsUnknown);
void add_micro_batch(OptionSet& set, Options& o, Largest largest = Largest::IsUnknown);
void add_accumulate(OptionSet& set, Options& o);  // of the parts; a part of add_micro_batch()
void add_context(OptionSet& set, Options& o);
void add_ranks(OptionSet& set, Options& o);
/// --eval, under the title that was said last.
void add_evaluation(OptionSet& set, Options& o, const char* help);
/// --eval-every, there too; 0 says that a run is not evaluated, so its programs need no evaluation.
OptionRow* add_eval_every(OptionSet& set, Options& o, const char* help);
void add_best(OptionSet& set, Options& o);  // there too: by which measure of evaluation
OptionRow* add_skip_bad(OptionSet& set, std::int64_t& most, const char* help);
void add_tokenizer(OptionSet& set, Options& o);
void add_data(OptionSet& set, Options& o, Largest largest = Largest::IsUnknown);  // with the batch and bad files
void add_augment(OptionSet& set, Options& o);                                     // with the sampler
void add_sampler(OptionSet& set, Options& o);         // in which order training takes samples
void add_class_weights(OptionSet& set, Options& o);   // in the loss; a part of the update rule
OptionRow* add_weights(OptionSet& set, Options& o);   // to start from
OptionRow* add_fresh(OptionSet& set, Options& o);     // what of them may be new
OptionRow* add_ignore(OptionSet& set, Options& o);    // what of their file nobody reads
OptionRow* add_adapter(OptionSet& set, Options& o);   // what stands beside them
void add_weights_of_run(OptionSet& set, Options& o);  // whose run says what the command line leaves open
void add_seed(OptionSet& set, Options& o);
void add_optimizer(OptionSet& set, Options& o);    // with learning rate and schedule
void add_update_rule(OptionSet& set, Options& o);  // without
void add_averages(OptionSet& set, Options& o);     // of weights, which are a part of add_optimizer()
void add_own_rates(OptionSet& set, Options& o);    // of some parameters, which both have
void add_storage(OptionSet& set, Options& o);      // of parameters and states; a part of both, too
void add_frozen(OptionSet& set, Options& o);       // which parameters; a part of both
void add_lora(OptionSet& set, Options& o);         // a part of add_network
void add_course(OptionSet& set, Options& o);       // of a training run
void add_checkpoints(OptionSet& set, Options& o);  // of one, and what it begins from
/// What a picture is of, and the machine.
void add_pictured(OptionSet& set, Options& o);
void add_threads(OptionSet& set, Options& o);
OptionRow* add_device_name(OptionSet& set, Options& o);           // the one in `o` is the default
void add_machine(OptionSet& set, Options& o, bool tries = true);  // device and threads; with `tries` --autotune
void add_pins(OptionSet& set, Options& o);
/// With the pins; `standard` is the default.
void add_memopt(OptionSet& set, Options& o, const char* standard);
/// --memory-budget and --overhead.
void add_budget(OptionSet& set, Options& o);
void add_print_log(OptionSet& set, Options& o);
/// What a command begins with that runs a network over data: these two, the machine and the memory it takes.
void add_setup(OptionSet& set, Options& o, Largest largest = Largest::IsUnknown);
/// The first of `forms` is the default.
void add_format(OptionSet& set, Options& o, std::vector<std::string> forms);

}  // namespace lethe
