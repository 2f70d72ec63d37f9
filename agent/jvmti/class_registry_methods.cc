// Numbers of methods: by JVMTI, by the JVM's memory, at once or when a sample has them.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "agent/base/class_names.h"
#include "agent/jvmti/class_registry.h"
#include "agent/jvmti/env.h"

namespace jtrace::jvmti {
namespace {

// The native methods that a waiting thread is in: Thread.sleep up to JDK 18, sleep0, sleepNanos0.
MethodWait WaitOf(absl::string_view class_name, absl::string_view method) {
  if (class_name == "jdk.internal.misc.Unsafe" && method == "park") return MethodWait::kPark;
  if (class_name == "java.lang.Thread" && absl::StartsWith(method, "sleep")) {
    return MethodWait::kSleep;
  }
  return MethodWait::kNone;
}

}  // namespace

ClassRegistry::Numbers ClassRegistry::NumberMethod(const ClassIdentity& identity,
                                                   absl::string_view name,
                                                   absl::string_view descriptor) {
  const auto numbers = encoder_.NumbersOfMethod(identity.id, name, descriptor);
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
  // Copied at once: numbering may wait for a lock, and another agent may redefine the class
  // meanwhile.
  std::vector<Copied> copied;
  const bool are_all = memory_.ForEachMethod(Jni(), klass, [&](const MethodInMemory& it) {
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
    if (!methods.empty()) NeedIds();
  }
  Record(methods, identity.is_probe);
  return methods;
}

uint32_t ClassRegistry::Learn(jmethodID id) {
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

uint32_t ClassRegistry::LearnMethod(uintptr_t method) {
  constexpr int kTries = 3;
  uint32_t number = 0;
  for (int i = 0; i < kTries; ++i) {
    if (TryToLearn(method, number)) return number;
  }
  reuses_.fetch_add(1);
  return number;
}

bool ClassRegistry::TryToLearn(uintptr_t method, uint32_t& number) {
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

}  // namespace jtrace::jvmti
