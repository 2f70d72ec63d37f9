#include "agent/samples/handler/thread_slot.h"

namespace jtrace::samples {

constinit thread_local ThreadSlot* tls_thread_slot = nullptr;
constinit thread_local int32_t tls_os_tid = 0;

}  // namespace jtrace::samples
