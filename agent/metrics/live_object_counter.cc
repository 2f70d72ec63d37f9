#include "agent/metrics/live_object_counter.h"

#include <unistd.h>

#include <array>

#include "agent/signal_safe/agent_work_scope.h"

namespace jtrace::metrics {
namespace {

constexpr uint64_t kAll = Bit(Metric::kAllocObjects) | kTaggedObjectMetrics;

void JNICALL OnAllocated(jvmtiEnv* env, JNIEnv*, jthread, jobject object, jclass, jlong bytes) {
  if (LiveObjectCounter* const self = jvm::OwnerOf<LiveObjectCounter>(env)) {
    self->Allocated(env, object, bytes);
  }
}

// An object's tag: the path that allocated it in the upper half, and its size in units of 8 bytes.
// Never 0, which JVMTI takes for untagged.
constexpr int kGranule = 3;
constexpr int kPathShift = 32;
static_assert(AllocationPaths::kMaxPaths <= 1u << (63 - kPathShift));

int64_t TagOf(uint32_t path, int64_t bytes) {
  return static_cast<int64_t>(path) << kPathShift | bytes >> kGranule;
}
uint32_t PathOfTag(int64_t tag) { return static_cast<uint32_t>(tag >> kPathShift); }
int64_t BytesOfTag(int64_t tag) { return (tag & UINT32_MAX) << kGranule; }

class CallbackScope {
 public:
  explicit CallbackScope(signal_safe::InFlight& callbacks) : callbacks_(callbacks) {
    callbacks_.Enter();
  }
  ~CallbackScope() { callbacks_.Leave(); }
  CallbackScope(const CallbackScope&) = delete;
  CallbackScope& operator=(const CallbackScope&) = delete;

 private:
  signal_safe::InFlight& callbacks_;
};

void JNICALL OnFreed(jvmtiEnv* env, jlong tag) {
  if (LiveObjectCounter* const self = jvm::OwnerOf<LiveObjectCounter>(env)) self->Freed(env, tag);
}

jvmtiEventCallbacks Callbacks() {
  jvmtiEventCallbacks callbacks = {};
  callbacks.SampledObjectAlloc = signal_safe::kRunAsAgent<OnAllocated>;
  callbacks.ObjectFree = signal_safe::kRunAsAgent<OnFreed>;
  return callbacks;
}

// Adds the capabilities of sampled allocations and, with `tags`, of freed objects. Returns false if
// this JVM refuses one.
bool AddCapabilities(jvm::Environment& env, bool tags) {
  jvmtiCapabilities asked = {};
  asked.can_generate_sampled_object_alloc_events = 1;
  asked.can_tag_objects = tags ? 1 : 0;
  asked.can_generate_object_free_events = tags ? 1 : 0;
  const jvmtiCapabilities held = env.AddCapabilities(asked);
  return held.can_generate_sampled_object_alloc_events != 0 &&
         (!tags || (held.can_tag_objects != 0 && held.can_generate_object_free_events != 0));
}

bool EnableEvents(jvm::Environment& env, bool tags) {
  constexpr std::array kEvents = {JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, JVMTI_EVENT_OBJECT_FREE};
  return env.Enable({kEvents.data(), tags ? 2u : 1u}).ok();
}

}  // namespace

LiveObjectCounter::LiveObjectCounter(JavaVM* vm, ThreadCounters& counters)
    : counters_(counters), env_(vm, this, Callbacks()) {}

void LiveObjectCounter::OpenEnvironment(bool tags) {
  jvmtiEnv* const env = env_.Open();
  if (env == nullptr) return;
  // Every 0 bytes: each object.
  if (AddCapabilities(env_, tags) && env->SetHeapSamplingInterval(0) == JVMTI_ERROR_NONE) return;
  env_.Dispose();
}

void LiveObjectCounter::Prepare(uint64_t wanted) {
  Stop();
  if ((wanted & kAll) != 0) OpenEnvironment((wanted & kTaggedObjectMetrics) != 0);
}

uint64_t LiveObjectCounter::Start(uint64_t wanted, bool by_path) {
  AddLive(-live_objects_.load(), -live_bytes_.load());
  by_path_.store(false);
  if (env_.get() == nullptr) return 0;
  const bool tags = (wanted & kTaggedObjectMetrics) != 0;
  if (tags && by_path) {
    paths_.Begin();
    by_path_.store(true);
  }
  counts_.store((wanted & Bit(Metric::kAllocObjects)) != 0);
  tags_.store(tags);
  if (EnableEvents(env_, tags)) return wanted & kAll;
  Stop();
  return 0;
}

void LiveObjectCounter::Stop() {
  jvmtiEnv* const env = env_.get();
  if (env == nullptr) return;
  constexpr jint kUsualInterval = 512 * 1024;
  env->SetHeapSamplingInterval(kUsualInterval);
  env_.Dispose();
  WaitForCallbacks();
}

bool LiveObjectCounter::WaitForCallbacks() {
  constexpr int kPatience = 10'000;
  constexpr useconds_t kPause = 100;
  for (int i = 0; i < kPatience && !callbacks_.Idle(); ++i) usleep(kPause);
  return callbacks_.Idle();
}

void LiveObjectCounter::Forget() {
  // A callback that has not ended by now may still count, so the paths' memory is kept.
  if (by_path_.exchange(false) && WaitForCallbacks()) paths_.End();
}

void LiveObjectCounter::AddLive(int64_t objects, int64_t bytes) {
  live_objects_.fetch_add(objects);
  live_bytes_.fetch_add(bytes);
  counters_.AddToProcess(static_cast<uint32_t>(Metric::kLiveObjects), objects);
  counters_.AddToProcess(static_cast<uint32_t>(Metric::kLiveBytes), bytes);
}

uint32_t LiveObjectCounter::CurrentPath() {
  const auto thread = counters_.RegisterThread();
  if (!thread.has_value()) return AllocationPaths::kNoPath;
  return paths_.CurrentPath(thread->java_tid, /*is_virtual=*/thread->os_tid == 0);
}

void LiveObjectCounter::Allocated(jvmtiEnv* env, jobject object, jlong bytes) {
  const CallbackScope scope(callbacks_);
  if (env != env_.get()) return;
  if (counts_.load()) counters_.Add(static_cast<uint32_t>(Metric::kAllocObjects), 1);
  if (!tags_.load()) return;
  const bool by_path = by_path_.load();
  const uint32_t path = by_path ? CurrentPath() : AllocationPaths::kNoPath;
  if (env->SetTag(object, TagOf(path, bytes)) != JVMTI_ERROR_NONE) return;
  if (by_path) paths_.Allocated(path, static_cast<uint64_t>(bytes));
  AddLive(1, bytes);
}

void LiveObjectCounter::Freed(jvmtiEnv* env, int64_t tag) {
  const CallbackScope scope(callbacks_);
  if (env != env_.get()) return;
  const int64_t bytes = BytesOfTag(tag);
  if (by_path_.load()) paths_.Freed(PathOfTag(tag), static_cast<uint64_t>(bytes));
  AddLive(-1, -bytes);
  counters_.AddToProcess(static_cast<uint32_t>(Metric::kFreedObjects), 1);
  counters_.AddToProcess(static_cast<uint32_t>(Metric::kFreedBytes), bytes);
}

}  // namespace jtrace::metrics
