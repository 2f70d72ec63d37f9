#include "agent/jvmti/method_memory.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "agent/sampling/jvm_flags.h"

namespace jtrace::jvmti {
namespace {

using sampling::VmStructs;

// Far more than a class file can have.
constexpr int32_t kMaxMethods = 1 << 17;

// What is read belongs to a class that lives: plain loads do.
template <typename T>
T Load(uintptr_t address) {
  T value;
  std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof(T));
  return value;
}

uintptr_t Follow(uintptr_t object, hot::Offset offset) {
  return object == 0 ? 0 : Load<uintptr_t>(object + static_cast<uintptr_t>(offset));
}

// Whether the JVM checks every use of JNI, and ends itself at a field that Java does not know.
bool ChecksJni(const VmStructs& structs) {
  return sampling::JvmFlags(structs).Bool("CheckJNICalls").value_or(true);
}

// HotSpot's jfieldID of an instance field: its offset above two bits, of which the upper is set.
jfieldID InstanceFieldId(int32_t offset) {
  constexpr uintptr_t kInstance = 2;
  return reinterpret_cast<jfieldID>(static_cast<uintptr_t>(offset) << 2 | kInstance);
}

}  // namespace

MethodMemory MethodMemory::Of(const void* libjvm_address) {
  Dl_info info;
  if (libjvm_address == nullptr || dladdr(libjvm_address, &info) == 0) return {};
  void* const libjvm = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  if (libjvm == nullptr) return {};
  const auto structs = VmStructs::Read(libjvm);
  dlclose(libjvm);
  return structs.ok() ? MethodMemory(*structs) : MethodMemory();
}

MethodMemory::MethodMemory(const VmStructs& structs)
    : methods_(structs.Field("InstanceKlass", "_methods")),
      array_length_(structs.Field("Array<int>", "_length")),
      array_data_(structs.Field("Array<Method*>", "_data")),
      const_method_(structs.Field("Method", "_constMethod")),
      constants_(structs.Field("ConstMethod", "_constants")),
      name_index_(structs.Field("ConstMethod", "_name_index")),
      signature_index_(structs.Field("ConstMethod", "_signature_index")),
      symbol_length_(structs.Field("Symbol", "_length")),
      symbol_body_(structs.Field("Symbol", "_body[0]")),
      pool_size_(structs.Size("ConstantPool")) {
  const hot::Offset needed[] = {methods_,         array_length_,  array_data_,
                                const_method_,    constants_,     name_index_,
                                signature_index_, symbol_length_, symbol_body_};
  const uintptr_t klass_offset = structs.Static("java_lang_Class", "_klass_offset");
  if (klass_offset == 0 || pool_size_ == 0 || ChecksJni(structs)) return;
  if (std::find(std::begin(needed), std::end(needed), hot::kAbsent) != std::end(needed)) return;
  klass_field_ = InstanceFieldId(Load<int32_t>(klass_offset));
  usable_ = true;
}

std::string MethodMemory::Text(uintptr_t constants, uintptr_t index_address) const {
  const uintptr_t entry = constants + pool_size_ + 8 * uintptr_t{Load<uint16_t>(index_address)};
  // The lowest bit marks entries that are not resolved, which texts are from the start.
  const uintptr_t symbol = Load<uintptr_t>(entry) & ~uintptr_t{1};
  if (symbol == 0) return {};
  const auto length = Load<uint16_t>(symbol + static_cast<uintptr_t>(symbol_length_));
  return {reinterpret_cast<const char*>(symbol + static_cast<uintptr_t>(symbol_body_)), length};
}

uintptr_t MethodMemory::KlassOf(JNIEnv* jni, jclass klass) const {
  if (!usable_ || jni == nullptr) return 0;
  return static_cast<uintptr_t>(jni->GetLongField(klass, klass_field_));
}

std::vector<MethodInMemory> MethodMemory::MethodsOf(JNIEnv* jni, jclass klass) const {
  const uintptr_t klass_at = KlassOf(jni, klass);
  const uintptr_t array = Follow(klass_at, methods_);
  if (array == 0) return {};
  const auto length = Load<int32_t>(array + static_cast<uintptr_t>(array_length_));
  if (length <= 0 || length > kMaxMethods) return {};
  std::vector<MethodInMemory> methods;
  methods.reserve(static_cast<size_t>(length));
  for (uintptr_t i = 0; i < static_cast<uintptr_t>(length); ++i) {
    const auto method = Load<uintptr_t>(array + static_cast<uintptr_t>(array_data_) + 8 * i);
    const uintptr_t const_method = Follow(method, const_method_);
    const uintptr_t constants = Follow(const_method, constants_);
    if (constants == 0) return {};
    methods.push_back(
        {.method = method,
         .name = Text(constants, const_method + static_cast<uintptr_t>(name_index_)),
         .descriptor = Text(constants, const_method + static_cast<uintptr_t>(signature_index_))});
  }
  return methods;
}

}  // namespace jtrace::jvmti
