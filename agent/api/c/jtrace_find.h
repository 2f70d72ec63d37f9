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
 * Returns the agent's table; null: the agent is not in this process, or too old for JTRACE_ABI. Not
 * in a signal handler; keep the result. The agent may be attached at any time (`jtrace start
 * PID`) and is never unloaded.
 *
 * The JVM loads agents so that dlsym(RTLD_DEFAULT, ...) does not see them. RTLD_NOLOAD finds a
 * loaded library by the name that it contains, regardless of its file's path.
 */
static inline const jtrace_api* jtrace_find(void) {
  jtrace_get_api_function get_api = NULL;
  void* symbol;
  void* const agent = dlopen("libjtrace.so", RTLD_LAZY | RTLD_NOLOAD);
  if (agent == NULL) return NULL;
  symbol = dlsym(agent, JTRACE_GET_API);
  dlclose(agent); /* releases dlopen's reference; the agent stays */
  if (symbol == NULL) return NULL;
  memcpy(&get_api, &symbol,
         sizeof(get_api)); /* ISO C converts no pointer to data into one to a function */
  return get_api(JTRACE_ABI);
}

#endif /* JTRACE_FIND_H_ */
