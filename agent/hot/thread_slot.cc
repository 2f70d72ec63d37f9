#include "agent/hot/thread_slot.h"

namespace jtrace::hot {

constinit thread_local ThreadSlot* tls_thread_slot = nullptr;

}  // namespace jtrace::hot
