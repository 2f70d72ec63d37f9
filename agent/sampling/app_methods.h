// The application's methods, for the stack modes that tell them from others.
#ifndef JTRACE_AGENT_SAMPLING_APP_METHODS_H_
#define JTRACE_AGENT_SAMPLING_APP_METHODS_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "agent/hot/method_table.h"

namespace jtrace::sampling {

// Any thread. Tables live as long as this, since handlers may hold them: each is half the next
// one's size, so that all of them take twice what the last one does. Destroyed with the sampler,
// once no handler runs.
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
  struct Table {
    explicit Table(uint32_t count)
        : slots(new std::atomic<uintptr_t>[count] {}), table{count - 1, slots.get()} {}

    std::unique_ptr<std::atomic<uintptr_t>[]> slots;
    hot::MethodTable table;
  };
  static void Insert(hot::MethodTable& table, uintptr_t method);

  absl::Mutex mutex_;
  std::vector<std::unique_ptr<Table>> tables_ ABSL_GUARDED_BY(mutex_);  // the last one is in use
  uint32_t count_ ABSL_GUARDED_BY(mutex_) = 0;
  std::atomic<const hot::MethodTable*> published_;
};

}  // namespace jtrace::sampling

#endif  // JTRACE_AGENT_SAMPLING_APP_METHODS_H_
