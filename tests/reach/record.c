// Linked into programs that are built with -fsanitize-coverage=trace-pc: notes which blocks of code a process reaches, a
// bit an address, in the file PROGRAM.PID of the folder $LETHE_REACH. The file is shared memory, so that a process that
// is killed leaves it, too.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static uint8_t* reached;
static uintptr_t base, size;

/// The first object is the program itself.
static int measure(struct dl_phdr_info* object, size_t bytes, void* unused) {
  (void)bytes, (void)unused;
  base = object->dlpi_addr;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const uintptr_t end = object->dlpi_phdr[i].p_vaddr + object->dlpi_phdr[i].p_memsz;
    if (object->dlpi_phdr[i].p_type == PT_LOAD && end > size) size = end;
  }
  return 1;
}

__attribute__((constructor)) static void open_record(void) {
  const char* const folder = getenv("LETHE_REACH");
  if (!folder) return;
  dl_iterate_phdr(measure, NULL);
  char name[4096];
  snprintf(name, sizeof name, "%s/%s.%d", folder, program_invocation_short_name, (int)getpid());
  const int file = open(name, O_RDWR | O_CREAT, 0666);
  void (*const before)(int) = signal(SIGXFSZ, SIG_IGN);  // a process that may write less is not recorded
  const int fits = file >= 0 && ftruncate(file, (off_t)(size / 8 + 1)) == 0;
  signal(SIGXFSZ, before);
  if (!fits) return;
  void* const memory = mmap(NULL, size / 8 + 1, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory != MAP_FAILED) reached = memory;
}

void __sanitizer_cov_trace_pc(void) {
  if (!reached) return;
  const uintptr_t at = (uintptr_t)__builtin_return_address(0) - base;
  const uint8_t bit = (uint8_t)(1u << (at & 7));
  if (at < size && !(reached[at >> 3] & bit)) __atomic_fetch_or(&reached[at >> 3], bit, __ATOMIC_RELAXED);
}
