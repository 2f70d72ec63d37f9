#ifndef MALLOC_COUNT_H_
#define MALLOC_COUNT_H_

#include <stdatomic.h>
#include <stddef.h>

/* Of the calling thread, from here on or no longer. Async-signal-safe. */
void CountMallocs(int on);
/* How many there were, of all threads. */
long Mallocs(void);

#endif
