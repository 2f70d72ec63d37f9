#include "agent/jvm/loader_ids.h"

#include "absl/hash/hash.h"
#include "agent/jvm/jvmti_calls.h"

namespace jtrace::jvm {
namespace {

constexpr int kDeepestHierarchy = 64;

uint64_t HashOf(absl::string_view name) { return absl::Hash<absl::string_view>()(name); }

}  // namespace

void LoaderIds::FindPlatformLoader(JNIEnv* jni) {
  LocalRef<jclass> type(jni, jni->FindClass("java/lang/ClassLoader"));
  if (type.get() == nullptr) return jni->ExceptionClear();
  const jmethodID platform =
      jni->GetStaticMethodID(type.get(), "getPlatformClassLoader", "()Ljava/lang/ClassLoader;");
  if (platform != nullptr) {
    LocalRef<jobject> loader(jni, jni->CallStaticObjectMethod(type.get(), platform));
    if (loader.get() != nullptr) env_->SetTag(loader.get(), MakeTag(TagKind::kLoader, 0));
  }
  if (jni->ExceptionCheck() == JNI_TRUE) jni->ExceptionClear();
  parent_field_.store(jni->GetFieldID(type.get(), "parent", "Ljava/lang/ClassLoader;"));
  if (jni->ExceptionCheck() == JNI_TRUE) jni->ExceptionClear();
}

uint32_t LoaderIds::Of(jobject loader) {
  if (loader == nullptr) return 0;
  jlong tag = 0;
  env_->GetTag(loader, &tag);
  if (IsTag(tag, TagKind::kLoader)) return TagNumber(tag);
  const uint32_t parent = ParentOf(loader);
  // Two threads may number a new loader at the same time. The tag that stays decides, and the other
  // number is used for at most one class, whose routines are then separate.
  const uint32_t number = next_.fetch_add(1, std::memory_order_relaxed);
  env_->SetTag(loader, MakeTag(TagKind::kLoader, number));
  env_->GetTag(loader, &tag);
  absl::MutexLock lock(&mutex_);
  parents_[TagNumber(tag)] = parent;
  return TagNumber(tag);
}

uint32_t LoaderIds::ParentOf(jobject loader) {
  const jfieldID field = parent_field_.load();
  JNIEnv* jni = nullptr;
  if (field == nullptr) return 0;
  if (vm_->GetEnv(reinterpret_cast<void**>(&jni), JNI_VERSION_10) != JNI_OK) return 0;
  LocalRef<jobject> parent(jni, jni->GetObjectField(loader, field));
  return Of(parent.get());
}

uint64_t LoaderIds::KeyOf(absl::string_view binary_name, uint32_t loader) const {
  return absl::HashOf(HashOf(binary_name), loader);
}

void LoaderIds::AddClassName(absl::string_view binary_name, uint32_t loader) {
  absl::MutexLock lock(&mutex_);
  if (!defined_.insert(KeyOf(binary_name, loader)).second) return;
  const auto [entry, is_new] = definers_.try_emplace(HashOf(binary_name), Definers{.only = loader});
  ++entry->second.count;
  entry->second.had_more |= !is_new;
}

void LoaderIds::Forget(absl::Span<const trace::ForgottenClass> classes,
                       const absl::flat_hash_set<uint32_t>& loaders) {
  absl::MutexLock lock(&mutex_);
  for (const trace::ForgottenClass& it : classes) {
    if (defined_.erase(KeyOf(it.name, it.loader)) == 0) continue;
    const auto found = definers_.find(HashOf(it.name));
    if (found != definers_.end() && --found->second.count == 0) definers_.erase(found);
  }
  for (const uint32_t loader : loaders) parents_.erase(loader);
}

uint32_t LoaderIds::ResolveLoader(absl::string_view binary_name, uint32_t from,
                                  uint32_t unknown) const {
  absl::MutexLock lock(&mutex_);
  const auto found = definers_.find(HashOf(binary_name));
  if (found == definers_.end()) return unknown;
  if (!found->second.had_more) return found->second.only;
  uint32_t loader = from;
  for (int depth = 0; depth < kDeepestHierarchy; ++depth) {
    if (defined_.contains(KeyOf(binary_name, loader))) return loader;
    const auto parent = parents_.find(loader);
    if (parent == parents_.end()) break;
    loader = parent->second;
  }
  return unknown;
}

}  // namespace jtrace::jvm
