// The methods of a class, read from the JVM's own memory.
//
// JVMTI's GetClassMethods makes a jmethodID for each method, which HotSpot (up to JDK 25) never
// frees, not even with the class: about 110 bytes a class of four methods. A program that keeps
// loading classes would fill the memory with them. So JVMTI is used only if this does not work: in
// JVMs that do not describe themselves in a known way, and under -Xcheck:jni.
#pragma once

#include <jni.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "agent/jvm/hotspot/vm_structs.h"
#include "agent/samples/walk/vm_layout.h"

namespace jtrace::jvm {

// A method of the class.
struct NamedMethod {
  uintptr_t method = 0;  // HotSpot's Method, as long as the class lives and is not redefined
  absl::string_view name;
  absl::string_view descriptor;  // JVMS §4.3.3
};

class MethodReader {
 public:
  // Where the JVM keeps the data that is read; offsets in bytes.
  struct Layout {
    jfieldID klass_field = nullptr;  // of java.lang.Class: injected by the JVM, unknown to Java
    samples::Offset methods = samples::kAbsent;
    samples::Offset array_length = samples::kAbsent;
    samples::Offset array_data = samples::kAbsent;
    samples::Offset const_method = samples::kAbsent;
    samples::Offset constants = samples::kAbsent;
    samples::Offset pool_holder = samples::kAbsent;
    samples::Offset name_index = samples::kAbsent;
    samples::Offset signature_index = samples::kAbsent;
    samples::Offset klass_name = samples::kAbsent;
    samples::Offset symbol_length = samples::kAbsent;
    samples::Offset symbol_body = samples::kAbsent;
    uint32_t pool_size = 0;  // sizeof(ConstantPool): the entries follow it
  };

  MethodReader() = default;  // reads nothing
  // Trusts `layout`; for tests.
  explicit MethodReader(const Layout& layout) : usable_(true), layout_(layout) {}
  // `libjvm_address`: any address in libjvm. In VMInit or later, on a Java thread. Usable only if
  // it reads the known methods of java.lang.Object.
  static MethodReader Of(const void* libjvm_address, JNIEnv* jni);

  bool usable() const { return usable_; }
  // Returns HotSpot's Klass of a class or array class, valid as long as the class lives; 0 if it
  // cannot be read. On a Java thread.
  uintptr_t KlassOf(JNIEnv* jni, jclass klass) const;
  // Visits the methods of a linked class that is not an array, in the JVM's order. The texts are
  // the JVM's own and live as long as the class. False: not all can be read. On a Java thread.
  using Visitor = absl::FunctionRef<void(const NamedMethod&)>;
  bool ForEachMethod(JNIEnv* jni, jclass klass, Visitor visit) const;
  // Returns only the Methods, which is faster; nothing if they cannot be read. On a Java thread.
  std::optional<std::vector<uintptr_t>> MethodsOf(JNIEnv* jni, jclass klass) const;

  // A method by its address alone, with copied texts.
  struct Description {
    uintptr_t klass = 0;     // HotSpot's Klass of its class
    std::string class_name;  // as in class files, "java/lang/Thread"; empty if it cannot be read
    std::string name;
    std::string descriptor;
  };
  // Returns nothing if the address has no Method, or not any more. Any thread, with guarded loads,
  // which work once samples may be taken.
  std::optional<Description> Describe(uintptr_t method) const;

 private:
  MethodReader(const VmStructs& structs, unsigned field_id_shift);
  bool ReadsWhatIsKnown(JNIEnv* jni) const;
  template <typename Memory>
  bool Read(uintptr_t klass, Visitor visit) const;
  template <typename Memory>
  typename Memory::Text Text(uintptr_t constants, uintptr_t index_address) const;
  template <typename Memory>
  typename Memory::Text SymbolText(uintptr_t symbol) const;

  bool usable_ = false;
  Layout layout_;
};

}  // namespace jtrace::jvm
