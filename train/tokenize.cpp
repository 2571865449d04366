// `train tokenize`: from text files to shards of tokens.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "framework/error.h"
#include "framework/text_input.h"
#include "train/commands.h"
#include "train/data/mapped_file.h"
#include "train/data/tokenizer.h"
#include "train/report/formatted.h"
#include "train/report/progress.h"
#include "train/report/streams.h"
#include "train/session/token_writer.h"
#include "train/signals.h"

namespace lethe {
namespace {

struct Input {
  std::string path;
  MappedFile file;
  std::string_view text;
};

/// GPT-2's files, not one of the words for other tokens.
bool names_pairs(const Options& options) {
  return options.tokens.tokenizer != "chars" && options.tokens.tokenizer != "bytes";
}

/// Without a byte order mark before a text, unless tokens are GPT-2's: these stand for all bytes of a file.
std::vector<Input> open_inputs(const Options& options) {
  std::vector<Input> inputs;
  for (const std::string& path : options.files) {
    Input& input = inputs.emplace_back(Input{path, MappedFile(path), {}});
    input.text = input.file.text();
    if (!names_pairs(options)) input.text.remove_prefix(mark_length(input.text));
    check_as(Exit::Data, !input.text.starts_with("\x1f\x8b"), path, ": is packed by gzip; unpack it first");
  }
  return inputs;
}

std::int64_t bytes_of(const std::vector<Input>& inputs) {
  std::int64_t bytes = 0;
  for (const Input& input : inputs) bytes += std::ssize(input.text);
  return bytes;
}

/// The characters of all inputs, as one text.
std::string characters_of(const std::vector<Input>& inputs) {
  std::vector<bool> found;
  for (const Input& input : inputs) {
    with_context(input.path, [&] { find_characters(input.text, found); });
    input.file.check_whole();
  }
  return alphabet_of(found);
}

/// How text becomes tokens, and what of it stands beside them.
struct Encoding {
  std::unique_ptr<Tokenizer> tokenizer;
  std::optional<std::int32_t> end = {};
  std::string end_text = {};
  std::vector<std::pair<std::string, std::string>> files = {};  // names and contents
  std::int64_t vocabulary() const { return std::max<std::int64_t>(tokenizer->size(), end ? *end + 1 : 0); }
};

Encoding pairs_encoding(const Options& options) {
  const PairFiles files = pair_files_in(options.tokens.tokenizer);
  Encoding encoding{.tokenizer = open_pairs(files), .end_text = options.tokens.end_token.value_or(kEndOfText)};
  encoding.end = encoding.tokenizer->token_of(encoding.end_text);
  check_as(Exit::Data, encoding.end || !options.tokens.end_token, "--end-token: ", quote(encoding.end_text),
           " is no token of ", files.vocabulary);
  const auto content = [](const std::string& file) {
    const MappedFile mapped(file);
    std::string text(mapped.text());
    mapped.check_whole();
    return text;
  };
  encoding.files = {{"vocab.json", content(files.vocabulary)}, {"merges.txt", content(files.merges)}};
  return encoding;
}

Encoding encoding_of(const Options& options, const std::vector<Input>& inputs) {
  if (names_pairs(options)) return pairs_encoding(options);
  const bool chars = options.tokens.tokenizer == "chars";
  Encoding encoding;
  if (chars) encoding.files = {{kCharactersFile, characters_of(inputs)}};
  encoding.tokenizer = chars ? characters_tokenizer(encoding.files[0].second) : bytes_tokenizer();
  if (!options.tokens.end_token) return encoding;
  encoding.end = static_cast<std::int32_t>(encoding.tokenizer->size());
  encoding.end_text = *options.tokens.end_token;
  return encoding;
}

ShardHeader form_of(const Encoding& encoding) {
  ShardHeader form;
  form.width = token_width(encoding.vocabulary());
  form.vocabulary = static_cast<std::uint64_t>(encoding.vocabulary());
  form.kind = encoding.tokenizer->kind();
  if (encoding.end) form.end = static_cast<std::uint32_t>(*encoding.end);
  return form;
}

/// Encodes documents one behind the other and writes them: to the training split up to a byte of all text, behind it to
/// that of tests.
class Encoder {
 public:
  Encoder(const Encoding& encoding, TokenWriter& writer, Progress& progress, std::int64_t bytes, double validation)
      : encoding_(encoding),
        writer_(writer),
        progress_(progress),
        bytes_(bytes),
        border_(bytes - static_cast<std::int64_t>(static_cast<double>(bytes) * validation / 100)) {}

  std::int64_t documents() const { return documents_; }
  bool stopped() const { return signals_.stop_wanted(); }

