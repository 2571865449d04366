// `train predict`: what a trained network sees in image files, or says of texts.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <sstream>
#include <utility>

#include "framework/builder/network_part.h"
#include "framework/error.h"
#include "framework/language/channel_order.h"
#include "framework/program_name.h"
#include "framework/text_input.h"
#include "train/data/data_files.h"
#include "train/data/data_spec.h"
#include "train/data/folder_tokenizer.h"
#include "train/data/image_folder.h"
#include "train/data/labelled_texts.h"
#include "train/data/table.h"
#include "train/option_groups.h"
#include "train/report/option_names.h"
#include "train/report/result_lines.h"
#include "train/session/device.h"
#include "train/session/embedder.h"
#include "train/session/fed_data.h"
#include "train/session/predictor.h"
#include "train/session/row_predictor.h"
#include "train/session/start.h"
#include "train/weights_recipe.h"

namespace lethe {
namespace {

struct PredictAsked {
  std::vector<std::string> files = {};  // images and directories of images, or texts
  std::int64_t top = 5, skip_bad = 0;   // of images that may be bad
  bool embeds = false;                  // texts, in place of naming their classes
};

bool reads_texts(const Network& network) { return is_fed_by_data(network) && takes_texts(network); }

/// An image's file, or a text.
struct Item {
  std::string name = {};  // a file; of texts also the line
  std::string text = {};
};

/// Directories stand for the images in them; a line says how many these are and what is passed over.
std::vector<Item> images_of(const std::vector<std::string>& given) {
  std::vector<Item> items;
  for (const std::string& path : given) {
    std::error_code unknown;  // reading the file says what is wrong with it
    if (!std::filesystem::is_directory(path, unknown)) {
      items.push_back({.name = path});
      continue;
    }
    PassedOver others;
    const std::vector<std::filesystem::path> images = images_in(path, others);
    check_as(Exit::Data, !images.empty(), path, ": no .png, .jpg or .jpeg file in this directory", text_of(others));
    say(message(path, ": images: ", images.size(), text_of(others)));
    for (const std::filesystem::path& image : images) items.push_back({.name = image.string()});
  }
  return items;
}

/// Each line of the files is a text.
std::vector<Item> texts_of(const std::vector<std::string>& files) {
  std::vector<Item> items;
  for (const std::string& file : files) {
    const FileBytes bytes = read_text_file(file);
    std::istringstream lines(std::string(bytes.begin(), bytes.end()));
    Item item;
    for (std::int64_t number = 1; with_context(file, [&] { return read_line(lines, item.text); }); ++number) {
      if (item.text.ends_with('\r')) item.text.pop_back();
      item.name = message(file, ':', number);
      items.push_back(item);
    }
  }
  check_as(Exit::Data, !items.empty(), files.front(), ": has no line to say anything of");
  return items;
}

std::size_t widest_name(const std::vector<Item>& items) {
  std::size_t widest = 0;
  for (const Item& item : items) widest = std::max(widest, item.name.size());
  return widest;
}

/// Of the data set that the run trained on, as the run noted it, unless the command line names another.
ImageInput image_input(const Options& given, const Options& options, const std::optional<SavedRun>& run,
                       const Network& network) {
  ImageInput input;
  if (options.data.spec)
    if (const DataSpec spec(*options.data.spec); spec.kind == "imagefolder") input.folder = spec.folder().options;
  const Meaning known = meaning_to_weights(options, run, network, say);
  if (!known.classes.empty() && !known.mean.empty() && !given.data.spec) {
    input.data = {.classes = known.classes, .mean = known.mean, .deviation = known.deviation};
  } else {
    check_data_known(options, run);
    input.data =
        data_that_says<Dataset>(*open_data(options.data, options.program.network.seed, network, say, known)).info();
  }
  const std::int64_t classes = network.classes;
  input.data.image = image_shape_of(network.program.vars[fed_inputs(network).samples].shape);
  const auto channels = static_cast<std::size_t>(input.data.image.channels);
  check(channels == 1 || channels == 3, "image files have 1 or 3 channels, the network takes ", channels,
        channel_order_hint({input.data.image.channels, input.data.image.height, input.data.image.width}));
  check_as(Exit::Data, std::ssize(input.data.classes) == classes, "the data has ", input.data.classes.size(),
           " classes, the network tells ", classes, " apart", set_hint("classes", std::ssize(input.data.classes)));
  check_as(Exit::Data, input.data.mean.size() == channels && input.data.deviation.size() == channels,
           "the data has images of ", input.data.mean.size(), " channels, the network takes ", channels);
  return input;
}

/// Writes an item as a sample of the network, or fails.
using WriteItem = std::function<void(const Item& item, std::byte* sample)>;

/// What symbols of texts and labels mean.
struct TextMeaning {
  std::shared_ptr<const Vocabulary> vocabulary = {};
  std::vector<std::string> classes = {};
};

/// That of the run, as it noted it, or else of its data or what the command line names.
TextMeaning text_meaning(const Options& given, const Options& options, const std::optional<SavedRun>& run,
                         const Network& network) {
  const Meaning known = meaning_to_weights(options, run, network, say);
  if (!known.alphabet.empty() && !given.data.spec) return {characters_of(known.alphabet), known.classes};
  if (!options.data.tokenizer.empty() && !given.data.spec) {
    std::shared_ptr<const Vocabulary> vocabulary = open_folder_tokenizer(options.data.tokenizer).tokenizer;
    check_means({.alphabet = known.alphabet, .tokenizer = known.tokenizer}, {.tokenizer = vocabulary->identity()},
                "--tokenizer " + options.data.tokenizer);
    return {std::move(vocabulary), known.classes};
  }
  check_data_known(options, run);
  const std::unique_ptr<Samples> data = open_data(options.data, options.program.network.seed, network, {}, known);
  const TextsInfo& texts = data_that_says<LabelledTexts>(*data).info();
  return {texts.vocabulary, texts.classes};
}

WriteItem texts_as(std::shared_ptr<const Vocabulary> vocabulary, std::int64_t length) {
  return [vocabulary, length](const Item& item, std::byte* sample) {
    with_context(item.name, [&] {
      check_as(Exit::Data, !item.text.empty(), "the text is empty");
      write_text(*vocabulary, item.text, length, reinterpret_cast<std::int32_t*>(sample));
    });
  };
}

WriteItem images_as(const ImageInput& input, const Var& samples) {
  return [reader = std::make_shared<ImageReader>(input, samples)](const Item& item, std::byte* sample) {
    reader->read(item.name, sample);
  };
}

/// Gives whether no more items than `may_be_bad` could not be read; says of these why.
template <class Reader>
bool read_all(Reader& reader, const std::vector<Item>& items, const WriteItem& write, const ResultLines& lines,
              std::int64_t may_be_bad) {
  std::int64_t bad = 0;
  for (const Item& item : items) {
    try {
      reader.add(item.name, [&](std::byte* sample) { write(item, sample); });
    } catch (const Error& error) {
      say(message(++bad > may_be_bad ? message(program_name(), ": error: ") : "passed over: ", error.what()));
    }
    if (reader.is_full()) lines.print(reader.run());
  }
  lines.print(reader.run());
  return bad <= may_be_bad;
}

/// Of rows of tables, by what the run knows of their columns.
void predict_rows(const PredictAsked& asked, const Options& options, const Meaning& known) {
  check(!asked.embeds, "--embed is for networks that read text");
  check(asked.skip_bad == 0,
        "--skip-bad is for images and texts; the rows of a table are read before any is predicted");
  NetworkSetting setting = options.program.network;
  const std::int64_t most = std::exchange(setting.batch, 1);
  for (const std::string& file : asked.files) {
    const Network one = build_network(setting, false);
    const TableRows rows = open_rows(file, one, fed_inputs(one), say, known);
    NetworkSetting of_rows = setting;
    of_rows.batch = std::min(most, std::ssize(rows.places));
    const Network network = build_network(of_rows, false);
    const std::unique_ptr<Device> device = open_device(options.device);
    Prepared prepared(*device);
    const Planned planned = plan_evaluation(network, options.program.memory, prepared);
    device->reserve(reserved_bytes({&planned}, 0, device->info().alignment));
    Store store(*device);
    RowPredictor predictor(network, planned, prepared, store, rows);
    read_weights(options.checkpoints.weights, store, network, say);
    const RowResults results = predictor.run(known.targets, asked.top);
    std::vector<std::string> names = known.classes;
    for (const TableColumn& target : known.targets) names.push_back(target.name);
    const ResultLines lines(options.format == "json", rows.places.back().size(), names);
    network.correct != kNone ? lines.print(results.guesses) : lines.print(results.numbers);
  }
}

int predict(const PredictAsked& asked, const Options& given) {
  check(!given.checkpoints.weights.path.empty(),
        "--weights is missing: the directory of a run or checkpoint, or a safetensors file");
  const std::optional<SavedRun> run = run_of_weights(given.checkpoints.weights.path);
  const Options options = decided_by_run(given, run);
  note_other_numbers(options, run, say);
  if (const Meaning known = meaning_of(run); !known.columns.empty()) {
    check(!given.data.spec, "--data: the run says what columns mean, which was trained on a table");
    predict_rows(asked, options, known);
    return 0;
  }
  ProgramSetting setting = options.program;
  const std::int64_t most = std::exchange(setting.network.batch, 1);
  const bool of_texts = reads_texts(build_network(setting.network, false));
  const std::vector<Item> items = of_texts ? texts_of(asked.files) : images_of(asked.files);
  setting.network.batch = std::min(most, std::ssize(items));
  Network network = build_network(setting.network, false);
  std::vector<std::string> classes;
  WriteItem write;
  if (of_texts) {
    const TextMeaning meaning = text_meaning(given, options, run, network);
    classes = meaning.classes;
    write = texts_as(meaning.vocabulary, symbols_of_sample(network));
  } else {
    check(!asked.embeds, "--embed is for networks that read text and say one thing of it, as bert does; ", network.name,
          " does not");
    check_takes_images(network);
    const ImageInput input = image_input(given, options, run, network);
    if (setting.pixels) take_bytes(network, PixelNorm{input.data.mean, input.data.deviation});
    classes = input.data.classes;
    write = images_as(input, network.program.vars[fed_inputs(network).samples]);
  }
  if (asked.embeds) {
    const std::int64_t most = tokens_pooled(options.checkpoints.weights.path), length = symbols_of_sample(network);
    if (most > 0 && most < length)
      say(message("note: its makers read ", most, " tokens of a text, this network ", length, "; --set ", kContextVar,
                  '=', most, " reads as many"));
    network = embedding_of(network);
  }
  const std::unique_ptr<Device> device = open_device(options.device);
  Prepared prepared(*device);
  const Planned planned = plan_evaluation(network, setting.memory, prepared);
  device->reserve(reserved_bytes({&planned}, 0, device->info().alignment));
  Store store(*device);
  const ResultLines lines(options.format == "json", widest_name(items), classes);
  const auto all_by = [&](auto reader) {
    read_weights(options.checkpoints.weights, store, network, say);
    return read_all(reader, items, write, lines, asked.skip_bad);
  };
  const bool done = asked.embeds ? all_by(Embedder(network, planned, prepared, store))
                                 : all_by(Predictor(network, planned, prepared, store, asked.top));
  return static_cast<int>(done ? Exit::Done : Exit::Data);
}

Run declare_predict(OptionSet& set, Options& o) {
  const auto own = std::make_shared<PredictAsked>();
  o.program.network.logits = true;
  add_network(set, o);
  set.add_positional(
         "file", own->files, "FILE|DIR...",
         "PNG and JPEG files, or directories of them; for a network that reads text, files of a text each line;\n"
         "for one that was trained on a table, tables with its columns",
         true)
      ->required();
  add_weights_of_run(set, o);
  add_ignore(set, o);
  set.in("Data");
  set.add("--data", o.data.spec, "SPEC",
          "Data set that says how images are normalised, or what symbols of texts stand for, and what\n"
          "classes are called (default: the run's)")
      ->is({Fact::OfNetwork});
  add_tokenizer(set, o);
  add_skip_bad(set, own->skip_bad,
               "Passes over up to N image files that cannot be read, with a line for each (default 0)");
  add_batch(set, o, "Images, texts or rows at a time (default 1)");
  set.in("Output");
  set.add("--top", own->top, "K", "Likeliest classes that are named of each image or text (default 5)")
      ->check(whole_number(1));
  set.add_flag("--embed", own->embeds,
               "Instead: the embedding of each text, the mean of what becomes of its tokens, of length 1")
      ->excludes("--top");
  add_format(set, o, {"text", "json"});
  add_machine(set, o);
  add_memopt(set, o, "level=2");
  return [own](const Options& options) { return predict(*own, options); };
}

const RegisterCommand predict_command{
    {.word = "predict",
     .help = "Says what a trained network sees in image files, texts or tables.",
     .examples = {{"train predict --weights runs/r20 photo.png", "the five likeliest classes"},
                  {"train predict --weights runs/sst --embed texts.txt", "a row of numbers for each text"},
                  {"train predict --weights runs/prices houses.csv", "what each row comes to"}},
     .facts = {.runs = true, .takes_run = true, .evaluates = true, .one_sample = true},
     .declare = declare_predict}};

}  // namespace
}  // namespace lethe
