// Builds class files byte by byte, for tests.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/classfile/byte_io.h"

namespace jtrace::test {

using ByteVector = std::vector<uint8_t>;

// Concatenation of big-endian numbers, for attribute bodies.
class BytesOf {
 public:
  BytesOf& U1(uint32_t v) { return writer_.U1(v), *this; }
  BytesOf& U2(uint32_t v) { return writer_.U2(v), *this; }
  BytesOf& U4(uint32_t v) { return writer_.U4(v), *this; }
  BytesOf& Add(const ByteVector& v) { return writer_.Append(v), *this; }
  operator ByteVector() { return writer_.Release(); }  // NOLINT: reads as a literal

 private:
  classfile::ByteWriter writer_;
};

// A method and its Code attribute.
struct TestMethod {
  struct Row {
    uint16_t start, end, handler, type;
  };
  struct Attribute {
    std::string name;
    ByteVector body;
  };
  std::string name = "m";
  std::string descriptor = "()V";
  uint16_t access = 0x0009;  // public static
  ByteVector code = {};      // empty: no Code attribute
  uint16_t max_stack = 2;
  uint16_t max_locals = 0;
  std::vector<Row> exceptions = {};
  std::vector<Attribute> attributes = {};  // of the Code attribute
  std::vector<Attribute> own = {};         // of the method, besides
};

// Checks nothing.
class ClassBuilder {
 public:
  explicit ClassBuilder(std::string name = "T", uint16_t major = 61);

  uint16_t Utf8(const std::string& text);
  uint16_t Class(const std::string& name);
  uint16_t Method(const std::string& owner, const std::string& name, const std::string& descriptor);
  uint16_t Field(const std::string& owner, const std::string& name, const std::string& descriptor);
  uint16_t Integer(uint32_t value);
  uint16_t String(const std::string& text);
  // Declares a static field.
  ClassBuilder& StaticField(const std::string& name, const std::string& descriptor);
  // An attribute of the class: SourceFile, SourceDebugExtension.
  ClassBuilder& ClassAttribute(const std::string& name, const ByteVector& body);
  // Fills the pool up to that count with distinct integers.
  void PadPool(uint16_t count);
  ClassBuilder& Add(const TestMethod& method);
  ByteVector Build();

 private:
  uint16_t Entry(const ByteVector& bytes);
  uint16_t Member(uint8_t tag, const std::string& owner, const std::string& name,
                  const std::string& descriptor);

  uint16_t major_;
  uint16_t this_class_;
  uint16_t super_class_;
  std::map<ByteVector, uint16_t> known_;
  uint16_t pool_count_ = 1;
  classfile::ByteWriter pool_;
  uint16_t field_count_ = 0;
  classfile::ByteWriter fields_;
  uint16_t attribute_count_ = 0;
  classfile::ByteWriter attributes_;
  uint16_t method_count_ = 0;
  classfile::ByteWriter methods_;
};

// Wraps a method body as a class with this one method.
ByteVector ClassWith(const TestMethod& method, uint16_t major = 61);

}  // namespace jtrace::test
