#include "train/signals.h"

namespace lethe {
namespace {

volatile std::sig_atomic_t stop_asked = 0;
volatile std::sig_atomic_t save_asked = 0;

constexpr int kStops[] = {SIGINT, SIGTERM};

/// The next of either does what it does by default: it ends the process, whatever that is in.
void ask_stop(int) {
  stop_asked = 1;
  for (const int signal : kStops) std::signal(signal, SIG_DFL);
}
void ask_save(int) { save_asked = 1; }

struct sigaction action_for(int signal) {
  struct sigaction action = {};
  sigemptyset(&action.sa_mask);
  for (const int stop : kStops) sigaddset(&action.sa_mask, stop);  // the second one waits until the first is noted
  action.sa_flags = SA_RESTART;
  action.sa_handler = signal == SIGHUP ? ask_save : ask_stop;
  return action;
}

}  // namespace

SignalWatch::SignalWatch() {
  stop_asked = 0;
  save_asked = 0;
  sigset_t watched, blocked_before;
  sigemptyset(&watched);
  for (const int signal : kSignals) sigaddset(&watched, signal);
  pthread_sigmask(SIG_BLOCK, &watched, &blocked_before);  // one that comes meanwhile finds all handlers
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    const struct sigaction action = action_for(kSignals[i]);
    sigaction(kSignals[i], &action, &before_[i]);
  }
  pthread_sigmask(SIG_SETMASK, &blocked_before, nullptr);
}

SignalWatch::~SignalWatch() {
  for (std::size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &before_[i], nullptr);
}

bool SignalWatch::stop_wanted() const { return stop_asked != 0; }

bool SignalWatch::take_save_wanted() {
  const bool wanted = save_asked != 0;
  save_asked = 0;
  return wanted;
}

}  // namespace lethe
