#pragma once

#include <cstdint>
#include <vector>

#include "agent/classfile/byte_io.h"
#include "agent/classfile/constant_pool.h"

namespace jtrace::classfile {

/// The attributes of a Code attribute whose layout the rewriter knows.
enum class CodeTable : uint8_t {
  kUnknown,
  kLineNumbers,
  kLocalVariables,  ///< LocalVariableTable and LocalVariableTypeTable: same shape
  kStackMap,
  kTypeAnnotations,  ///< visible or not
  kCldcStackMap,     ///< `StackMap` of Java ME, which HotSpot ignores: dropped
};

struct CodeSubAttribute {
  CodeTable table = CodeTable::kUnknown;
  uint16_t name_index = 0;
  Bytes body;
};

struct ExceptionRow {
  uint16_t start = 0;  ///< first bci covered
  uint16_t end = 0;    ///< first bci no longer covered
  uint16_t handler = 0;
  uint16_t catch_type = 0;  ///< 0: anything
};

/// A Code attribute, read in place (JVMS 4.7.3).
struct CodeAttribute {
  uint16_t name_index = 0;
  uint16_t max_stack = 0;
  uint16_t max_locals = 0;
  Bytes code;
  std::vector<ExceptionRow> exceptions;
  std::vector<CodeSubAttribute> attributes;

  /// Reads a whole attribute (name, length, body) into this object, reusing its vectors. False if
  /// it is malformed.
  bool Parse(Bytes attribute, const ConstantPool& pool);
};

}  // namespace jtrace::classfile
