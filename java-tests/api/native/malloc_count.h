/* Counts allocations while a thread has counting on. For a library that is preloaded. */
#ifndef MALLOC_COUNT_H_
#define MALLOC_COUNT_H_

#include <stdatomic.h>
#include <stddef.h>

/* Starts or stops counting for the calling thread. Async-signal-safe. */
void CountMallocs(int on);
/* The number of calls, of all threads. */
long Mallocs(void);

#endif
