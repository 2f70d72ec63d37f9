// A Code attribute (JVMS 4.7.3), read in place: bytecode, exception table, attributes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/classfile/byte_io.h"
#include "common/classfile/constant_pool.h"

namespace jtrace::classfile {

// Positions in a Code attribute. It begins with attribute_name_index, attribute_length (JVMS 4.7),
// max_stack, max_locals, code_length and code (JVMS 4.7.3).
inline constexpr size_t kAttributeLengthOffset = 2;
inline constexpr size_t kAttributeBodyOffset = 6;
inline constexpr size_t kCodeLengthOffset = 10;
inline constexpr size_t kCodeOffset = 14;

// code_length is less than 65536 (JVMS 4.7.3).
inline constexpr uint32_t kMaxCodeSize = 65535;

// The attributes of a Code attribute whose layout the rewriter knows.
enum class CodeTable : uint8_t {
  kUnknown,
  kLineNumbers,
  kLocalVariables,  // LocalVariableTable and LocalVariableTypeTable: same shape
  kStackMap,
  kTypeAnnotations,  // visible or not
  kCldcStackMap,     // `StackMap` of Java ME, which HotSpot ignores: dropped
};

// An attribute of the Code attribute.
struct CodeSubAttribute {
  CodeTable table = CodeTable::kUnknown;
  uint16_t name_index = 0;
  Bytes body;
};

// A row of the exception table.
struct ExceptionRow {
  uint16_t start = 0;  // first bci covered
  uint16_t end = 0;    // first bci no longer covered
  uint16_t handler = 0;
  uint16_t catch_type = 0;  // 0: anything
};

struct CodeAttribute {
  uint16_t name_index = 0;
  uint16_t max_stack = 0;
  uint16_t max_locals = 0;
  Bytes code;
  std::vector<ExceptionRow> exceptions;
  std::vector<CodeSubAttribute> attributes;

  // Reads a whole attribute (name, length, body) into this object, reusing its vectors. False if
  // it is malformed.
  bool Parse(Bytes attribute, const ConstantPool& pool);
};

}  // namespace jtrace::classfile
