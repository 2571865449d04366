#include "train/report/metrics.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "framework/error.h"
#include "framework/formatted.h"
#include "framework/text_input.h"
#include "models/json_source.h"
#include "train/session/atomic_file.h"

namespace lethe {
namespace {

std::string number(double value) { return formatted("%.6g", value); }

/// Writes as few digits as read back to the same bits, so that equal texts are equal numbers.
std::string exact(double value) {
  char text[40];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

const auto kCsvCommas = std::ranges::count(std::string_view(kCsvHeader), ',');

/// Adds the column `recorded`, empty, to a row of a file that was begun without it.
std::string completed(const std::string& row) {
  return std::count(row.begin(), row.end(), ',') + 1 == kCsvCommas ? row + ',' : row;
}

/// The step that a line of either form records; -1 for what is no record.
std::int64_t step_of(const std::string& line, MetricsFile::Form form) {
  std::string text = line.substr(0, line.find(','));
  if (form == MetricsFile::Form::Json) {
    const Json json = parse_json(line);
    text = json.is_object() && json.contains("step") ? json["step"].dump() : "";
  } else if (std::count(line.begin(), line.end(), ',') != kCsvCommas) {
    return -1;
  }
  std::int64_t step = -1;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, step);
  return error == std::errc() && end == last ? step : -1;
}

/// The parts of a file for a run that goes on.
struct Found {
  std::string kept;  // the header, if the form has one, and the records up to its last step
  std::string bad;   // lines that are no records
  std::int64_t bad_lines = 0, first_bad = 0;
};

/// A last line without an end was cut short by a kill and is left out.
Found read_records(const std::string& path, MetricsFile::Form form, std::int64_t last) {
  const bool csv = form == MetricsFile::Form::Csv;
  Found found{.kept = csv ? message(kCsvHeader, '\n') : "", .bad = {}};
  std::ifstream in(path);
  std::int64_t number = 0;
  for (std::string line; std::getline(in, line) && !in.eof();) {
    ++number;
    if (number == 1) line.erase(0, mark_length(line));
    if (csv && line.rfind("step,", 0) == 0) continue;  // a header, of this or an earlier form
    const std::string row = csv ? completed(line) : line;
    const std::int64_t step = step_of(row, form);
    if (step < 0) {
      found.bad.append(line).append("\n");
      if (found.bad_lines++ == 0) found.first_bad = number;
    } else if (step <= last) {
      found.kept.append(row).append("\n");
    }
  }
  return found;
}

/// Appends to what earlier resumes set aside.
void set_aside(const Found& found, const std::string& path, const std::function<void(const std::string&)>& notify) {
  const std::string aside = path + ".bad";
  std::ofstream file(aside, std::ios::binary | std::ios::app);
  file << found.bad << std::flush;
  check_as(Exit::Data, file.good(), aside, ": cannot be written: ", std::strerror(errno));
  if (notify)
    notify(message(path, ": line ", found.first_bad,
                   found.bad_lines > 1 ? message(" and ", found.bad_lines - 1, " more are") : " is",
                   " no record of a step, and moved to ", aside));
}

/// Leaves of the file what a run that goes on after step `last` keeps. The old file is there until the new one is.
void cut_back(const std::string& link, MetricsFile::Form form, std::int64_t last,
              const std::function<void(const std::string&)>& notify) {
  const std::string path = std::filesystem::canonical(link).string();  // a link stays a link
  const Found found = read_records(path, form, last);
  if (found.bad_lines > 0) set_aside(found, path, notify);
  replace_file(path, found.kept);
}

}  // namespace

std::string csv_row(const Record& r) {
  return message(r.step, ',', r.epoch, ',', r.split, ',', exact(r.loss), ',',
                 r.accuracy ? number(*r.accuracy) : std::string(), ',', exact(r.lr), ',', number(r.ms), ',', r.mem_peak,
                 ',', r.recorded ? *r.recorded ? "1" : "0" : "");
}

std::string json_line(const Record& r) {
  const auto finite = [](double x, std::string (*text)(double)) { return std::isfinite(x) ? text(x) : "null"; };
  return message(R"({"step":)", r.step, R"(,"epoch":)", r.epoch, R"(,"split":")", r.split, R"(","loss":)",
                 finite(r.loss, exact), R"(,"acc":)", r.accuracy ? finite(*r.accuracy, number) : "null", R"(,"lr":)",
                 finite(r.lr, exact), R"(,"ms":)", finite(r.ms, number), R"(,"mem_peak":)", r.mem_peak,
                 R"(,"recorded":)", r.recorded ? *r.recorded ? "true" : "false" : "null", "}");
}

MetricsFile::MetricsFile(std::string path, Form form, std::optional<std::int64_t> resumed_at,
                         const std::function<void(const std::string&)>& notify)
    : path_(std::move(path)), form_(form) {
  std::error_code none_there;
  const bool goes_on = resumed_at && std::filesystem::is_regular_file(path_, none_there);
  if (goes_on) cut_back(path_, form_, *resumed_at, notify);
  file_.reset(std::fopen(path_.c_str(), goes_on ? "a" : "w"));
  check(file_ != nullptr, path_, ": cannot be written: ", std::strerror(errno));
  if (!goes_on && form_ == Form::Csv) write(kCsvHeader);
}

void MetricsFile::append(const Record& record) { write(form_ == Form::Csv ? csv_row(record) : json_line(record)); }

void MetricsFile::write(const std::string& line) {
  const bool written = std::fprintf(file_.get(), "%s\n", line.c_str()) > 0 && std::fflush(file_.get()) == 0;
  check_as(Exit::Data, written, path_, ": cannot be written: ", std::strerror(errno));
}

}  // namespace lethe
