/* jtrace.h and jtrace_find.h are C11. */
#include "agent/api/c/jtrace_find.h"

_Static_assert(sizeof(jtrace_metric) == 56, "grows at its end only");
_Static_assert(sizeof(jtrace_method_query) == 40, "grows at its end only");
_Static_assert(sizeof(jtrace_method_stats) == 40, "grows at its end only");
_Static_assert(offsetof(jtrace_api, command) == 18 * 8, "grows at its end only");

const jtrace_api* FindFromC(void);
const jtrace_api* FindFromC(void) { return jtrace_find(); }
