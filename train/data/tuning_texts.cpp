// Texts to tune a network on: what comes after a prompt is learned, and so is the token that ends a text.
#include <algorithm>
#include <numeric>
#include <span>

#include "framework/error.h"
#include "train/data/folder_tokenizer.h"
#include "train/data/held_out.h"
#include "train/data/json_lines.h"
#include "train/data/packing.h"
#include "train/data/samples.h"
#include "train/data/sequences.h"

namespace lethe {
namespace {

/// A text in a window: each of its tokens but the last, beside the one that follows.
struct WindowText {
  std::int64_t first = 0;             // of its tokens, among those of all
  std::int32_t count = 0, given = 0;  // places that it takes, and how many of these have a label that does not count
};

/// The windows of a split.
struct Windows {
  std::vector<WindowText> texts = {};   // window by window
  std::vector<std::int64_t> ends = {};  // of each window, in `texts`
};

struct TuningWindows {
  std::vector<std::int32_t> tokens = {};  // of all texts
  std::array<Windows, 2> splits = {};
};

/// What the network learns them by.
struct TuningSymbols {
  std::unique_ptr<const Vocabulary> vocabulary = {};
  std::optional<std::int32_t> end = {};  // after each text
};

class TuningTexts final : public Sequences {
 public:
  /// `folder` has the tokenizer; "": symbols are the alphabet's.
  TuningTexts(SequenceInfo info, TuningWindows windows, const TuningSymbols& by, std::string folder,
              const PackedInputs& inputs, std::int64_t ignored)
      : Sequences(std::move(info)),
        windows_(std::move(windows)),
        meaning_{.alphabet = by.vocabulary->alphabet(), .tokenizer = by.vocabulary->identity()},
        end_(by.end),
        folder_(std::move(folder)),
        inputs_(inputs),
        ignored_(static_cast<std::int32_t>(ignored)) {}

  bool is_packed() const { return !inputs_.positions.empty(); }
  std::int64_t sample_bytes(DType dtype) const override {
    return Sequences::sample_bytes(dtype) * (is_packed() ? 2 : 1);
  }
  std::vector<SampleInput> inputs(DType dtype) const override {
    if (!is_packed()) return {};
    const std::int64_t each = Sequences::sample_bytes(dtype);
    return {{.name = inputs_.symbols, .bytes = each}, {.name = inputs_.positions, .bytes = each}};
  }
  Meaning meaning() const override { return meaning_; }
  std::unique_ptr<Vocabulary> vocabulary() const override {
    return folder_.empty() ? Sequences::vocabulary() : open_folder_tokenizer(folder_).tokenizer;
  }
  std::optional<std::int32_t> end_symbol() const override { return end_; }
  std::unique_ptr<SampleReader> reader(const ReadOptions& options) const override;

  void read(Split split, std::int64_t index, std::int32_t* symbols, std::int32_t* labels) const override {
    read(split, index, symbols, nullptr, labels);
  }
  /// With the position of each symbol in its text, unless `positions` is null. What is left of a window is zeros, texts
  /// of their own without a label.
  void read(Split split, std::int64_t index, std::int32_t* symbols, std::int32_t* positions,
            std::int32_t* labels) const {
    const std::int64_t length = info().length;
    std::fill_n(symbols, length, 0);
    std::fill_n(labels, length, ignored_);
    if (positions) std::fill_n(positions, length, 0);
    for (const WindowText& text : texts_of(split, index)) {
      const std::int32_t* const tokens = windows_.tokens.data() + text.first;
      std::copy_n(tokens, text.count, symbols);
      std::copy(tokens + text.given + 1, tokens + text.count + 1, labels + text.given);
      if (positions) std::iota(positions, positions + text.count, 0);
      symbols += text.count, labels += text.count;
      if (positions) positions += text.count;
    }
  }

