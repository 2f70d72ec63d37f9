// Parses the outline of a class file (JVMS 4.1): version, constant pool, names, methods.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/classfile/byte_io.h"
#include "common/classfile/constant_pool.h"

namespace jtrace::classfile {

// Access flags of fields and methods (JVMS tables 4.5-A and 4.6-A).
inline constexpr uint16_t kAccStatic = 0x0008;
inline constexpr uint16_t kAccSynchronized = 0x0020;
inline constexpr uint16_t kAccNative = 0x0100;
inline constexpr uint16_t kAccAbstract = 0x0400;

// One method_info of a class file; positions are those in the class bytes.
struct MethodInfo {
  uint16_t access = 0;
  std::string_view name;
  std::string_view descriptor;
  size_t begin = 0;
  size_t end = 0;
  size_t code_begin = 0;  // the Code attribute with its name and length; 0 without one
  size_t code_end = 0;
  Bytes annotations;  // the contents of RuntimeVisibleAnnotations; empty without it

  bool has_code() const { return code_begin != 0; }
};

// The outline of a class file: the bytes between the constant pool and the methods, and those
// after the methods, are kept unchanged.
struct ClassFile {
  Bytes bytes;
  uint16_t major_version = 0;
  uint16_t access = 0;
  ConstantPool pool;
  uint16_t this_index = 0;
  std::string_view this_name;
  std::string_view super_name;  // empty if there is none
  uint16_t interface_count = 0;
  size_t pool_end = 0;
  size_t methods_begin = 0;  // position of methods_count
  size_t methods_end = 0;
  std::vector<std::string_view> static_fields;  // those declared here
  std::vector<MethodInfo> methods;
};

// The name of the file that the class was compiled from (JVMS 4.7.10); empty: not known.
std::string_view SourceFileOf(const ClassFile& file);

// The text that maps its lines to those of other files (JVMS 4.7.11), which SourceMap reads; empty:
// there is none.
std::string_view SourceDebugExtensionOf(const ClassFile& file);

// Errors: InvalidArgument if `bytes` is not a class file, Unimplemented for a version before 45.3
// (whose Code attributes are laid out differently) or after 72 (Java 28).
absl::StatusOr<ClassFile> ParseClassFile(Bytes bytes);

}  // namespace jtrace::classfile
