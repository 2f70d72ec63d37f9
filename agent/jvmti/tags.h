// Meaning of the JVMTI object tags that the agent sets: numbers of class loaders, and of classes
// whose end ObjectFree reports.
#pragma once

#include <jvmti.h>

#include <atomic>
#include <cstdint>

namespace jtrace::jvmti {

enum class TagKind : jlong { kLoader = 1, kClass = 2 };

inline constexpr int kTagShift = 2;

inline jlong MakeTag(TagKind kind, uint32_t number) {
  return (static_cast<jlong>(number) << kTagShift) | static_cast<jlong>(kind);
}
inline bool IsTag(jlong tag, TagKind kind) { return (tag & 3) == static_cast<jlong>(kind); }
inline uint32_t TagNumber(jlong tag) { return static_cast<uint32_t>(tag >> kTagShift); }

// Numbers class loaders as they are seen; the boot loader is 0. Any Java thread, in any callback
// that may call JVMTI.
class LoaderNumbers {
 public:
  explicit LoaderNumbers(jvmtiEnv* env) : env_(env) {}

  uint32_t Of(jobject loader) {
    if (loader == nullptr) return 0;
    jlong tag = 0;
    env_->GetTag(loader, &tag);
    if (IsTag(tag, TagKind::kLoader)) return TagNumber(tag);
    // Two threads may number a new loader at once; the tag that stays decides, and the other
    // number is used for one class at most, whose routines then stand apart.
    const uint32_t number = next_.fetch_add(1, std::memory_order_relaxed);
    env_->SetTag(loader, MakeTag(TagKind::kLoader, number));
    env_->GetTag(loader, &tag);
    return TagNumber(tag);
  }

 private:
  jvmtiEnv* env_;
  std::atomic<uint32_t> next_{1};
};

}  // namespace jtrace::jvmti
