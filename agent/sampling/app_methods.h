// The application's methods, for the stack modes that tell them from others.
#ifndef JTRACE_AGENT_SAMPLING_APP_METHODS_H_
#define JTRACE_AGENT_SAMPLING_APP_METHODS_H_

#include <atomic>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "agent/hot/method_table.h"

namespace jtrace::sampling {

// Any thread. Tables are never freed, as handlers may hold them: each is half the next one's size,
// so that all of them take twice what the last one does.
class AppMethods {
 public:
  AppMethods();

  // A jmethodID, not 0.
  void Add(uintptr_t method);
  // A new recording: there are none yet.
  void Clear();

  // Never null behind it.
  const std::atomic<const hot::MethodTable*>* published() const { return &published_; }

 private:
  static hot::MethodTable* NewTable(uint32_t slots);
  static void Insert(hot::MethodTable& table, uintptr_t method);

  absl::Mutex mutex_;
  hot::MethodTable* table_ ABSL_GUARDED_BY(mutex_);
  uint32_t count_ ABSL_GUARDED_BY(mutex_) = 0;
  std::atomic<const hot::MethodTable*> published_;
};

}  // namespace jtrace::sampling

#endif  // JTRACE_AGENT_SAMPLING_APP_METHODS_H_
