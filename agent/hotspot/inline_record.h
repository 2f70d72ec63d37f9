// HotSpot's record of what was inlined, in what JVMTI CompiledMethodLoad reports.
#pragma once

#include <jvmti.h>
#include <jvmticmlr.h>

namespace jtrace::sampling {

// The record in the chain `compile_info`, or null.
inline const jvmtiCompiledMethodLoadInlineRecord* FindInlineRecord(const void* compile_info) {
  const auto* header = static_cast<const jvmtiCompiledMethodLoadRecordHeader*>(compile_info);
  for (; header != nullptr; header = header->next) {
    if (header->kind == JVMTI_CMLR_INLINE_INFO) {
      return reinterpret_cast<const jvmtiCompiledMethodLoadInlineRecord*>(header);
    }
  }
  return nullptr;
}

}  // namespace jtrace::sampling
