/*
 * Finds the jtrace agent in this process. Needs dlopen: with glibc before 2.34 link with -ldl.
 */
#ifndef JTRACE_FIND_H_
#define JTRACE_FIND_H_

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "jtrace.h"

/*
 * The agent's table, or null: it is not in this process, or too old for JTRACE_ABI. Thread, no
 * signal handler; keep what it returns. The agent may come at any time (`jtrace start PID`) and
 * never goes.
 *
 * The JVM loads agents so that dlsym(RTLD_DEFAULT, ...) does not see them. RTLD_NOLOAD finds what
 * is loaded by the name that is in the library, wherever its file is.
 */
static inline const jtrace_api* jtrace_find(void) {
  jtrace_get_api_function get_api = NULL;
  void* symbol;
  void* const agent = dlopen("libjtrace.so", RTLD_LAZY | RTLD_NOLOAD);
  if (agent == NULL) return NULL;
  symbol = dlsym(agent, JTRACE_GET_API);
  dlclose(agent); /* gives back what dlopen counted; the agent stays */
  if (symbol == NULL) return NULL;
  memcpy(&get_api, &symbol,
         sizeof(get_api)); /* ISO C converts no pointer to data into one to a function */
  return get_api(JTRACE_ABI);
}

#endif /* JTRACE_FIND_H_ */
