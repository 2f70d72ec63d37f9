// jtrace.h and jtrace_find.h are C++11.
#include "agent/api/c/jtrace_find.h"

const jtrace_api* FindFromCxx11();
const jtrace_api* FindFromCxx11() { return jtrace_find(); }
