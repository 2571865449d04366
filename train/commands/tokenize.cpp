// `train tokenize`: from text files to shards of tokens.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "framework/error.h"
#include "framework/formatted.h"
#include "framework/text_input.h"
#include "train/data/folder_tokenizer.h"
#include "train/data/mapped_file.h"
#include "train/options.h"
#include "train/report/progress.h"
#include "train/report/streams.h"
#include "train/session/token_writer.h"
#include "train/signals.h"

namespace lethe {
namespace {

/// What is asked for beside --out.
struct TokenizeAsked {
  std::vector<std::string> files = {};
  std::string tokenizer = "bytes";  // or chars, or a directory of a tokenizer's files
  std::optional<std::string> end_token = {}, separator = {};
  double validation = 10;  // percent of the text
  std::int64_t shard_tokens = 100'000'000;
};

struct Input {
  std::string path;
  MappedFile file;
  std::string_view text;
};

/// A directory, not one of the words for other tokens.
bool names_folder(const TokenizeAsked& asked) { return asked.tokenizer != "chars" && asked.tokenizer != "bytes"; }

/// Without a byte order mark before a text, unless tokens are a folder's: these stand for all that is in a file.
std::vector<Input> open_inputs(const TokenizeAsked& asked) {
  std::vector<Input> inputs;
  for (const std::string& path : asked.files) {
    Input& input = inputs.emplace_back(Input{path, MappedFile(path), {}});
    input.text = input.file.text();
    if (!names_folder(asked)) input.text.remove_prefix(mark_length(input.text));
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

Encoding folder_encoding(const TokenizeAsked& asked) {
  FolderTokenizer folder = open_folder_tokenizer(asked.tokenizer);
  Encoding encoding{.tokenizer = std::move(folder.tokenizer), .end = folder.end};
  if (asked.end_token) encoding.end = encoding.tokenizer->token_of(*asked.end_token);
  check_as(Exit::Data, encoding.end || !asked.end_token, "--end-token: ", quote(asked.end_token.value_or("")),
           " is no token of ", folder.files.front().path);
  if (encoding.end) encoding.end_text = encoding.tokenizer->text_of(*encoding.end);
  const auto content = [](const std::string& file) {
    const MappedFile mapped(file);
    std::string text(mapped.text());
    mapped.check_whole();
    return text;
  };
  for (const TokenizerFile& file : folder.files)
    encoding.files.emplace_back(file.name, file.content ? *file.content : content(file.path));
  return encoding;
}

Encoding encoding_of(const TokenizeAsked& asked, const std::vector<Input>& inputs) {
  if (names_folder(asked)) return folder_encoding(asked);
  const bool chars = asked.tokenizer == "chars";
  Encoding encoding;
  if (chars) encoding.files = {{kCharactersFile, characters_of(inputs)}};
  encoding.tokenizer = chars ? characters_tokenizer(encoding.files[0].second) : bytes_tokenizer();
  if (!asked.end_token) return encoding;
  encoding.end = static_cast<std::int32_t>(encoding.tokenizer->size());
  encoding.end_text = *asked.end_token;
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

/// Encodes documents one after the other and writes them: to the training split up to a byte of all text, after it to
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
      const std::size_t next = separator ? std::min(end + separator->size(), rest.size()) : end;
      done_ += static_cast<std::int64_t>(next - end);
      rest.remove_prefix(next);
    }
    input.file.check_whole();  // before the next file, and before anything is committed
  }

 private:
  void add_document(const Input& input, std::string_view document) {
    const auto before = static_cast<std::size_t>(std::max<std::int64_t>(border_ - done_, 0));
    std::size_t cut = std::min(before, document.size());
    const auto is_within = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; };  // a character
    for (int more = 0; more < 3 && cut < document.size() && is_within(document[cut]); ++more) ++cut;
    writer_.add(cut > 0 ? Split::Train : Split::Test, frame_.before);
    add_part(input, Split::Train, document.substr(0, cut));
    add_part(input, Split::Test, document.substr(cut));
    ++documents_;
    const Split last = cut < document.size() ? Split::Test : Split::Train;
    if (encoding_.end)
      writer_.add(last, std::span(&*encoding_.end, 1));
    else
      writer_.add(last, frame_.after);
  }

  void add_part(const Input& input, Split split, std::string_view text) {
    constexpr std::size_t kAtOnce = 1 << 18;
    for (std::size_t at = 0; at < text.size() && !stopped();) {
      tokens_.clear();
      const std::size_t next =
          with_context(input.path, [&] { return encoding_.tokenizer->encode(text, at, kAtOnce, tokens_); });
      // Not for each short document, which it would hold up: zeros after a cut hold no separator, and are one long one.
      if (next < text.size()) input.file.check_whole();
      writer_.add(split, tokens_);
      done_ += static_cast<std::int64_t>(next - at);
      at = next;
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
  const Frame frame_ = encoding_.tokenizer->frame();
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

int tokenize(const TokenizeAsked& asked, const Options& options) {
  check(asked.validation < 100, "--val: ", asked.validation, " percent leave nothing to train on");
  check(asked.separator != "", "--separator: is empty");
  const std::vector<Input> inputs = open_inputs(asked);
  const std::int64_t bytes = bytes_of(inputs);
  check_as(Exit::Data, bytes > 0, asked.files.front(), ": there is no text to make tokens of");
  const Encoding encoding = encoding_of(asked, inputs);
  const ShardHeader form = form_of(encoding);
  TokenWriter writer(options.output, form, asked.shard_tokens);
  Progress progress(stderr, options.quiet);
  Encoder encoder(encoding, writer, progress, bytes, asked.validation);
  for (const Input& input : inputs) encoder.add(input, asked.separator);
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

Run declare_tokenize(OptionSet& set, Options& o) {
  const auto own = std::make_shared<TokenizeAsked>();
  set.add_positional("file", own->files, "FILE...", "Text files; each is a document, or with --separator several", true)
      ->required();
  set.add("--out", o.output, "DIR", "Directory to make: shards of tokens, and what tells them apart")->required();
  set.add("--tokenizer", own->tokenizer, "DIR|bytes|chars",
          "bytes (default), chars: the characters that occur; DIR: those of the tokenizer there, by vocab.json and\n"
          "merges.txt (GPT-2's), tokenizer.json, tokenizer.model or vocab.txt");
  set.add("--end-token", own->end_token, "TOKEN",
          "Stands after each document: a token of DIR (default: the one that DIR says ends a text, if any);\n"
          "of bytes and chars one more, whatever it is called (default: none)");
  set.add("--separator", own->separator, "TEXT", "What stands between the documents of a file; is left out");
  set.add("--val", own->validation, "PERCENT", "The last so many percent of the text are for tests (default 10)")
      ->check(number_from_zero());
  set.add("--shard-tokens", own->shard_tokens, "N", "Most tokens of a file (default 100,000,000)")
      ->check(whole_number(1));
  set.add_flag("--quiet", o.quiet, "No progress; results and errors only");
  return [own](const Options& options) { return tokenize(*own, options); };
}

const RegisterCommand tokenize_command{
    {.word = "tokenize",
     .help = "Makes tokens of text files, which a run then reads as --data tokens:DIR.",
     .examples = {{"train tokenize book.txt --tokenizer chars --out data/book",
                   "a token for each character that occurs"},
                  {"train tokenize *.txt --tokenizer gpt2/ --out data/web", "GPT-2's, by its files in gpt2/"}},
     .declare = declare_tokenize}};

}  // namespace
}  // namespace lethe
