// Groups of options that say where a network runs, on how many ranks and in how much memory.
#include "framework/error.h"
#include "train/option_groups.h"
#include "train/search/processor_costs.h"
#include "train/session/device.h"
#include "train/session/memory_guest.h"
#include "train/session/programs.h"
#include "train/values.h"

namespace lethe {
namespace {

using enum Fact;

constexpr std::int64_t kMostThreads = 1024;  // far more ends in a crash of OpenMP, not in a message

}  // namespace

void add_threads(OptionSet& set, Options& o) {
  set.in("Machine");
  set.add("--threads", o.device.threads, "N", "Worker threads (default 0: one a processor)")
      ->check(whole_number(0, kMostThreads))
      ->is({Kept});
}

OptionRow* add_device_name(OptionSet& set, Options& o) {
  std::string help = "cpu, cuda, cuda:1... (default " + o.device.name + ")";
  std::vector<std::string> words = {"cpu", "cuda"};
  if (!o.facts.runs) {
    const std::vector<std::string> described = described_gpus();
    help += ";\nor a GPU that is not there: " + joined(described) +
            ",\nor a JSON file that describes one; ,memory=SIZE after it: with so much memory";
    words.insert(words.end(), described.begin(), described.end());
  }
  set.in("Machine");
  return set
      .add_read(
          "--device", [&o](const std::string& text) { read_device(text, o.device); }, "NAME", help)
      ->check(such_as(words))
      ->is({Kept, Rounds});
}

void add_machine(OptionSet& set, Options& o, bool tries) {
  add_device_name(set, o);
  set.in("Machine");
  set.add_flag("--tf32", o.device.tf32, "On a GPU: convolutions and products may round f32 factors to TF32")
      ->is({Kept, OfKind, Rounds});
  set.add_flag("--fast-conv", o.device.fast_conv,
               "On a GPU: convolutions may round more: Winograd's algorithm, FFT, factors and sums in less than f32")
      ->is({Kept, OfKind, Rounds});
  set.add_flag("--deterministic", o.device.deterministic,
               "On a GPU: the same bits in every run (the CPU gives them anyway)")
      ->is({Kept, Rounds});
  if (o.facts.runs)
    set.add_flag("--eager", o.device.eager, "On a GPU: runs steps launch by launch, not as a recorded graph")
        ->is({Kept, OfKind});
  const auto read_limit = [&o](const std::string& text) {
    o.device.workspace_limit = parse_bytes(text, "--workspace-limit");
  };
  set.add_read("--workspace-limit", read_limit, "SIZE",
               "On a GPU: scratch memory that one convolution may take (default 1GiB)")
      ->is({Kept, OfKind});
  set.add_flag(
         "--no-winograd", o.device.no_winograd,
         "On a CPU: no convolutions by Winograd's algorithm, which is faster for 3x3 and 5x5 kernels of stride 1,\n"
         "but rounds up to three times as much and takes more scratch memory")
      ->is({Kept, OfKind, Rounds});
  set.add_flag("--fast-f32", o.device.fast_f32,
               "On a CPU with AMX: f32 convolutions as three of bf16, which round more")
      ->is({Kept, OfKind, Rounds});
  if (tries)
    set.add("--autotune", o.autotune, "FILE",
            "Takes for each convolution the algorithm (on a GPU cuDNN's engine) that is fastest here, which is tried "
            "once\n"
            "and kept in FILE (default: by rule)")
        ->is({Kept, OfKind, Rounds});
  add_threads(set, o);
}

void add_accumulate(OptionSet& set, Options& o) {
  set.add_read(
         "--accumulate", [&o](const std::string& name) { o.program.shards.accumulate = dtype_named(name); }, "TYPE",
         "Sums of the parts' gradients: bf16, each rounded up or down by chance, or f32 (default)")
      ->check(one_of({"f32", "bf16"}))
      ->is({Kept});
}

void add_ranks(OptionSet& set, Options& o) {
  Shards& shards = o.program.shards;
  const auto read_zero = [&o, &shards](const std::string& text) {
    o.cheapest_zero = text == "auto";
    shards.zero = o.cheapest_zero ? 0 : std::stoi(text);
  };
  set.in("Ranks");
  set.add("--shards", shards.parts, "V",
          "Equal parts of a batch that go through the network one by one, on whichever rank: the same\n"
          "shards give the same bits on 1, 2, 4... ranks (default 1; started by mpirun up to 8)")
      ->check(whole_number(1, kMostParts))
      ->is({Fact::Kept});
  set.add_read(
      "--bucket", [&shards](const std::string& text) { shards.bucket = parse_bytes(text, "--bucket"); }, "SIZE",
      "Small gradients are summed over ranks in buckets of at least so much (default 1MiB)");
  set.add_read("--zero", read_zero, "STAGE",
               "What each rank has a share of alone (ZeRO): 1 states of the update, 2 gradients too, 3 parameters too\n"
               "(default 0: nothing); auto: whichever of these sends least and fits the --memory-budget")
      ->check(one_of({"0", "1", "2", "3", "auto"}));
  set.add_read(
         "--sum-dtype", [&shards](const std::string& name) { shards.sums = dtype_named(name); }, "TYPE",
         "What shards give is summed in this, and rounded once: f32 or f64 (default f32)")
      ->check(one_of({"f32", "f64"}))
      ->is({Fact::Kept});
  set.add_flag("--sync-bn", o.program.network.sync_bn,
               "Batch norm takes its statistics over all shards (default: each of its own)")
      ->is({Fact::Kept});
}

void add_pins(OptionSet& set, Options& o) {
  set.in("Memory");
  set.add_list(
      "--skip-vars", [&o](const std::string& name) { o.program.memory.levels.pins.skip_vars.push_back(name); }, "A,B",
      "Variables that keep memory of their own");
  set.add_flag("--skip-grads", o.program.memory.levels.pins.skip_grads,
               "So does each parameter gradient given to an optimizer op");
}

void add_memopt(OptionSet& set, Options& o, const char* standard) {
  o.program.memory = memory_setting(standard);
  std::string help =
      "none: a buffer for each variable; level=0: those of dead variables of the same shape;\n"
      "level=1: of any dead one that is large enough; each with ,release (given back within\n"
      "the step) and ,inplace; level=2: one exact arena, and as much computed again as a hundredth of a\n"
      "step pays for; level=3: all that a budget or an overhead asks for computed again";
  if (o.facts.guests)
    for (const MemoryGuest& guest : memory_guests())
      help += message(";\n", guest.for_training, " (eval: ", guest.for_evaluation, "): ", guest.help);
  const auto read = [&o](const std::string& text) { o.program.memory = memory_setting(text, o.program.memory); };
  set.in("Memory");
  set.add_read("--memopt", read, "SETTING", help + " (default " + standard + ")");
  add_pins(set, o);
}

void add_budget(OptionSet& set, Options& o) {
  MemorySetting& memory = o.program.memory;
  const auto read_budget = [&memory](const std::string& text) {
    memory.levels.budget = parse_bytes(text, "--memory-budget");
    check(memory.levels.budget > 0, "--memory-budget: nothing runs in ", text, " bytes");
  };
  set.in("Memory");
  set.add_read("--memory-budget", read_budget, "SIZE",
               "All that the device is asked for: 800MiB, 2GiB, 1500000000. Unless --memopt says another\nlevel, as "
               "little as it takes is computed again (level=3); exits with 3 if nothing fits");
  set.finally([&o, &memory] {
    if (memory.levels.budget && !o.given.contains("memopt")) memory = memory_setting("level=3", memory);
  });
  const auto read_share = [&memory](const std::string& text) {
    memory.levels.overhead = parse_share(text, "--overhead");
  };
  set.add_read("--overhead", read_share, "SHARE",
               "Of level=3: what computing again may take of a step, such as 5% (default: as much as\na forward pass)");
  set.add("--costs", o.costs, "FILE|CPU",
          "Of level=3: weighs ops by what their kernels take here, which is measured once and kept in\nFILE, or on a "
          "kind of processor: " +
              joined(processors_with_costs()) + " (default: by their operations and bytes)");
}

void add_print_log(OptionSet& set, Options& o) {
  set.in("Memory");
  set.add_flag("--print-log", o.program.memory.levels.print_log,
               "Prints what each step of the planner changes, who takes\nwhose memory, and why others do not");
}

}  // namespace lethe
