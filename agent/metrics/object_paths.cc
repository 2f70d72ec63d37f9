#include "agent/metrics/object_paths.h"

#include <unistd.h>

#include <array>

#include "absl/container/inlined_vector.h"
#include "agent/jvm/env.h"
#include "agent/samples/handler/own_work.h"
#include "agent/signal_safe/position.h"

namespace jtrace::metrics {

using signal_safe::At;
using signal_safe::Node;
using signal_safe::ReadRelaxed;

namespace {

constexpr uint64_t kAll = Bit(Metric::kAllocObjects) | kLives;

void JNICALL OnAllocated(jvmtiEnv* env, JNIEnv*, jthread, jobject object, jclass, jlong bytes) {
  if (ObjectSources* const self = jvm::OwnerOf<ObjectSources>(env)) {
    self->Allocated(env, object, bytes);
  }
}

// An object's tag: the path that allocated it, and its size, a multiple of 8. Never 0.
constexpr int kGranule = 3;
constexpr int kPathShift = 32;
static_assert(ObjectPaths::kMaxPaths <= 1u << (63 - kPathShift));

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
  if (ObjectSources* const self = jvm::OwnerOf<ObjectSources>(env)) self->Freed(env, tag);
}

jvmtiEventCallbacks Callbacks() {
  jvmtiEventCallbacks callbacks = {};
  callbacks.SampledObjectAlloc = samples::kAsOwn<OnAllocated>;
  callbacks.ObjectFree = samples::kAsOwn<OnFreed>;
  return callbacks;
}

// The capabilities of sampled allocations and, with `tags`, of freed objects. False: this JVM
// refuses one.
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

void ObjectPaths::Begin() {
  End();
  const std::lock_guard lock(mutex_);
  known_.resize(kKnown);
  AddLocked({});  // kNowhere
  AddLocked({});  // kTooMany
}

void ObjectPaths::End() {
  const std::lock_guard lock(mutex_);
  paths_ = {};
  owners_ = {};
  owner_of_ = {};
  children_ = {};
  known_ = {};
  for (std::atomic<Block*>& block : blocks_) delete block.exchange(nullptr);
}

// ---- Where a thread is ------------------------------------------------------------------------

uint32_t ObjectPaths::Current(uint64_t java_tid, bool is_virtual) {
  if (java_tid == 0) return kNowhere;
  const signal_safe::Arena* arena = signal_safe::published_arena.load(std::memory_order_acquire);
  const signal_safe::ThreadState* state =
      arena == nullptr ? nullptr : signal_safe::FindThreadState(arena, java_tid);
  const std::lock_guard lock(mutex_);
  // The memory of a thread that has ended may be gone at any moment.
  if (state == nullptr || signal_safe::ReadAcquire(state->ended) != 0) {
    return RootLocked(java_tid, is_virtual, /*has_tree=*/false);
  }
  return PathLocked(arena, *state, is_virtual);
}

uint32_t ObjectPaths::PathLocked(const signal_safe::Arena* arena,
                                 const signal_safe::ThreadState& state, bool is_virtual) {
  const uint64_t frees = signal_safe::ReadAcquire(arena->frees);
  const auto is_known = [&](const KnownPath& known, const Node* node) {
    return known.node == node && known.java_tid == state.tid && known.frees == frees;
  };
  absl::InlinedVector<const Node*, 64> steps;
  const Node* const root = At<Node>(arena, state.root);
  const auto* node = reinterpret_cast<const Node*>(ReadRelaxed(state.current));
  if (node == nullptr) return kNowhere;  // the call found no memory
  signal_safe::Climb at(arena, *node);
  for (; node != root && !is_known(KnownLocked(node), node); node = &*at) {
    steps.push_back(node);
    if (!at.Up()) return kNowhere;
  }
  uint32_t path =
      node == root ? RootLocked(state.tid, is_virtual, /*has_tree=*/true) : KnownLocked(node).path;
  for (size_t i = steps.size(); i-- > 0;) {
    path = ChildLocked(path, steps[i]->routine);
    KnownLocked(steps[i]) = {steps[i], state.tid, frees, path};
  }
  return path;
}

ObjectPaths::KnownPath& ObjectPaths::KnownLocked(const Node* node) {
  return known_[(reinterpret_cast<uintptr_t>(node) >> signal_safe::kGranuleShift) % kKnown];
}

uint32_t ObjectPaths::RootLocked(uint64_t java_tid, bool is_virtual, bool has_tree) {
  uint64_t owner = is_virtual ? Owner::kVirtual : java_tid;
  const bool is_full = owners_.size() >= max_owners_ && !owner_of_.contains(owner);
  if (is_full && !is_virtual) owner = Owner::kMore;
  const auto [entry, is_new] = owner_of_.try_emplace(owner, owners_.size());
  if (is_new) {
    const uint32_t root = AddLocked({.owner = entry->second});
    owners_.push_back({.java_tid = owner, .root = root});
  }
  Owner& known = owners_[entry->second];
  known.has_tree |= has_tree;
  return known.root;
}

uint32_t ObjectPaths::ChildLocked(uint32_t parent, uint32_t routine) {
  if (parent < kFirstPath) return parent;
  const auto found = children_.find({parent, routine});
  if (found != children_.end()) return found->second;
  const uint32_t child =
      AddLocked({.parent = parent, .routine = routine, .owner = paths_[parent].owner});
  if (child != kTooMany) children_.emplace(std::pair(parent, routine), child);
  return child;
}

uint32_t ObjectPaths::AddLocked(const Path& path) {
  if (paths_.size() >= max_paths_) return kTooMany;
  const auto number = static_cast<uint32_t>(paths_.size());
  std::atomic<Block*>& block = blocks_[number / kBlock];
  if (number % kBlock == 0) block.store(new Block(), std::memory_order_release);
  paths_.push_back(path);
  return number;
}

// ---- Counts -----------------------------------------------------------------------------------

const ObjectPaths::Counts& ObjectPaths::CountsOf(uint32_t path) const {
  return (*blocks_[path / kBlock].load(std::memory_order_acquire))[path % kBlock];
}

void ObjectPaths::Made(uint32_t path, uint64_t bytes) {
  Counts& counts = CountsOf(path);
  counts.made_objects.fetch_add(1, std::memory_order_relaxed);
  counts.made_bytes.fetch_add(bytes, std::memory_order_relaxed);
}

// Whoever sees that an object was freed sees that it was made.
void ObjectPaths::Freed(uint32_t path, uint64_t bytes) {
  Counts& counts = CountsOf(path);
  counts.freed_objects.fetch_add(1, std::memory_order_release);
  counts.freed_bytes.fetch_add(bytes, std::memory_order_release);
}

PathObjects ObjectPaths::Read(uint32_t path) const {
  const Counts& counts = CountsOf(path);
  PathObjects read;
  read.freed.objects = counts.freed_objects.load(std::memory_order_acquire);
  read.freed.bytes = counts.freed_bytes.load(std::memory_order_acquire);
  read.made.objects = counts.made_objects.load(std::memory_order_relaxed);
  read.made.bytes = counts.made_bytes.load(std::memory_order_relaxed);
  return read;
}

void ObjectPaths::CopyTo(std::vector<Path>& paths, std::vector<Owner>& owners) const {
  const std::lock_guard lock(mutex_);
  paths.insert(paths.end(), paths_.begin() + static_cast<ptrdiff_t>(paths.size()), paths_.end());
  owners = owners_;
}

ObjectSources::ObjectSources(JavaVM* vm, ThreadCounters& counters)
    : counters_(counters), env_(vm, this, Callbacks()) {}

void ObjectSources::OpenEnvironment(bool tags) {
  jvmtiEnv* const env = env_.Open();
  if (env == nullptr) return;
  // Every 0 bytes: each object.
  if (AddCapabilities(env_, tags) && env->SetHeapSamplingInterval(0) == JVMTI_ERROR_NONE) return;
  env_.Dispose();
}

void ObjectSources::Prepare(uint64_t wanted) {
  Stop();
  if ((wanted & kAll) != 0) OpenEnvironment((wanted & kLives) != 0);
}

uint64_t ObjectSources::Start(uint64_t wanted, bool by_path) {
  AddLive(-live_objects_.load(), -live_bytes_.load());
  by_path_.store(false);
  if (env_.get() == nullptr) return 0;
  const bool tags = (wanted & kLives) != 0;
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

void ObjectSources::Stop() {
  jvmtiEnv* const env = env_.get();
  if (env == nullptr) return;
  constexpr jint kUsualInterval = 512 * 1024;
  env->SetHeapSamplingInterval(kUsualInterval);
  env_.Dispose();
  WaitForCallbacks();
}

bool ObjectSources::WaitForCallbacks() {
  constexpr int kPatience = 10'000;
  constexpr useconds_t kPause = 100;
  for (int i = 0; i < kPatience && !callbacks_.Idle(); ++i) usleep(kPause);
  return callbacks_.Idle();
}

void ObjectSources::Forget() {
  // A callback that has not ended by now may still count: its memory is leaked.
  if (by_path_.exchange(false) && WaitForCallbacks()) paths_.End();
}

void ObjectSources::AddLive(int64_t objects, int64_t bytes) {
  live_objects_.fetch_add(objects);
  live_bytes_.fetch_add(bytes);
  counters_.AddToProcess(static_cast<uint32_t>(Metric::kLiveObjects), objects);
  counters_.AddToProcess(static_cast<uint32_t>(Metric::kLiveBytes), bytes);
}

uint32_t ObjectSources::CurrentPath() {
  const auto thread = counters_.RegisterThread();
  if (!thread.has_value()) return ObjectPaths::kNowhere;
  return paths_.Current(thread->java_tid, /*is_virtual=*/thread->os_tid == 0);
}

void ObjectSources::Allocated(jvmtiEnv* env, jobject object, jlong bytes) {
  const CallbackScope scope(callbacks_);
  if (env != env_.get()) return;
  if (counts_.load()) counters_.Add(static_cast<uint32_t>(Metric::kAllocObjects), 1);
  if (!tags_.load()) return;
  const bool by_path = by_path_.load();
  const uint32_t path = by_path ? CurrentPath() : ObjectPaths::kNowhere;
  if (env->SetTag(object, TagOf(path, bytes)) != JVMTI_ERROR_NONE) return;
  if (by_path) paths_.Made(path, static_cast<uint64_t>(bytes));
  AddLive(1, bytes);
}

void ObjectSources::Freed(jvmtiEnv* env, int64_t tag) {
  const CallbackScope scope(callbacks_);
  if (env != env_.get()) return;
  const int64_t bytes = BytesOfTag(tag);
  if (by_path_.load()) paths_.Freed(PathOfTag(tag), static_cast<uint64_t>(bytes));
  AddLive(-1, -bytes);
  counters_.AddToProcess(static_cast<uint32_t>(Metric::kFreedObjects), 1);
  counters_.AddToProcess(static_cast<uint32_t>(Metric::kFreedBytes), bytes);
}

}  // namespace jtrace::metrics
