/* A signal handler that queries and counts. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "java-tests/api/native/abi_client.h"
#include "java-tests/api/native/malloc_count.h"

enum { kMetrics = 6, kReadings = 10 };
static const char* const kNames[kMetrics] = {"cpu.ns",   "wall.ns",     "offcpu.ns",
                                             "switches", "page.faults", "alloc.bytes"};
static uint32_t ids[kMetrics + 1]; /* the counter first */
static timer_t timer;
static int64_t first_total;
static int64_t last[kMetrics + 1];
static atomic_long handled, errors;

static void Handle(int signal) {
  const int kept = errno;
  (void)signal;
  errno = 77;
  CountMallocs(1);
  if (the_api->add(ids[0], 1) != JTRACE_OK) atomic_fetch_add(&errors, 1);
  for (int i = 0; i < kReadings; ++i) {
    int64_t values[kMetrics + 1];
    if (the_api->own_totals(ids, kMetrics + 1, values) != JTRACE_OK) atomic_fetch_add(&errors, 1);
    if (values[0] != first_total + atomic_load(&handled) + 1) atomic_fetch_add(&errors, 1);
    /* cpu.ns and wall.ns never go back; offcpu.ns is the difference of two readings. */
    if (values[1] < last[1] || values[2] < last[2] || values[5] < last[5]) {
      atomic_fetch_add(&errors, 1);
    }
    memcpy(last, values, sizeof(last));
  }
  CountMallocs(0);
  if (errno != 77) atomic_fetch_add(&errors, 1);
  atomic_fetch_add(&handled, 1);
  errno = kept;
}

void StartHandlers(uint32_t counter, int every_us) {
  struct sigaction action = {.sa_handler = Handle, .sa_flags = SA_RESTART};
  struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN + 4};
  struct itimerspec period = {.it_interval.tv_nsec = every_us * 1000L, .it_value.tv_nsec = 1000};
  ids[0] = counter;
  for (int i = 0; i < kMetrics; ++i) {
    if (the_api->metric_id(kNames[i], &ids[i + 1]) != JTRACE_OK) atomic_fetch_add(&errors, 1);
  }
  if (the_api->own_totals(ids, 1, &first_total) != JTRACE_OK) atomic_fetch_add(&errors, 1);
  sigaction(event.sigev_signo, &action, NULL);
  event._sigev_un._tid = gettid();
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) atomic_fetch_add(&errors, 1);
  timer_settime(timer, 0, &period, NULL);
}

int64_t Handled(void) { return atomic_load(&handled); }

void StopHandlers(char* text, size_t size) {
  uint64_t reader = 0;
  int64_t total = 0;
  timer_delete(timer);
  const long mallocs = Mallocs();
  /* Checks that the counting works at all. */
  CountMallocs(1);
  the_api->reader_open(JTRACE_OF_OWN_THREAD, 0, ids, 1, &reader);
  CountMallocs(0);
  the_api->reader_close(reader);
  the_api->own_totals(ids, 1, &total);
  snprintf(text, size, "errors %ld, mallocs %ld, others %d, lost %lld", atomic_load(&errors),
           mallocs, Mallocs() > mallocs, (long long)(first_total + atomic_load(&handled) - total));
}
