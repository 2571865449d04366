// What the command line says. What it leaves out the network file's train settings give, else the built-in defaults.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "train/command.h"
#include "train/generation_options.h"
#include "train/rank_options.h"
#include "train/session/settings.h"
#include "train/tokenize_options.h"

namespace lethe {

/// Values by the options' long names: {"batch", "128"}, {"weight-decay", "1e-4"}, {"set", "n=3,w=16"}.
using OptionValues = std::map<std::string, std::string>;

struct Options {
  Command command = Command::Train;
  OptionValues given = {};  // what follows, as it was given
  std::string answer = {};  // --help, --version: print this and be done

  std::string model = {};             // a name of the zoo or a file
  std::vector<std::string> set = {};  // "k=v": vars of the network file
  DType dtype = DType::f32;
  std::optional<std::string> data = {};  // "mnist:DIR", "shapes"...
  std::optional<std::string> augment = {};
  std::int64_t skip_bad = 0;  // of `predict`: images that may be bad; elsewhere it becomes a part of `data`
  std::optional<std::int64_t> batch = {}, micro_batch = {}, context = {};            // the last of `plan`: --set length
  bool largest_batch = false, largest_micro_batch = false, largest_context = false;  // auto: what memory has room for

  std::optional<std::int64_t> epochs = {}, steps = {};
  std::int64_t patience = 0;  // evaluations without a better one, then training stops; 0: never
  std::optional<double> lr = {}, momentum = {}, beta1 = {}, beta2 = {}, eps = {};
  double min_lr = 1e-7, max_lr = 10;  // of `lr-find`
  std::optional<std::string> optimizer = {}, schedule = {}, decay = {}, no_decay = {};
  std::optional<double> weight_decay = {}, clip_norm = {}, loss_scale = {};
  bool decay_all = false;  // weight decay on bias and norm too
  std::optional<std::uint64_t> seed = {};

  RankOptions ranks = {};
  DeviceSetting device = {};
  std::string costs = {};     // file of measured costs, for level 3
  std::string autotune = {};  // file of choices among algorithms; "": by rule
  MemorySetting memopt = {};  // with --memory-budget, --overhead, --skip-vars, --skip-grads and --print-log

  std::string save = {};  // directory of checkpoints
  std::optional<Interval> save_every = {};
  int keep = 2;              // newest checkpoints kept, beside the best
  std::string resume = {};   // directory of checkpoints, or "auto"
  std::string weights = {};  // file or directory of weights to start from

  std::optional<Interval> eval_every = {};
  int log_every = 0;                        // steps between records; 0: about a second
  std::string log_json = {}, metrics = {};  // files
  std::string tensorboard = {};             // directory of event files
  bool quiet = false;

  std::string format = "text";  // of results
  bool inference = false;       // --eval of `show`, `plan`, `graph`, `timeline`
  std::int64_t top = 0;         // of `eval` and `predict`: 0 is none
  bool confusion = false, by_class = false;
  std::string output = {}, names = {};  // files; of `export` also whose names, "": the network's own

  bool json = false, sweep = false;  // of `plan`; the second of `bench` too
  std::string csv = {};
  std::string settings = "none;level=0;level=1;level=1,release;level=2";  // of `bench`: of --memopt
  int rounds = 3;
  bool profile = false, count = false, roofline = false;  // of `bench`; the last of `plan`
  std::string file = {};                                  // of `pack`
  std::vector<std::string> files = {};  // of `predict`: images and directories of images; of `tokenize`: texts
  TokenizeOptions tokens = {};
  GenerationOptions generation = {};  // of `generate`
  std::optional<std::int64_t> capacity = {};
  double seconds = 1;

  std::string backend = {};  // of `count`: whose modules, nn or cudnn
  int table = 0;             // of `tables`: 0 is all
  std::string net = {};      // of `tables`: "" is all
  bool measure = false;
  bool dump = false;                       // of `device`
  std::string shell = {};                  // of `completion`
  std::optional<std::string> layers = {};  // of `schema`: a layer, "" for all
};

/// Reads the arguments after the program's name. Fails with one line: unknown options with a suggestion, wrong values
/// with what was expected, options that exclude each other.
Options parse_options(const std::vector<std::string>& args);

/// The same command line, and `values` where it says nothing. Values without an option of the command are left out. The
/// settings of `set` are joined; the command line's win. `values` give nothing that it excludes, such as steps where it
/// gives epochs; where nothing is evaluated, they give no patience.
Options with_values(const Options& options, const OptionValues& values);

/// Fails unless the command takes the memory setting, with what stands beside it.
void check_memopt(const Options& options);

}  // namespace lethe
