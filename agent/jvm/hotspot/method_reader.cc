#include "agent/jvm/hotspot/method_reader.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "agent/jvm/hotspot/checked_read.h"
#include "agent/jvm/hotspot/java_thread_layout.h"
#include "agent/jvm/hotspot/jvm_flags.h"
#include "agent/samples/walk/debug_info.h"

namespace jtrace::jvm {
namespace {

// Far more than a class file can have.
constexpr int32_t kMaxMethods = 1 << 17;

// Plain loads, for memory that belongs to a live class.
struct PlainMemory {
  using Text = absl::string_view;
  static Text TextAt(uintptr_t address, size_t length) {
    return {reinterpret_cast<const char*>(address), length};
  }
  static bool Copy(uintptr_t address, void* to, size_t bytes) {
    std::memcpy(to, reinterpret_cast<const void*>(address), bytes);
    return true;
  }
};

// System calls, for a JVM whose tables may be wrong.
struct CheckedMemory {
  using Text = std::string;
  static Text TextAt(uintptr_t address, size_t length) {
    std::string text(length, '\0');
    return Copy(address, text.data(), length) ? text : std::string();
  }
  static bool Copy(uintptr_t address, void* to, size_t bytes) {
    return CheckedCopy(address, to, bytes);
  }
};

// Guarded loads, for a class that may be unloaded meanwhile.
struct GuardedMemory {
  using Text = std::string;
  static Text TextAt(uintptr_t address, size_t length) {
    std::string text;
    samples::GuardedBytes bytes(address);
    while (text.size() < length && bytes.ok()) text.push_back(static_cast<char>(bytes.Next()));
    return bytes.ok() ? text : std::string();
  }
  static bool Copy(uintptr_t address, void* to, size_t bytes) {
    samples::GuardedBytes from(address);
    for (size_t i = 0; i < bytes; ++i) static_cast<uint8_t*>(to)[i] = from.Next();
    return from.ok();
  }
};

// 0 if it cannot be read.
template <typename Memory, typename T>
T LoadThrough(uintptr_t address) {
  T value{};
  return Memory::Copy(address, &value, sizeof(T)) ? value : T{};
}

template <typename Memory>
uintptr_t Follow(uintptr_t object, samples::Offset offset) {
  return object == 0 ? 0 : LoadThrough<Memory, uintptr_t>(object + static_cast<uintptr_t>(offset));
}

// Whether the JVM checks all calls of JNI (-Xcheck:jni): it aborts at a field unknown to Java.
bool ChecksJni(const VmStructs& structs) {
  return JvmFlags(structs).Bool("CheckJNICalls").value_or(true);
}

// HotSpot's jfieldID of an instance field: its offset above two bits, of which the upper is set;
// with value classes (JDK 28), above three.
jfieldID InstanceFieldId(int32_t offset, unsigned shift) {
  constexpr uintptr_t kInstance = 2;
  return reinterpret_cast<jfieldID>(static_cast<uintptr_t>(offset) << shift | kInstance);
}

// The shift of offsets in jfieldIDs, by a field whose offset Unsafe knows; 0: another form of ids.
unsigned ShiftOfFieldIds(JNIEnv* jni) {
  if (jni == nullptr || jni->PushLocalFrame(2) != JNI_OK) return 0;
  jclass const thread = jni->FindClass("java/lang/Thread");
  const samples::Offset eetop = ThreadFieldOffset(jni, "eetop");
  jfieldID const id = thread == nullptr ? nullptr : jni->GetFieldID(thread, "eetop", "J");
  if (jni->ExceptionCheck() == JNI_TRUE) jni->ExceptionClear();
  jni->PopLocalFrame(nullptr);
  if (id == nullptr || eetop == samples::kAbsent) return 0;
  for (const unsigned shift : {2U, 3U}) {
    if (id == InstanceFieldId(eetop, shift)) return shift;
  }
  return 0;
}

}  // namespace

MethodReader MethodReader::Of(const void* libjvm_address, JNIEnv* jni) {
  const auto structs = VmStructs::Of(libjvm_address);
  if (!structs.ok()) return {};
  MethodReader memory(**structs, ShiftOfFieldIds(jni));
  memory.usable_ = memory.usable_ && memory.ReadsWhatIsKnown(jni);
  return memory;
}

MethodReader::MethodReader(const VmStructs& structs, unsigned field_id_shift)
    : layout_{.methods = structs.Field("InstanceKlass", "_methods"),
              .array_length = structs.Field("Array<int>", "_length"),
              .array_data = structs.Field("Array<Method*>", "_data"),
              .const_method = structs.Field("Method", "_constMethod"),
              .constants = structs.Field("ConstMethod", "_constants"),
              .pool_holder = structs.Field("ConstantPool", "_pool_holder"),
              .name_index = structs.Field("ConstMethod", "_name_index"),
              .signature_index = structs.Field("ConstMethod", "_signature_index"),
              .klass_name = structs.Field("Klass", "_name"),
              .symbol_length = structs.Field("Symbol", "_length"),
              .symbol_body = structs.Field("Symbol", "_body[0]"),
              .pool_size = structs.Size("ConstantPool")} {
  const samples::Offset needed[] = {
      layout_.methods,         layout_.array_length,  layout_.array_data,
      layout_.const_method,    layout_.constants,     layout_.name_index,
      layout_.signature_index, layout_.symbol_length, layout_.symbol_body};
  const uintptr_t klass_offset = structs.Static("java_lang_Class", "_klass_offset");
  if (klass_offset == 0 || layout_.pool_size == 0 || field_id_shift == 0 || ChecksJni(structs)) {
    return;
  }
  if (std::find(std::begin(needed), std::end(needed), samples::kAbsent) != std::end(needed)) return;
  const auto offset = LoadThrough<CheckedMemory, int32_t>(klass_offset);
  // JNI reads the field without a check, so its offset must be possible.
  constexpr int32_t kLargestClass = 1024;
  if (offset <= 0 || offset >= kLargestClass || offset % 4 != 0) return;
  layout_.klass_field = InstanceFieldId(offset, field_id_shift);
  usable_ = true;
}

template <typename Memory>
typename Memory::Text MethodReader::Text(uintptr_t constants, uintptr_t index_address) const {
  const auto index = LoadThrough<Memory, uint16_t>(index_address);
  // The lowest bit of an entry is a mark of the JVM; the rest is the Symbol's address.
  const uintptr_t symbol =
      LoadThrough<Memory, uintptr_t>(constants + layout_.pool_size + 8 * uintptr_t{index}) &
      ~uintptr_t{1};
  return SymbolText<Memory>(symbol);
}

template <typename Memory>
typename Memory::Text MethodReader::SymbolText(uintptr_t symbol) const {
  if (symbol == 0) return {};
  const auto length =
      LoadThrough<Memory, uint16_t>(symbol + static_cast<uintptr_t>(layout_.symbol_length));
  return Memory::TextAt(symbol + static_cast<uintptr_t>(layout_.symbol_body), length);
}

uintptr_t MethodReader::KlassOf(JNIEnv* jni, jclass klass) const {
  if (!usable_ || jni == nullptr) return 0;
  return static_cast<uintptr_t>(jni->GetLongField(klass, layout_.klass_field));
}

template <typename Memory>
bool MethodReader::Read(uintptr_t klass, Visitor visit) const {
  const auto array = Follow<Memory>(klass, layout_.methods);
  if (array == 0) return false;
  const auto length =
      LoadThrough<Memory, int32_t>(array + static_cast<uintptr_t>(layout_.array_length));
  if (length <= 0 || length > kMaxMethods) return false;
  for (uintptr_t i = 0; i < static_cast<uintptr_t>(length); ++i) {
    const auto method =
        LoadThrough<Memory, uintptr_t>(array + static_cast<uintptr_t>(layout_.array_data) + 8 * i);
    const uintptr_t const_method = Follow<Memory>(method, layout_.const_method);
    const uintptr_t constants = Follow<Memory>(const_method, layout_.constants);
    if (constants == 0) return false;
    const auto name =
        Text<Memory>(constants, const_method + static_cast<uintptr_t>(layout_.name_index));
    const auto descriptor =
        Text<Memory>(constants, const_method + static_cast<uintptr_t>(layout_.signature_index));
    visit({.method = method, .name = name, .descriptor = descriptor});
  }
  return true;
}

std::optional<std::vector<uintptr_t>> MethodReader::MethodsOf(JNIEnv* jni, jclass klass) const {
  const uintptr_t array = Follow<PlainMemory>(KlassOf(jni, klass), layout_.methods);
  if (array == 0) return std::nullopt;
  const auto count =
      LoadThrough<PlainMemory, int32_t>(array + static_cast<uintptr_t>(layout_.array_length));
  if (count < 0 || count > kMaxMethods) return std::nullopt;
  std::vector<uintptr_t> methods(static_cast<size_t>(count));
  if (methods.empty()) return methods;
  PlainMemory::Copy(array + static_cast<uintptr_t>(layout_.array_data), methods.data(),
                    methods.size() * sizeof(uintptr_t));
  return methods;
}

bool MethodReader::ForEachMethod(JNIEnv* jni, jclass klass, Visitor visit) const {
  return Read<PlainMemory>(KlassOf(jni, klass), visit);
}

std::optional<MethodReader::Description> MethodReader::Describe(uintptr_t method) const {
  using Memory = GuardedMemory;
  if (!usable_ || layout_.pool_holder == samples::kAbsent) return std::nullopt;
  const uintptr_t const_method = Follow<Memory>(method, layout_.const_method);
  const uintptr_t constants = Follow<Memory>(const_method, layout_.constants);
  if (constants == 0) return std::nullopt;
  Description found;
  found.klass = Follow<Memory>(constants, layout_.pool_holder);
  if (found.klass != 0 && layout_.klass_name != samples::kAbsent) {
    found.class_name = SymbolText<Memory>(Follow<Memory>(found.klass, layout_.klass_name));
  }
  found.name = Text<Memory>(constants, const_method + static_cast<uintptr_t>(layout_.name_index));
  found.descriptor =
      Text<Memory>(constants, const_method + static_cast<uintptr_t>(layout_.signature_index));
  if (found.klass == 0 || found.name.empty() || !found.descriptor.starts_with('(')) {
    return std::nullopt;
  }
  return found;
}

bool MethodReader::ReadsWhatIsKnown(JNIEnv* jni) const {
  if (jni->PushLocalFrame(1) != JNI_OK) return false;
  jclass const object = jni->FindClass("java/lang/Object");
  const uintptr_t klass =
      object == nullptr ? 0
                        : static_cast<uintptr_t>(jni->GetLongField(object, layout_.klass_field));
  if (jni->ExceptionCheck() == JNI_TRUE) jni->ExceptionClear();
  jni->PopLocalFrame(nullptr);
  constexpr std::pair<absl::string_view, absl::string_view> kKnown[] = {
      {"<init>", "()V"},
      {"hashCode", "()I"},
      {"notifyAll", "()V"},
      {"toString", "()Ljava/lang/String;"},
      {"equals", "(Ljava/lang/Object;)Z"}};
  std::ptrdiff_t found = 0;
  const bool are_read = Read<CheckedMemory>(klass, [&](const NamedMethod& it) {
    found += std::ranges::count(kKnown, std::pair(it.name, it.descriptor));
  });
  return are_read && found == std::ssize(kKnown);
}

}  // namespace jtrace::jvm
