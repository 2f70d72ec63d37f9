#include "common/classfile/code_attribute.h"

namespace jtrace::classfile {
namespace {

CodeTable TableOf(std::string_view name) {
  if (name == "LineNumberTable") return CodeTable::kLineNumbers;
  if (name == "StackMapTable") return CodeTable::kStackMap;
  if (name == "LocalVariableTable" || name == "LocalVariableTypeTable") {
    return CodeTable::kLocalVariables;
  }
  if (name == "RuntimeVisibleTypeAnnotations" || name == "RuntimeInvisibleTypeAnnotations") {
    return CodeTable::kTypeAnnotations;
  }
  if (name == "StackMap") return CodeTable::kCldcStackMap;
  return CodeTable::kUnknown;
}

}  // namespace

bool CodeAttribute::Parse(Bytes attribute, const ConstantPool& pool) {
  ByteReader reader(attribute);
  name_index = reader.U2();
  reader.Skip(4);  // the length: the caller cut the attribute by it
  max_stack = reader.U2();
  max_locals = reader.U2();
  code = reader.Take(reader.U4());
  if (!reader.ok() || code.empty() || code.size() > kMaxCodeSize) return false;

  exceptions.clear();
  for (int n = reader.U2(); n > 0 && reader.ok(); --n) {
    ExceptionRow& row = exceptions.emplace_back();
    row.start = reader.U2();
    row.end = reader.U2();
    row.handler = reader.U2();
    row.catch_type = reader.U2();
  }
  attributes.clear();
  for (int n = reader.U2(); n > 0 && reader.ok(); --n) {
    CodeSubAttribute& sub = attributes.emplace_back();
    sub.name_index = reader.U2();
    sub.body = reader.Take(reader.U4());
    sub.table = TableOf(pool.Utf8(sub.name_index).value_or(""));
  }
  return reader.ok() && reader.AtEnd();
}

}  // namespace jtrace::classfile