  /// The documents of a file: all of it, or what stands between separators. Those without a character are none.
  void add(const Input& input, const std::optional<std::string>& separator) {
    std::string_view rest = input.text;
    while (!rest.empty() && !stopped()) {
      const std::size_t end = separator ? std::min(rest.find(*separator), rest.size()) : rest.size();
      if (end > 0) add_document(input, rest.substr(0, end));
      const std::size_t behind = separator ? std::min(end + separator->size(), rest.size()) : end;
      done_ += static_cast<std::int64_t>(behind - end);
      rest.remove_prefix(behind);
    }
    input.file.check_whole();  // before the next file, and before anything is committed
  }

 private:
  void add_document(const Input& input, std::string_view document) {
    const auto before = static_cast<std::size_t>(std::max<std::int64_t>(border_ - done_, 0));
    std::size_t cut = std::min(before, document.size());
    const auto is_within = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; };  // a character
    for (int more = 0; more < 3 && cut < document.size() && is_within(document[cut]); ++more) ++cut;
    add_part(input, Split::Train, document.substr(0, cut));
    add_part(input, Split::Test, document.substr(cut));
    ++documents_;
    if (encoding_.end) writer_.add(cut < document.size() ? Split::Test : Split::Train, std::span(&*encoding_.end, 1));
  }

  void add_part(const Input& input, Split split, std::string_view text) {
    constexpr std::size_t kAtOnce = 1 << 18;
    while (!text.empty() && !stopped()) {
      tokens_.clear();
      const std::size_t bytes =
          with_context(input.path, [&] { return encoding_.tokenizer->encode(text, kAtOnce, tokens_); });
      // Not for each short document, which it would hold up: zeros after a cut hold no separator, and are one long one.
      if (bytes < text.size()) input.file.check_whole();
      writer_.add(split, tokens_);
      text.remove_prefix(bytes);
      done_ += static_cast<std::int64_t>(bytes);
      progress_.show(progress_line());
    }
  }

  std::string progress_line() const {
    const std::chrono::duration<double> since = std::chrono::steady_clock::now() - begin_;
    const std::int64_t tokens = writer_.tokens(Split::Train) + writer_.tokens(Split::Test);
    const auto done = static_cast<double>(done_);
    return formatted("%.1f of %.1f MB, %lld tokens, %.1f MB/s", done / 1e6, static_cast<double>(bytes_) / 1e6,
                     static_cast<long long>(tokens), done / 1e6 / std::max(since.count(), 1e-6));
  }

  const Encoding& encoding_;
  TokenWriter& writer_;
  Progress& progress_;
  std::int64_t bytes_, border_;  // of the text; where that of tests begins
  std::int64_t done_ = 0, documents_ = 0;
  std::vector<std::int32_t> tokens_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  SignalWatch signals_;
};

/// What a reader without this program needs to know.
std::string description_of(const Encoding& encoding, const ShardHeader& form, TokenWriter& writer,
                           std::int64_t documents) {
  nlohmann::ordered_json json = {{"version", form.version},       {"tokenizer", name_of(form.kind)},
                                 {"vocabulary", form.vocabulary}, {"end_token", nullptr},
                                 {"bytes_a_token", form.width},   {"documents", documents}};
  if (encoding.end) json["end_token"] = {{"text", encoding.end_text}, {"number", *encoding.end}};
  for (const Split split : {Split::Train, Split::Test})
    json[split == Split::Train ? "train" : "val"] = {{"tokens", writer.tokens(split)},
                                                     {"shards", writer.finish(split)}};
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

int tokenize(const Options& options) {
  check(options.tokens.validation < 100, "--val: ", options.tokens.validation, " percent leave nothing to train on");
  check(options.tokens.separator != "", "--separator: is empty");
  const std::vector<Input> inputs = open_inputs(options);
  const std::int64_t bytes = bytes_of(inputs);
  check_as(Exit::Data, bytes > 0, options.files.front(), ": there is no text to make tokens of");
  const Encoding encoding = encoding_of(options, inputs);
  const ShardHeader form = form_of(encoding);
  TokenWriter writer(options.output, form, options.tokens.shard_tokens);
  Progress progress(stderr, options.quiet);
  Encoder encoder(encoding, writer, progress, bytes, options.tokens.validation);
  for (const Input& input : inputs) encoder.add(input, options.tokens.separator);
  if (encoder.stopped()) {
    progress.note("stopped, and nothing is written");
    return 0;
  }
  for (const auto& [name, content] : encoding.files) writer.put(name, content);
  writer.put("tokens.json", description_of(encoding, form, writer, encoder.documents()));
  writer.commit();
  progress.clear();
  write_result("",
               message("tokens train ", writer.tokens(Split::Train), " val ", writer.tokens(Split::Test), " documents ",
                       encoder.documents(), " vocabulary ", form.vocabulary, " bytes ", form.width, "\n"));
  return 0;
}

}  // namespace lethe
