// How many threads compute for the calling thread. They flush denormals, which are slow.
#pragma once

namespace lethe {

/// Of this machine.
int processors();

/// From here on the calling thread takes denormals for zero, and makes zero of what would become one.
void flush_denormals();

/// While one lives, loops of the calling thread have `threads` workers (0: one a processor), and they and the thread
/// flush denormals. Then the thread has its own number and its own floating-point mode again; its workers, which OpenMP
/// keeps for it, go on flushing.
class Workers {
 public:
  explicit Workers(int threads);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

 private:
  int threads_before_;
  unsigned mode_before_;
};

}  // namespace lethe
