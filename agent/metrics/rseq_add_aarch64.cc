// No restartable sequences are used here: threads share one slot of each counter (rseq_counters.h).
#include "agent/metrics/rseq_add.h"

namespace jtrace::metrics {

void* RseqArea() { return nullptr; }

bool RseqAdd(void*, char*, size_t, uint32_t, int64_t) { return false; }

}  // namespace jtrace::metrics
