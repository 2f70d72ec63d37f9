/* Shared by the native parts of programs.Abi, a test client of jtrace.h. */
#ifndef ABI_CLIENT_H_
#define ABI_CLIENT_H_

#include <stddef.h>
#include <stdint.h>

#include "agent/api/c/jtrace.h"

extern const jtrace_api* the_api;

/* A command and its answer, one line each; an error begins with '!'. malloc'ed. */
struct command {
  const char* verb;
  const char* argument;
  int32_t code;
  char* text;
};
void RunCommand(struct command* command, int on_native_thread);

/* `threads` native threads, each of which starts `lives` more one after the other. Those add to the
   counter `each` times. Returns the sum that they added. */
int64_t CountInThreads(uint32_t id, int threads, int lives, int each, int attach);

/* The codes of a native thread that queries and counts before and after it is attached. */
void AskUnattached(uint32_t id, char* text, size_t size);

/* So many segments "native" around one "native inner" each, in the calling thread or in a native
   one that the JVM does not know. Returns the number of errors. */
int RunSegments(int count, int on_native_thread);

/* A timer interrupts the calling thread. The handler adds to the counter and reads totals ten
 * times. */
void StartHandlers(uint32_t counter, int every_us);
int64_t Handled(void);
/* "errors=0 mallocs=0 control=1" and how often it was handled. */
void StopHandlers(char* text, size_t size);

#endif
