#include "agent/metrics/object_sources.h"

#include <array>

#include "agent/hot/own_work.h"
#include "agent/jvmti/env.h"

namespace jtrace::metrics {
namespace {

constexpr uint64_t kLives = Bit(Metric::kLiveBytes) | Bit(Metric::kFreedBytes);
constexpr uint64_t kAll = Bit(Metric::kAllocObjects) | kLives;

// Null in a late callback, whose environment has been disposed of.
ObjectSources* Sources(jvmtiEnv* env) {
  void* self = nullptr;
  env->GetEnvironmentLocalStorage(&self);
  return static_cast<ObjectSources*>(self);
}

void JNICALL OnAllocated(jvmtiEnv* env, JNIEnv*, jthread, jobject object, jclass, jlong bytes) {
  if (ObjectSources* const self = Sources(env)) self->Allocated(env, object, bytes);
}

// An object's tag is its size.
void JNICALL OnFreed(jvmtiEnv* env, jlong tag) {
  if (ObjectSources* const self = Sources(env)) self->Freed(env, tag);
}

bool AddCapabilities(jvmtiEnv* env, bool tags) {
  jvmtiCapabilities asked = {};
  asked.can_generate_sampled_object_alloc_events = 1;
  asked.can_tag_objects = tags ? 1 : 0;
  asked.can_generate_object_free_events = tags ? 1 : 0;
  return env->AddCapabilities(&asked) == JVMTI_ERROR_NONE;
}

bool EnableEvents(jvmtiEnv* env, bool tags) {
  constexpr std::array kEvents = {JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, JVMTI_EVENT_OBJECT_FREE};
  return jvmti::EnableEvents(env, {kEvents.data(), tags ? 2u : 1u}).ok();
}

}  // namespace

jvmtiEnv* ObjectSources::MakeEnvironment(uint64_t wanted) {
  jvmtiEnv* env = nullptr;
  if (vm_->GetEnv(reinterpret_cast<void**>(&env), JVMTI_VERSION_11) != JNI_OK) return nullptr;
  jvmtiEventCallbacks callbacks = {};
  callbacks.SampledObjectAlloc = hot::kAsOwn<OnAllocated>;
  callbacks.ObjectFree = hot::kAsOwn<OnFreed>;
  env->SetEnvironmentLocalStorage(this);
  env->SetEventCallbacks(&callbacks, sizeof(callbacks));
  // Every 0 bytes: each object.
  if (AddCapabilities(env, (wanted & kLives) != 0) &&
      env->SetHeapSamplingInterval(0) == JVMTI_ERROR_NONE) {
    return env;
  }
  env->DisposeEnvironment();
  return nullptr;
}

void ObjectSources::Prepare(uint64_t wanted) {
  Stop();
  if ((wanted & kAll) != 0) env_.store(MakeEnvironment(wanted));
}

uint64_t ObjectSources::Start(uint64_t wanted) {
  AddLive(-live_.load());
  if (env_.load() == nullptr) return 0;
  const bool tags = (wanted & kLives) != 0;
  counts_.store((wanted & Bit(Metric::kAllocObjects)) != 0);
  tags_.store(tags);
  if (EnableEvents(env_.load(), tags)) return wanted & kAll;
  Stop();
  return 0;
}

void ObjectSources::Stop() {
  jvmtiEnv* const env = env_.exchange(nullptr);
  if (env == nullptr) return;
  constexpr jint kUsualInterval = 512 * 1024;
  env->SetHeapSamplingInterval(kUsualInterval);
  env->DisposeEnvironment();
}

void ObjectSources::AddLive(int64_t bytes) {
  live_.fetch_add(bytes);
  counters_.AddToProcess(static_cast<uint32_t>(Metric::kLiveBytes), bytes);
}

void ObjectSources::Allocated(jvmtiEnv* env, jobject object, jlong bytes) {
  if (env != env_.load()) return;
  if (counts_.load()) counters_.Add(static_cast<uint32_t>(Metric::kAllocObjects), 1);
  if (tags_.load() && env->SetTag(object, bytes) == JVMTI_ERROR_NONE) AddLive(bytes);
}

void ObjectSources::Freed(jvmtiEnv* env, int64_t bytes) {
  if (env != env_.load()) return;
  AddLive(-bytes);
  counters_.AddToProcess(static_cast<uint32_t>(Metric::kFreedBytes), bytes);
}

}  // namespace jtrace::metrics