 private:
  std::span<const WindowText> texts_of(Split split, std::int64_t index) const {
    const auto& [texts, ends] = windows_.splits[static_cast<std::size_t>(split)];
    const auto at = static_cast<std::size_t>(index), begin = static_cast<std::size_t>(at == 0 ? 0 : ends[at - 1]);
    return std::span(texts).subspan(begin, static_cast<std::size_t>(ends[at]) - begin);
  }

  TuningWindows windows_;
  Meaning meaning_;
  std::optional<std::int32_t> end_;
  std::string folder_;
  PackedInputs inputs_;
  std::int32_t ignored_;
};

class TuningReader final : public SampleReader {
 public:
  explicit TuningReader(const TuningTexts& data) : data_(data) {}
  void read(Split split, std::int64_t index, std::int64_t, std::byte* sample, std::int32_t* labels) override {
    auto* const symbols = reinterpret_cast<std::int32_t*>(sample);
    data_.read(split, index, symbols, data_.is_packed() ? symbols + data_.info().length : nullptr, labels);
  }

 private:
  const TuningTexts& data_;
};

std::unique_ptr<SampleReader> TuningTexts::reader(const ReadOptions& options) const {
  check(options.augment == Augmentation{}, name(), ": gives sequences, which are not augmented");
  return std::make_unique<TuningReader>(*this);
}

TuningSymbols symbols_by(const TextSpec& spec, const std::vector<TuningText>& texts, const Meaning& known) {
  if (!spec.tokenizer.empty()) {
    FolderTokenizer folder = open_folder_tokenizer(spec.tokenizer);
    return {.vocabulary = std::move(folder.tokenizer), .end = folder.end};
  }
  std::vector<std::string_view> all;
  for (const TuningText& text : texts) all.insert(all.end(), {text.prompt, text.completion});
  return {.vocabulary = characters_of(known.alphabet.empty() ? bytes_in(all) : known.alphabet)};
}

/// Makes windows of texts, and counts what comes of them.
class WindowMaker {
 public:
  WindowMaker(const TuningSymbols& by, std::int64_t length) : by_(by), length_(length) {}

  /// A text is tokens in one piece, so that none ends with the prompt that would not end there. What the prompt alone
  /// becomes is the part that is given, as far as both agree.
  void add(Split split, const TuningText& text) {
    const Vocabulary& vocabulary = *by_.vocabulary;
    std::vector<std::int32_t> tokens = vocabulary.frame().before, prompt = tokens;
    const auto append = [&](std::vector<std::int32_t>& to, const std::string& of) {
      const std::vector<std::int32_t> more = vocabulary.symbols_of(of);
      to.insert(to.end(), more.begin(), more.end());
    };
    append(tokens, text.prompt + text.completion);
    if (!text.prompt.empty()) append(prompt, text.prompt);
    if (by_.end && (tokens.empty() || tokens.back() != *by_.end)) tokens.push_back(*by_.end);
    const std::int64_t agree = std::ranges::mismatch(prompt, tokens).in1 - prompt.begin();
    across_ += agree < std::ssize(prompt);
    const std::int64_t places = std::ssize(tokens) - 1, count = std::min(places, length_);
    const std::int64_t given = std::max<std::int64_t>(agree - 1, 0);
    if (given >= count) {
      ++left_out_;
      return;
    }
    cut_ += places - count;
    used_ += count;
    texts_[static_cast<std::size_t>(split)].push_back({.first = std::ssize(made_.tokens),
                                                       .count = static_cast<std::int32_t>(count),
                                                       .given = static_cast<std::int32_t>(given)});
    made_.tokens.insert(made_.tokens.end(), tokens.begin(), tokens.begin() + count + 1);
  }

