#include "agent/hotspot/alloc_layout.h"

#include "absl/status/statusor.h"
#include "agent/hot/memory/safe_read.h"
#include "agent/hotspot/vm_structs.h"

namespace jtrace::metrics {
JavaThreadLayout ReadJavaThreadLayout(const void* libjvm_address) {
  const absl::StatusOr<const sampling::VmStructs*> tables = sampling::VmStructs::Of(libjvm_address);
  if (!tables.ok()) return {};
  const sampling::VmStructs* const structs = *tables;
  const hot::Offset bytes = structs->Field({"Thread", "JavaThread"}, "_allocated_bytes");
  const hot::Offset tlab = structs->Field({"Thread", "JavaThread"}, "_tlab");
  const hot::Offset top = structs->Field("ThreadLocalAllocBuffer", "_top");
  const hot::Offset start = structs->Field("ThreadLocalAllocBuffer", "_start");
  const hot::Offset os_thread = structs->Field({"JavaThread", "Thread"}, "_osthread");
  const hot::Offset os_thread_id = structs->Field("OSThread", "_thread_id");
  JavaThreadLayout layout;
  if (bytes != hot::kAbsent && tlab != hot::kAbsent && top != hot::kAbsent &&
      start != hot::kAbsent) {
    layout.allocated = {static_cast<uint32_t>(bytes), static_cast<uint32_t>(tlab + top),
                        static_cast<uint32_t>(tlab + start)};
  }
  if (os_thread != hot::kAbsent && os_thread_id != hot::kAbsent) {
    layout.os_thread = static_cast<uint32_t>(os_thread);
    layout.os_thread_id = static_cast<uint32_t>(os_thread_id);
  }
  return layout;
}

pid_t OsThreadIdOf(const JavaThreadLayout& layout, uint64_t java_thread) {
  if (java_thread == 0 || layout.os_thread == 0) return 0;
  const uintptr_t os_thread = hot::SafeReadOr0(java_thread + layout.os_thread);
  if (os_thread == 0) return 0;
  int32_t tid;  // at half a word in some JDKs
  return hot::SafeRead(os_thread + layout.os_thread_id, &tid) ? tid : 0;
}

}  // namespace jtrace::metrics
