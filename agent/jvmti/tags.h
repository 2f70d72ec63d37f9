// Meaning of the JVMTI object tags that the agent sets: numbers of class loaders, and of classes
// whose unloading ObjectFree reports.
#pragma once

#include <jvmti.h>

#include <cstdint>

namespace jtrace::jvmti {

enum class TagKind : jlong { kLoader = 1, kClass = 2 };

inline constexpr int kTagShift = 2;

inline jlong MakeTag(TagKind kind, uint32_t number) {
  return (static_cast<jlong>(number) << kTagShift) | static_cast<jlong>(kind);
}
inline bool IsTag(jlong tag, TagKind kind) { return (tag & 3) == static_cast<jlong>(kind); }
inline uint32_t TagNumber(jlong tag) { return static_cast<uint32_t>(tag >> kTagShift); }

}  // namespace jtrace::jvmti
