#include "train/report/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "framework/error.h"
#include "framework/formatted.h"
#include "train/report/option_names.h"
#include "train/report/score_report.h"

namespace lethe {
namespace {

constexpr double kRedrawSeconds = 0.1, kLineSeconds = 1;

std::string figures(const Moment& m) {
  std::string text = duration(m.seconds) + " ETA " + duration(m.seconds_left);
  text.append(
      formatted(m.ms_per_step < 10 ? " %.1fms/step loss %.4g" : " %.0fms/step loss %.4g", m.ms_per_step, m.loss));
  if (m.accuracy) text.append(formatted(" acc %.4f", *m.accuracy));
  return text;
}

std::string epoch_of(const Moment& m) {
  return formatted("%lld/%lld", static_cast<long long>(m.epoch), static_cast<long long>(m.epochs));
}

std::string step_of(const Moment& m) {
  return formatted("%lld/%lld", static_cast<long long>(m.step), static_cast<long long>(m.steps));
}

/// `width` characters within brackets.
std::string bar(const Moment& m, int width) {
  const std::int64_t done = std::clamp<std::int64_t>(m.step * width / std::max<std::int64_t>(m.steps, 1), 0, width);
  std::string text(static_cast<std::size_t>(width), '.');
  std::fill_n(text.begin(), done, '=');
  if (done < width) text[static_cast<std::size_t>(done)] = '>';
  return "[" + text + "] ";
}

int terminal_columns(int descriptor) {
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

}  // namespace

std::string duration(double seconds) {
  const auto whole = static_cast<long long>(std::max(seconds, 0.0) + 0.5);
  if (whole < 60) return formatted("%llds", whole);
  if (whole < 3600) return formatted("%lldm%02llds", whole / 60, whole % 60);
  return formatted("%lldh%02lldm", whole / 3600, whole / 60 % 60);
}

std::string bar_line(const Moment& moment, int columns) {
  constexpr int kWidest = 30, kNarrowest = 5, kBrackets = 3;
  const std::string head = "Epoch " + epoch_of(moment) + " ";
  const std::string tail = step_of(moment) + " " + figures(moment);
  const int room = columns - static_cast<int>(head.size() + tail.size()) - kBrackets;
  std::string line = head;
  if (room >= kNarrowest) line.append(bar(moment, std::min(room, kWidest)));
  line.append(tail);
  return line.substr(0, static_cast<std::size_t>(std::max(columns, 1)));
}

std::string plain_line(const Moment& moment) {
  return "epoch " + epoch_of(moment) + " step " + step_of(moment) + " " + figures(moment);
}

Progress::Progress(std::FILE* out, bool quiet) : out_(out), style_(Style::Quiet) {
  if (quiet) return;
  if (out == stderr && is_said_elsewhere()) {
    style_ = Style::Plain;
    return;
  }
  style_ = isatty(fileno(out)) ? Style::Bar : Style::Plain;
  const char* no_color = std::getenv("NO_COLOR");
  colour_ = style_ == Style::Bar && (!no_color || !*no_color);
}

void Progress::step(const Moment& moment) {
  if (style_ != Style::Bar) return;
  const bool soon = moment.epoch == drawn_epoch_ && moment.seconds < drawn_at_ + kRedrawSeconds;
  if (soon && moment.step < moment.steps) return;
  drawn_epoch_ = moment.epoch;
  drawn_at_ = moment.seconds;
  draw(bar_line(moment, terminal_columns(fileno(out_)) - 1));
  if (moment.step >= moment.steps) {  // the epoch's last line stays
    std::fputc('\n', out_);
    drawn_ = 0;
  }
  std::fflush(out_);
}

void Progress::show(const std::string& line) {
  const auto now = std::chrono::steady_clock::now();
  const std::chrono::duration<double> since(style_ == Style::Bar ? kRedrawSeconds : kLineSeconds);
  if (style_ == Style::Quiet || now - shown_at_ < since) return;
  shown_at_ = now;
  if (style_ == Style::Plain) {
    if (out_ == stderr)
      say(line);
    else
      std::fprintf(out_, "%s\n", line.c_str());
    return;
  }
  draw(line.substr(0, static_cast<std::size_t>(std::max(terminal_columns(fileno(out_)) - 1, 1))));
  std::fflush(out_);
}

void Progress::draw(std::string line) {
  const std::size_t width = line.size();
  if (width < drawn_) line.append(drawn_ - width, ' ');
  drawn_ = width;
  std::fprintf(out_, colour_ ? "\r\033[32m%s\033[0m" : "\r%s", line.c_str());
}

void Progress::record(const Moment& moment) {
  if (style_ == Style::Plain) std::fprintf(out_, "%s\n", plain_line(moment).c_str());
}

void Progress::note(const std::string& line) {
  if (style_ == Style::Quiet) return;
  clear();
  if (out_ == stderr)
    say(line);
  else
    std::fprintf(out_, "%s\n", with_options(line).c_str());
}

void Progress::clear() {
  if (drawn_ == 0) return;
  std::fprintf(out_, "\r%s\r", std::string(drawn_, ' ').c_str());
  std::fflush(out_);
  drawn_ = 0;
}

void RunReport::record(const Record& measured) {
  for (const auto& file : files_) file->append(measured);
}

void RunReport::evaluated(std::int64_t step, std::int64_t epoch, const Scores& scores) {
  progress_.clear();
  std::puts(message("eval step ", step, " epoch ", epoch, " ", text_of(scores)).c_str());
  std::fflush(stdout);
}

}  // namespace lethe