  TuningWindows windows(bool packs) {
    for (std::size_t split = 0; split < texts_.size(); ++split) {
      const std::vector<WindowText>& texts = texts_[split];
      std::vector<std::int32_t> counts, window(texts.size());
      for (const WindowText& text : texts) counts.push_back(text.count);
      std::iota(window.begin(), window.end(), 0);
      if (packs) window = windows_of_texts(counts, length_);
      std::vector<std::size_t> order(texts.size());
      std::iota(order.begin(), order.end(), 0);
      std::ranges::stable_sort(order, {}, [&](std::size_t i) { return window[i]; });
      Windows& made = made_.splits[split];
      for (const std::size_t i : order) {
        made.ends.resize(static_cast<std::size_t>(window[i]) + 1);
        made.texts.push_back(texts[i]);
        made.ends.back() = std::ssize(made.texts);
      }
    }
    return std::move(made_);
  }

  std::array<std::int64_t, 2> texts() const { return {std::ssize(texts_[0]), std::ssize(texts_[1])}; }
  std::int64_t left_out() const { return left_out_; }
  void tell(const std::string& file, const std::array<std::int64_t, 2>& windows, const Notify& notify) const {
    notify(message("jsonl: ", file, ": ", texts()[0], " texts for training in ", windows[0], " windows of ", length_,
                   ", ", texts()[1], " for tests in ", windows[1], "; tokens used: ", used_,
                   ", padded: ", (windows[0] + windows[1]) * length_ - used_, ", cut: ", cut_));
    if (left_out_ > 0)
      notify(message(file, ": texts of which nothing to learn has room, and which are left out: ", left_out_));
    if (across_ > 0)
      notify(
          message(file, ": prompts whose last token goes on into the completion, and is learned with it: ", across_));
    if (!by_.end && by_.vocabulary->alphabet().empty())
      notify(message(file, ": the tokenizer names no token that ends a text, so none is learned"));
  }

 private:
  const TuningSymbols& by_;
  std::int64_t length_;
  TuningWindows made_ = {};
  std::array<std::vector<WindowText>, 2> texts_ = {};
  std::int64_t used_ = 0, cut_ = 0, left_out_ = 0, across_ = 0;
};

}  // namespace

std::unique_ptr<Sequences> open_tuning_texts(const TextSpec& spec, std::int64_t length, const PackedInputs& inputs,
                                             std::optional<std::int64_t> ignored, const Notify& notify,
                                             const Meaning& known) {
  check(ignored.has_value(),
        "jsonl: takes a network whose loss ignores a label: ", R"({"op": "cross_entropy", "ignore": -1, ...})");
  const std::vector<TuningText> texts = read_json_lines(spec.path);
  const TuningSymbols by = symbols_by(spec, texts, known);
  WindowMaker maker(by, length);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const bool is_test = spec.val > 0 ? is_held_out(static_cast<std::int64_t>(i), spec.val) : i % 10 == 9;
    try {
      maker.add(is_test ? Split::Test : Split::Train, texts[i]);
    } catch (const Error& error) {  // a character that the run does not know
      fail_as(Exit::Data, spec.path, ':', texts[i].line, ": ", error.what());
    }
  }
  const auto [training, tests] = maker.texts();
  check_as(Exit::Data, (training > 0 && tests > 0) || maker.left_out() == 0, spec.path, ": has ", training,
           " texts to learn from and ", tests, " for tests; of ", maker.left_out(),
           " others nothing to learn has room in ", length, " places");
  if (spec.val > 0) check_divided(spec.path, training, tests, spec.val);
  check_as(Exit::Data, training > 0 && tests > 0, spec.path, ": has ", training, " texts to learn from and ", tests,
           " for tests, which each tenth is; both need one at least, so it takes ten");
  TuningWindows windows = maker.windows(!inputs.positions.empty());
  SequenceInfo info{.name = "jsonl", .length = length};
  info.sizes = {std::ssize(windows.splits[0].ends), std::ssize(windows.splits[1].ends)};
  info.alphabet = by.vocabulary->alphabet();
  if (info.alphabet.empty()) info.tokens = by.vocabulary->size();
  if (notify) maker.tell(spec.path, info.sizes, notify);
  return std::make_unique<TuningTexts>(std::move(info), std::move(windows), by, spec.tokenizer, inputs, *ignored);
}

}  // namespace lethe
