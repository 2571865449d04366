#include "train/metrics.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "framework/error.h"

namespace lethe {
namespace {

std::string number(double value, int digits = 6) {
  char text[40];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return text;
}

constexpr int kLossDigits = 12;  // enough to compare runs by

/// The step that a line of either form records; -1 for a header or a line that a kill cut short.
std::int64_t step_of(const std::string& line, MetricsFile::Form form) {
  if (form == MetricsFile::Form::Csv) {
    const auto commas = [](const std::string& text) { return std::count(text.begin(), text.end(), ','); };
    return commas(line) == commas(kCsvHeader) && line[0] != 's' ? std::atoll(line.c_str()) : -1;
  }
  const auto json = nlohmann::json::parse(line, nullptr, false);
  return json.is_object() && json.contains("step") ? json["step"].get<std::int64_t>() : -1;
}

std::vector<std::string> records_until(const std::string& path, MetricsFile::Form form, std::int64_t last) {
  std::vector<std::string> lines;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);)
    if (const std::int64_t step = step_of(line, form); step >= 0 && step <= last) lines.push_back(line);
  return lines;
}

}  // namespace

std::string csv_row(const Record& r) {
  return message(r.step, ',', r.epoch, ',', r.split, ',', number(r.loss, kLossDigits), ',',
                 r.accuracy ? number(*r.accuracy) : std::string(), ',', number(r.lr), ',', number(r.ms), ',',
                 r.mem_peak);
}

std::string json_line(const Record& r) {
  const auto finite = [](double x, int digits = 6) {
    return std::isfinite(x) ? number(x, digits) : std::string("null");
  };
  return message(R"({"step":)", r.step, R"(,"epoch":)", r.epoch, R"(,"split":")", r.split, R"(","loss":)",
                 finite(r.loss, kLossDigits), R"(,"acc":)", r.accuracy ? finite(*r.accuracy) : "null", R"(,"lr":)",
                 finite(r.lr), R"(,"ms":)", finite(r.ms), R"(,"mem_peak":)", r.mem_peak, "}");
}

MetricsFile::MetricsFile(std::string path, Form form, std::optional<std::int64_t> resumed_at)
    : path_(std::move(path)), form_(form) {
  std::vector<std::string> kept;
  if (resumed_at) kept = records_until(path_, form_, *resumed_at);
  file_.reset(std::fopen(path_.c_str(), "w"));
  check(file_ != nullptr, path_, ": cannot be written: ", std::strerror(errno));
  if (form_ == Form::Csv) write(kCsvHeader);
  for (const std::string& line : kept) write(line);
}

void MetricsFile::append(const Record& record) { write(form_ == Form::Csv ? csv_row(record) : json_line(record)); }

void MetricsFile::write(const std::string& line) {
  const bool written = std::fprintf(file_.get(), "%s\n", line.c_str()) > 0 && std::fflush(file_.get()) == 0;
  check_as(Exit::Data, written, path_, ": cannot be written: ", std::strerror(errno));
}

}  // namespace lethe
