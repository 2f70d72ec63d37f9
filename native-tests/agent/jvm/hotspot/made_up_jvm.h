// A made-up JVM: classes that lie in memory as HotSpot's do, and the functions that read them.
#pragma once

#include <jvmti.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "agent/jvm/hotspot/method_reader.h"

namespace jtrace::testing {

// An address of a method: what it belongs to changes as classes are loaded.
struct MadeUpMethod {
  uintptr_t const_method = 0;
  uintptr_t address() const { return reinterpret_cast<uintptr_t>(this); }
};

// Lives as long as the JVM.
class MadeUpClass {
 public:
  // `methods`: names and addresses; each has the descriptor "()V".
  MadeUpClass(const std::string& name, std::vector<std::pair<std::string, MadeUpMethod*>> methods)
      : signature("L" + name + ";"), name_(Symbol(name)), void_(Symbol("()V")) {
    const_methods_.resize(methods.size());
    names_.reserve(methods.size());
    constants_.reserve(2 + methods.size());
    constants_.push_back(address());
    constants_.push_back(reinterpret_cast<uintptr_t>(void_.data()));
    methods_.push_back(methods.size());
    for (size_t i = 0; i < methods.size(); ++i) {
      names_.push_back(Symbol(methods[i].first));
      constants_.push_back(reinterpret_cast<uintptr_t>(names_.back().data()));
      const_methods_[i] = {reinterpret_cast<uintptr_t>(constants_.data()),
                           static_cast<uint16_t>(i + 1), 0};
      methods[i].second->const_method = reinterpret_cast<uintptr_t>(&const_methods_[i]);
      methods_.push_back(methods[i].second->address());
    }
    klass_ = {reinterpret_cast<uintptr_t>(methods_.data()),
              reinterpret_cast<uintptr_t>(name_.data())};
  }
  MadeUpClass(const MadeUpClass&) = delete;

  uintptr_t address() const { return reinterpret_cast<uintptr_t>(&klass_); }
  std::vector<uintptr_t> Methods() const { return {methods_.begin() + 1, methods_.end()}; }
  jclass handle() { return reinterpret_cast<jclass>(this); }

  static jvm::MethodReader::Layout Layout() {
    return {.methods = 0,
            .array_length = 0,
            .array_data = 8,
            .const_method = 0,
            .constants = 0,
            .pool_holder = 0,
            .name_index = 8,
            .signature_index = 10,
            .klass_name = 8,
            .symbol_length = 0,
            .symbol_body = 2,
            .pool_size = 8};
  }

  const std::string signature;
  jlong tag = 0;

 private:
  struct ConstMethod {
    uintptr_t constants = 0;
    uint16_t name_index = 0, signature_index = 0;
  };

  static std::string Symbol(const std::string& text) {
    const auto length = static_cast<uint16_t>(text.size());
    std::string symbol(reinterpret_cast<const char*>(&length), sizeof length);
    // Long enough not to lie inside the string object, which moves.
    return symbol + text + std::string(32, ' ');
  }

  const std::string name_, void_;
  std::vector<std::string> names_;
  std::vector<uintptr_t> constants_, methods_;
  std::vector<ConstMethod> const_methods_;
  std::array<uintptr_t, 2> klass_ = {};
};

// One at a time.
class MadeUpJvm {
 public:
  MadeUpJvm() {
    the_jvm = this;
    vm_functions_.GetEnv = [](JavaVM*, void** env, jint) -> jint {
      *env = &the_jvm->jni_;
      return JNI_OK;
    };
    jni_functions_.GetLongField = [](JNIEnv*, jobject klass, jfieldID) {
      return static_cast<jlong>(Of(klass)->address());
    };
    tools_.GetTag = [](jvmtiEnv*, jobject klass, jlong* tag) {
      *tag = Of(klass)->tag;
      return JVMTI_ERROR_NONE;
    };
    tools_.SetTag = [](jvmtiEnv*, jobject klass, jlong tag) {
      Of(klass)->tag = tag;
      return JVMTI_ERROR_NONE;
    };
    tools_.GetClassSignature = [](jvmtiEnv*, jclass klass, char** signature, char**) {
      *signature = strdup(Of(klass)->signature.c_str());
      return JVMTI_ERROR_NONE;
    };
    tools_.GetClassLoader = [](jvmtiEnv*, jclass, jobject* loader) {
      *loader = nullptr;
      return JVMTI_ERROR_NONE;
    };
    // As ids, the addresses.
    tools_.GetClassMethods = [](jvmtiEnv*, jclass klass, jint* count, jmethodID** ids) {
      const std::vector<uintptr_t> methods = Of(klass)->Methods();
      *count = static_cast<jint>(methods.size());
      *ids = static_cast<jmethodID*>(std::malloc(methods.size() * sizeof(jmethodID)));
      std::memcpy(*ids, methods.data(), methods.size() * sizeof(jmethodID));
      return JVMTI_ERROR_NONE;
    };
    tools_.Deallocate = [](jvmtiEnv*, unsigned char* memory) {
      std::free(memory);
      return JVMTI_ERROR_NONE;
    };
    vm_.functions = &vm_functions_;
    jni_.functions = &jni_functions_;
    env_.functions = &tools_;
  }
  MadeUpJvm(const MadeUpJvm&) = delete;

  JavaVM* vm() { return &vm_; }
  jvmtiEnv* env() { return &env_; }

 private:
  static MadeUpClass* Of(jobject klass) { return reinterpret_cast<MadeUpClass*>(klass); }

  static inline MadeUpJvm* the_jvm = nullptr;
  JNIInvokeInterface_ vm_functions_{};
  JNINativeInterface_ jni_functions_{};
  jvmtiInterface_1_ tools_{};
  JavaVM vm_{};
  JNIEnv jni_{};
  jvmtiEnv env_{};
};

}  // namespace jtrace::testing
