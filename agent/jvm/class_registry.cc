#include "agent/jvm/class_registry.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "agent/base/class_names.h"
#include "agent/jvm/jvmti_calls.h"
#include "agent/jvm/loader_ids.h"
#include "proto/trace_format.h"

namespace jtrace::jvm {
namespace {

// "java.lang.Object[]" from "[Ljava/lang/Object;".
std::string ArrayName(absl::string_view signature) {
  std::string brackets;
  while (absl::ConsumePrefix(&signature, "[")) brackets += "[]";
  constexpr std::pair<absl::string_view, absl::string_view> kPrimitives[] = {
      {"Z", "boolean"}, {"B", "byte"}, {"C", "char"},  {"S", "short"},
      {"I", "int"},     {"J", "long"}, {"F", "float"}, {"D", "double"}};
  for (const auto& [code, name] : kPrimitives) {
    if (signature == code) return absl::StrCat(name, brackets);
  }
  return BinaryName(Std(signature)) + brackets;
}

// Whether a class of this status has methods that can be read.
bool HasMethods(jint status) {
  constexpr jint kNone = JVMTI_CLASS_STATUS_ARRAY | JVMTI_CLASS_STATUS_PRIMITIVE;
  return (status & JVMTI_CLASS_STATUS_PREPARED) != 0 && (status & kNone) == 0;
}

// How a thread waits in a native method: in Unsafe.park, or in Thread's sleep, sleep0, sleepNanos0.
MethodWait WaitOf(absl::string_view class_name, absl::string_view method) {
  if (class_name == "jdk.internal.misc.Unsafe" && method == "park") return MethodWait::kPark;
  if (class_name == "java.lang.Thread" && absl::StartsWith(method, "sleep")) {
    return MethodWait::kSleep;
  }
  return MethodWait::kNone;
}

}  // namespace

ClassRegistry::ClassIdentity ClassRegistry::IdentityOf(jclass klass) {
  Allocated<char> signature(env_);
  if (env_->GetClassSignature(klass, signature.out(), nullptr) != JVMTI_ERROR_NONE) return {};
  jobject loader = nullptr;
  env_->GetClassLoader(klass, &loader);
  const uint32_t number = loaders_.Of(loader);
  const std::string name = BinaryName(signature.get());
  loaders_.AddClassName(name, number);
  return {.id = encoder_.ClassNumber(name, number),
          .name = name,
          .loader = number,
          .is_probe = loader == nullptr && IsProbeClass(signature.get())};
}

void ClassRegistry::ReadJvm(const void* libjvm_address) {
  if (nmethods_ == nullptr) nmethods_ = std::make_unique<NmethodReader>(libjvm_address);
  if (!memory_.usable()) memory_ = MethodReader::Of(libjvm_address, Jni());
}

JNIEnv* ClassRegistry::Jni() const {
  JNIEnv* jni = nullptr;
  return vm_->GetEnv(reinterpret_cast<void**>(&jni), JNI_VERSION_10) == JNI_OK ? jni : nullptr;
}

void ClassRegistry::OnMethodIdsRequired(std::function<void()> needed) {
  absl::MutexLock lock(&mutex_);
  on_method_ids_required_ = std::move(needed);
  if (requires_method_ids_) on_method_ids_required_();
}

void ClassRegistry::RequireMethodIds() {
  absl::MutexLock lock(&mutex_);
  if (std::exchange(requires_method_ids_, true)) return;
  if (on_method_ids_required_ != nullptr) on_method_ids_required_();
}

void ClassRegistry::Record(const NumberedMethods& methods, bool are_probes) {
  absl::MutexLock lock(&mutex_);
  for (const auto& [key, numbers] : methods) {
    const auto [entry, is_new] = methods_.try_emplace(key, numbers);
    if (!is_new && entry->second.method != numbers.method) reuses_.fetch_add(1);
    entry->second = numbers;
    if (are_probes) probe_methods_.insert(numbers.method);
  }
}

std::optional<int32_t> ClassRegistry::CountMethods(jclass klass) {
  const auto methods = memory_.MethodsOf(Jni(), klass);
  if (!methods.has_value()) return std::nullopt;
  absl::MutexLock lock(&mutex_);
  ++counted_classes_;
  bool was_reused = false;
  for (const uintptr_t method : *methods) {
    was_reused |= methods_.erase(method) != 0;
    was_reused |= old_methods_.erase(method) != 0;
  }
  if (was_reused) reuses_.fetch_add(1);
  return static_cast<int32_t>(methods->size());
}

void ClassRegistry::RecordPrepared(jclass klass) {
  jlong tag = 0;
  env_->GetTag(klass, &tag);
  if (IsTag(tag, TagKind::kClass)) return;
  const ClassIdentity identity = IdentityOf(klass);
  if (identity.id == 0) return;
  env_->SetTag(klass, MakeTag(TagKind::kClass, identity.id));
  AddKlass(klass, identity.id);
  {
    absl::MutexLock lock(&mutex_);
    ++loaded_[identity.id];
  }
  trace::EventRecord event = {
      .time_ns = clock_.Now(), .major = format::kClass, .minor = format::kClassLoad};
  proto::ClassEvent details;
  details.set_class_id(identity.id);
  std::optional<int32_t> count;
  if (numbers_lazily_ && !identity.is_probe) count = CountMethods(klass);
  if (!count.has_value()) {
    for (const auto& [key, numbers] : NumberMethods(klass, identity)) {
      details.add_method(numbers.method);
    }
  }
  event.value = count.value_or(details.method_size());
  const std::string location = locations_.Remove(identity.name, identity.loader);
  event.text = location;
  encoder_.AddClassEvent(event, std::move(details));
  if (encoder_.Wants(format::kClass, format::kClassMethod)) RecordMethods(klass, identity);
}

void ClassRegistry::ForEachLoaded(JNIEnv* jni, absl::FunctionRef<void(jclass, jint)> visit) {
  LocalFrame frame(jni);
  jint count = 0;
  Allocated<jclass> classes(env_);
  if (env_->GetLoadedClasses(&count, classes.out()) != JVMTI_ERROR_NONE) return;
  for (jint i = 0; i < count; ++i) {
    jint status = 0;
    env_->GetClassStatus(classes[i], &status);
    visit(classes[i], status);
  }
}

void ClassRegistry::RecordLoaded(JNIEnv* jni) {
  ForEachLoaded(jni, [&](jclass klass, jint status) {
    if ((status & JVMTI_CLASS_STATUS_ARRAY) != 0) PrepareArray(klass);
    if (HasMethods(status)) RecordPrepared(klass);
  });
}

void ClassRegistry::ForgetRecordedMethods() {
  absl::MutexLock lock(&mutex_);
  with_methods_.clear();
}

void ClassRegistry::RecordMethodsOfLoaded(JNIEnv* jni) {
  if (!encoder_.Wants(format::kClass, format::kClassMethod)) return;
  ForEachLoaded(jni, [&](jclass klass, jint status) {
    if (!HasMethods(status)) return;
    if (const ClassIdentity identity = IdentityOf(klass); identity.id != 0) {
      RecordMethods(klass, identity);
    }
  });
}

void ClassRegistry::RecordMethods(jclass klass, const ClassIdentity& identity) {
  {
    absl::MutexLock lock(&mutex_);
    if (!with_methods_.insert(identity.id).second) return;
  }
  NumberedMethods methods = MethodsInMemory(klass, identity);
  const bool in_memory = !methods.empty();
  if (!in_memory) methods = MethodsById(klass, identity);
  constexpr int64_t kUnknown = -1;
  for (const auto& [key, numbers] : methods) {
    const uintptr_t code =
        in_memory && nmethods_ != nullptr ? nmethods_->CodeOf(key) : NmethodReader::kUnknown;
    const bool is_known = code != NmethodReader::kUnknown;
    proto::ClassEvent details;
    details.set_class_id(identity.id);
    details.add_method(numbers.method);
    if (is_known && code != 0) {
      details.add_jitted_index(0);
      details.add_jitted_address(code);
    }
    encoder_.AddClassEvent({.time_ns = clock_.Now(),
                            .major = format::kClass,
                            .minor = format::kClassMethod,
                            .value = is_known ? static_cast<int64_t>(code != 0) : kUnknown},
                           std::move(details));
  }
}

// Arrays have no methods and are not classes of the trace, but threads may wait on one.
void ClassRegistry::PrepareArray(jclass klass) {
  Allocated<char> signature(env_);
  if (env_->GetClassSignature(klass, signature.out(), nullptr) != JVMTI_ERROR_NONE) return;
  jobject loader = nullptr;
  env_->GetClassLoader(klass, &loader);
  AddKlass(klass, encoder_.ClassNumber(ArrayName(signature.get()), loaders_.Of(loader)));
}

void ClassRegistry::AddKlass(jclass klass, uint32_t class_id) {
  const uintptr_t at = memory_.KlassOf(Jni(), klass);
  if (at == 0) return;
  absl::MutexLock lock(&mutex_);
  classes_[at] = class_id;
}

uint32_t ClassRegistry::ClassOf(uintptr_t klass) const {
  absl::MutexLock lock(&mutex_);
  const auto found = classes_.find(klass);
  return found != classes_.end() ? found->second : 0;
}

void ClassRegistry::Renumber(jclass klass) {
  const ClassIdentity identity = IdentityOf(klass);
  if (identity.id == 0) return;
  RequireMethodIds();
  Record(MethodsById(klass, identity), identity.is_probe);
  // If ids are numbers (since JDK 26), frames have the Methods.
  Record(MethodsInMemory(klass, identity), identity.is_probe);
}

bool ClassRegistry::ForEachMethod(jclass klass, MethodReader::Visitor visit) const {
  return memory_.ForEachMethod(Jni(), klass, visit);
}

void ClassRegistry::KeepOldMethods(jclass klass,
                                   absl::FunctionRef<uintptr_t(jmethodID)> method_behind) {
  // Numbers methods that no sample has contained yet, with the routines of their present code.
  if (numbers_lazily_) {
    const ClassIdentity identity = IdentityOf(klass);
    Record(MethodsInMemory(klass, identity), identity.is_probe);
  }
  jint count = 0;
  Allocated<jmethodID> methods(env_);
  if (env_->GetClassMethods(klass, &count, methods.out()) != JVMTI_ERROR_NONE) return;
  for (jint i = 0; i < count; ++i) {
    const uintptr_t method = method_behind(methods[i]);
    Numbers numbers = NumbersOf(KeyOf(methods[i]));
    if (numbers.method == 0) numbers = NumbersOf(method);
    if (method == 0 || numbers.method == 0) continue;
    absl::MutexLock lock(&mutex_);
    old_methods_[method] = {.class_id = numbers.class_id, .method = numbers.method};
  }
}

void ClassRegistry::ForgetUnsampledOldMethods() {
  absl::MutexLock lock(&mutex_);
  absl::erase_if(old_methods_, [](const auto& entry) { return !entry.second.was_sampled; });
}

uint32_t ClassRegistry::OldMethod(uintptr_t method) const {
  absl::MutexLock lock(&mutex_);
  const auto found = old_methods_.find(method);
  if (found == old_methods_.end()) return 0;
  found->second.was_sampled = true;
  return found->second.method;
}

uint32_t ClassRegistry::NumberOf(jclass klass) {
  jlong tag = 0;
  env_->GetTag(klass, &tag);
  return IsTag(tag, TagKind::kClass) ? TagNumber(tag) : IdentityOf(klass).id;
}

void ClassRegistry::Unload(jlong tag) {
  if (!IsTag(tag, TagKind::kClass)) return;
  {
    absl::MutexLock lock(&mutex_);
    const auto found = loaded_.find(TagNumber(tag));
    if (found != loaded_.end() && --found->second == 0) loaded_.erase(found);
  }
  proto::ClassEvent details;
  details.set_class_id(TagNumber(tag));
  encoder_.AddClassEvent({.time_ns = clock_.Now(),
                          .major = format::kClass,
                          .minor = format::kClassLoad | format::kEnd},
                         std::move(details));
}

bool ClassRegistry::IsLoaded(uint32_t class_id) const {
  absl::MutexLock lock(&mutex_);
  return loaded_.contains(class_id);
}

void ClassRegistry::Forget(const absl::flat_hash_set<uint32_t>& classes) {
  const auto is_of_them = [&](const auto& entry) {
    return classes.contains(entry.second.class_id);
  };
  absl::MutexLock lock(&mutex_);
  absl::erase_if(methods_, is_of_them);
  absl::erase_if(old_methods_, is_of_them);
  absl::erase_if(classes_, [&](const auto& entry) { return classes.contains(entry.second); });
  absl::erase_if(with_methods_, [&](uint32_t class_id) { return classes.contains(class_id); });
}

ClassRegistry::Numbers ClassRegistry::NumbersOf(MethodKey method) const {
  absl::MutexLock lock(&mutex_);
  const auto found = methods_.find(method);
  return found != methods_.end() ? found->second : Numbers();
}

uint32_t ClassRegistry::MethodOf(MethodKey method) const { return NumbersOf(method).method; }

MethodWait ClassRegistry::WaitIn(MethodKey method) const { return NumbersOf(method).wait; }

bool ClassRegistry::IsProbe(uint32_t method) const {
  absl::MutexLock lock(&mutex_);
  return probe_methods_.contains(method);
}

uint32_t ClassRegistry::RoutineOf(MethodKey method) const { return NumbersOf(method).routine; }

ClassRegistry::Numbers ClassRegistry::NumberMethod(const ClassIdentity& identity,
                                                   absl::string_view name,
                                                   absl::string_view descriptor) {
  const auto numbers = encoder_.MethodIdsOf(identity.id, name, descriptor);
  return {.class_id = identity.id,
          .method = numbers.method,
          .routine = numbers.routine,
          .wait = WaitOf(identity.name, name)};
}

ClassRegistry::Numbers ClassRegistry::NumberById(jmethodID id, const ClassIdentity& identity) {
  Allocated<char> name(env_);
  Allocated<char> descriptor(env_);
  if (env_->GetMethodName(id, name.out(), descriptor.out(), nullptr) != JVMTI_ERROR_NONE) {
    return {};
  }
  return NumberMethod(identity, name.get(), descriptor.get());
}

ClassRegistry::NumberedMethods ClassRegistry::MethodsInMemory(jclass klass,
                                                              const ClassIdentity& identity) {
  struct Copied {
    uintptr_t method;
    std::string name;
    std::string descriptor;
  };
  // Copied first: numbering may wait for a lock while another agent redefines the class.
  std::vector<Copied> copied;
  const bool are_all = memory_.ForEachMethod(Jni(), klass, [&](const NamedMethod& it) {
    copied.push_back({it.method, std::string(it.name), std::string(it.descriptor)});
  });
  NumberedMethods methods;
  if (!are_all) return methods;
  for (const Copied& it : copied) {
    methods.emplace_back(it.method, NumberMethod(identity, it.name, it.descriptor));
  }
  return methods;
}

ClassRegistry::NumberedMethods ClassRegistry::MethodsById(jclass klass,
                                                          const ClassIdentity& identity) {
  NumberedMethods methods;
  jint count = 0;
  Allocated<jmethodID> ids(env_);
  if (env_->GetClassMethods(klass, &count, ids.out()) != JVMTI_ERROR_NONE) return methods;
  for (jint i = 0; i < count; ++i) {
    methods.emplace_back(KeyOf(ids[i]), NumberById(ids[i], identity));
  }
  return methods;
}

ClassRegistry::NumberedMethods ClassRegistry::NumberMethods(jclass klass,
                                                            const ClassIdentity& identity) {
  NumberedMethods methods = MethodsInMemory(klass, identity);
  if (methods.empty()) {
    methods = MethodsById(klass, identity);
    if (!methods.empty()) RequireMethodIds();
  }
  Record(methods, identity.is_probe);
  return methods;
}

uint32_t ClassRegistry::DefineMethod(jmethodID id) {
  if (const uint32_t known = MethodOf(KeyOf(id)); known != 0) return known;
  jclass declaring = nullptr;
  if (env_->GetMethodDeclaringClass(id, &declaring) != JVMTI_ERROR_NONE) return 0;
  const LocalRef<jclass> klass(Jni(), declaring);
  const ClassIdentity identity = IdentityOf(klass.get());
  if (identity.id == 0) return 0;
  const Numbers numbers = NumberById(id, identity);
  if (numbers.method != 0) Record({{KeyOf(id), numbers}}, identity.is_probe);
  return numbers.method;
}

uint64_t ClassRegistry::CountedClasses() const {
  absl::MutexLock lock(&mutex_);
  return counted_classes_;
}

uint32_t ClassRegistry::DefineMethodAt(uintptr_t method) {
  constexpr int kTries = 3;
  uint32_t number = 0;
  for (int i = 0; i < kTries; ++i) {
    if (TryToDefine(method, number)) return number;
  }
  reuses_.fetch_add(1);
  return number;
}

bool ClassRegistry::TryToDefine(uintptr_t method, uint32_t& number) {
  const uint64_t counted_before = CountedClasses();
  const auto found = memory_.Describe(method);
  const uint32_t class_id = found.has_value() ? ClassOf(found->klass) : 0;
  number = 0;
  if (class_id == 0) return true;
  ClassIdentity identity;
  identity.id = class_id;
  identity.name = DottedName(found->class_name);
  const Numbers numbers = NumberMethod(identity, found->name, found->descriptor);
  number = numbers.method;
  absl::MutexLock lock(&mutex_);
  // A class that was counted meanwhile may have taken the address.
  if (counted_classes_ != counted_before) return false;
  methods_.insert_or_assign(method, numbers);
  return true;
}

}  // namespace jtrace::jvm
