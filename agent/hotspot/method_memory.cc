#include "agent/hotspot/method_memory.h"

#include <dlfcn.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "absl/strings/string_view.h"
#include "agent/hotspot/java_fields.h"
#include "agent/hotspot/jvm_flags.h"

namespace jtrace::jvmti {
namespace {

using sampling::VmStructs;

// Far more than a class file can have.
constexpr int32_t kMaxMethods = 1 << 17;

// The memory belongs to a live class, so plain loads are enough.
struct PlainMemory {
  static bool Copy(uintptr_t address, void* to, size_t bytes) {
    std::memcpy(to, reinterpret_cast<const void*>(address), bytes);
    return true;
  }
};

// For a JVM whose tables may be wrong: the kernel copies, and fails where a load would end the
// process.
struct CheckedMemory {
  static bool Copy(uintptr_t address, void* to, size_t bytes) {
    const iovec local{to, bytes};
    const iovec remote{reinterpret_cast<void*>(address), bytes};
    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
  }
};

// 0 if it cannot be read.
template <typename Memory, typename T>
T Load(uintptr_t address) {
  T value{};
  return Memory::Copy(address, &value, sizeof(T)) ? value : T{};
}

template <typename Memory>
uintptr_t Follow(uintptr_t object, hot::Offset offset) {
  return object == 0 ? 0 : Load<Memory, uintptr_t>(object + static_cast<uintptr_t>(offset));
}

template <typename Memory>
std::string TextAt(uintptr_t address, size_t length) {
  std::string text(length, '\0');
  return Memory::Copy(address, text.data(), length) ? text : std::string();
}

// Whether the JVM checks every use of JNI, and aborts at a field that Java does not know.
bool ChecksJni(const VmStructs& structs) {
  return sampling::JvmFlags(structs).Bool("CheckJNICalls").value_or(true);
}

// HotSpot's jfieldID of an instance field: its offset above two bits, of which the upper is set;
// with value classes (JDK 28), above three.
jfieldID InstanceFieldId(int32_t offset, unsigned shift) {
  constexpr uintptr_t kInstance = 2;
  return reinterpret_cast<jfieldID>(static_cast<uintptr_t>(offset) << shift | kInstance);
}

// The form of ids by a field whose offset Unsafe knows; 0: another one. On a Java thread.
unsigned ShiftOfFieldIds(JNIEnv* jni) {
  if (jni == nullptr || jni->PushLocalFrame(2) != JNI_OK) return 0;
  jclass const thread = jni->FindClass("java/lang/Thread");
  const hot::Offset eetop = sampling::ThreadFieldOffset(jni, "eetop");
  jfieldID const id = thread == nullptr ? nullptr : jni->GetFieldID(thread, "eetop", "J");
  if (jni->ExceptionCheck() == JNI_TRUE) jni->ExceptionClear();
  jni->PopLocalFrame(nullptr);
  if (id == nullptr || eetop == hot::kAbsent) return 0;
  for (const unsigned shift : {2U, 3U}) {
    if (id == InstanceFieldId(eetop, shift)) return shift;
  }
  return 0;
}

}  // namespace

MethodMemory MethodMemory::Of(const void* libjvm_address, JNIEnv* jni) {
  Dl_info info;
  if (libjvm_address == nullptr || dladdr(libjvm_address, &info) == 0) return {};
  void* const libjvm = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  if (libjvm == nullptr) return {};
  const auto structs = VmStructs::Read(libjvm);
  dlclose(libjvm);
  if (!structs.ok()) return {};
  MethodMemory memory(*structs, ShiftOfFieldIds(jni));
  memory.usable_ = memory.usable_ && memory.ReadsWhatIsKnown(jni);
  return memory;
}

MethodMemory::MethodMemory(const VmStructs& structs, unsigned field_id_shift)
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
  if (klass_offset == 0 || pool_size_ == 0 || field_id_shift == 0 || ChecksJni(structs)) return;
  if (std::find(std::begin(needed), std::end(needed), hot::kAbsent) != std::end(needed)) return;
  klass_field_ = InstanceFieldId(Load<PlainMemory, int32_t>(klass_offset), field_id_shift);
  usable_ = true;
}

template <typename Memory>
std::string MethodMemory::Text(uintptr_t constants, uintptr_t index_address) const {
  const auto index = Load<Memory, uint16_t>(index_address);
  // The lowest bit marks entries that are not resolved, which texts are from the start.
  const uintptr_t symbol =
      Load<Memory, uintptr_t>(constants + pool_size_ + 8 * uintptr_t{index}) & ~uintptr_t{1};
  if (symbol == 0) return {};
  const auto length = Load<Memory, uint16_t>(symbol + static_cast<uintptr_t>(symbol_length_));
  return TextAt<Memory>(symbol + static_cast<uintptr_t>(symbol_body_), length);
}

uintptr_t MethodMemory::KlassOf(JNIEnv* jni, jclass klass) const {
  if (!usable_ || jni == nullptr) return 0;
  return static_cast<uintptr_t>(jni->GetLongField(klass, klass_field_));
}

template <typename Memory>
std::vector<MethodInMemory> MethodMemory::Read(uintptr_t klass) const {
  const auto array = Follow<Memory>(klass, methods_);
  if (array == 0) return {};
  const auto length = Load<Memory, int32_t>(array + static_cast<uintptr_t>(array_length_));
  if (length <= 0 || length > kMaxMethods) return {};
  std::vector<MethodInMemory> methods;
  methods.reserve(static_cast<size_t>(length));
  for (uintptr_t i = 0; i < static_cast<uintptr_t>(length); ++i) {
    const auto method =
        Load<Memory, uintptr_t>(array + static_cast<uintptr_t>(array_data_) + 8 * i);
    const uintptr_t const_method = Follow<Memory>(method, const_method_);
    const uintptr_t constants = Follow<Memory>(const_method, constants_);
    if (constants == 0) return {};
    methods.push_back(
        {.method = method,
         .name = Text<Memory>(constants, const_method + static_cast<uintptr_t>(name_index_)),
         .descriptor =
             Text<Memory>(constants, const_method + static_cast<uintptr_t>(signature_index_))});
  }
  return methods;
}

std::vector<MethodInMemory> MethodMemory::MethodsOf(JNIEnv* jni, jclass klass) const {
  return Read<PlainMemory>(KlassOf(jni, klass));
}

bool MethodMemory::ReadsWhatIsKnown(JNIEnv* jni) const {
  if (jni->PushLocalFrame(1) != JNI_OK) return false;
  jclass const object = jni->FindClass("java/lang/Object");
  const uintptr_t klass =
      object == nullptr ? 0 : static_cast<uintptr_t>(jni->GetLongField(object, klass_field_));
  if (jni->ExceptionCheck() == JNI_TRUE) jni->ExceptionClear();
  jni->PopLocalFrame(nullptr);
  const std::vector<MethodInMemory> methods = Read<CheckedMemory>(klass);
  const auto has = [&](absl::string_view name, absl::string_view descriptor) {
    return std::ranges::any_of(methods, [&](const MethodInMemory& it) {
      return it.name == name && it.descriptor == descriptor;
    });
  };
  return has("<init>", "()V") && has("hashCode", "()I") && has("notifyAll", "()V") &&
         has("toString", "()Ljava/lang/String;") && has("equals", "(Ljava/lang/Object;)Z");
}

}  // namespace jtrace::jvmti
