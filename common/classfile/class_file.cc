#include "common/classfile/class_file.h"

#include <optional>
#include <string>

namespace jtrace::classfile {
namespace {

// The magic number and the versions that are accepted (JVMS 4.1).
constexpr uint32_t kMagic = 0xCAFEBABE;
constexpr uint16_t kOldestMajor = 45;
constexpr uint16_t kOldestMinor = 3;
constexpr uint16_t kNewestMajor = 72;

// A method_info without attributes (JVMS 4.6).
constexpr size_t kMinMethodSize = 8;

absl::Status Malformed(const char* what, const ByteReader& reader) {
  return absl::InvalidArgumentError(std::string("malformed class file: ") + what + " near byte " +
                                    std::to_string(reader.position()));
}

absl::Status ParseVersion(ByteReader& reader, ClassFile& out) {
  if (reader.U4() != kMagic) return absl::InvalidArgumentError("not a class file: wrong magic");
  const uint16_t minor = reader.U2();
  out.major_version = reader.U2();
  if (!reader.ok()) return Malformed("no version", reader);
  const bool too_old = out.major_version < kOldestMajor ||
                       (out.major_version == kOldestMajor && minor < kOldestMinor);
  if (too_old || out.major_version > kNewestMajor) {
    return absl::UnimplementedError("class file version " + std::to_string(out.major_version) +
                                    "." + std::to_string(minor));
  }
  return absl::OkStatus();
}

bool SkipAttributes(ByteReader& reader) {
  for (int n = reader.U2(); n > 0 && reader.ok(); --n) {
    reader.Skip(2);
    reader.Skip(reader.U4());
  }
  return reader.ok();
}

bool ParseFields(ByteReader& reader, ClassFile& out) {
  for (int n = reader.U2(); n > 0 && reader.ok(); --n) {
    const uint16_t access = reader.U2();
    const auto name = out.pool.Utf8(reader.U2());
    reader.Skip(2);
    if (name && (access & kAccStatic) != 0) out.static_fields.push_back(*name);
    if (!SkipAttributes(reader)) return false;
  }
  return reader.ok();
}

bool ParseMethod(ByteReader& reader, const ConstantPool& pool, MethodInfo& out) {
  out.begin = reader.position();
  out.access = reader.U2();
  const auto name = pool.Utf8(reader.U2());
  const auto descriptor = pool.Utf8(reader.U2());
  if (!name || !descriptor) return false;
  out.name = *name;
  out.descriptor = *descriptor;
  for (int n = reader.U2(); n > 0 && reader.ok(); --n) {
    const size_t attribute = reader.position();
    const auto attribute_name = pool.Utf8(reader.U2());
    const Bytes body = reader.Take(reader.U4());
    if (attribute_name == "RuntimeVisibleAnnotations") out.annotations = body;
    if (attribute_name == "Code") {
      if (out.has_code()) return false;
      out.code_begin = attribute;
      out.code_end = reader.position();
    }
  }
  out.end = reader.position();
  return reader.ok();
}

// The contents of the class's first attribute of that name; empty: it has none.
Bytes ClassAttribute(const ClassFile& file, std::string_view wanted) {
  ByteReader reader(file.bytes.subspan(file.methods_end));
  for (uint16_t left = reader.U2(); left > 0 && reader.ok(); --left) {
    const auto name = file.pool.Utf8(reader.U2());
    const Bytes body = reader.Take(reader.U4());
    if (name == wanted) return body;
  }
  return {};
}

}  // namespace

absl::StatusOr<ClassFile> ParseClassFile(Bytes bytes) {
  ByteReader reader(bytes);
  ClassFile out;
  out.bytes = bytes;
  if (absl::Status status = ParseVersion(reader, out); !status.ok()) return status;
  if (!out.pool.Parse(bytes, reader)) return Malformed("constant pool", reader);
  out.pool_end = reader.position();
  out.access = reader.U2();
  out.this_index = reader.U2();
  const uint16_t super_index = reader.U2();
  out.interface_count = reader.U2();
  reader.Skip(size_t{2} * out.interface_count);
  const auto this_name = out.pool.ClassName(out.this_index);
  const auto super_name = out.pool.ClassName(super_index);
  if (!reader.ok() || !this_name || (super_index != 0 && !super_name)) {
    return Malformed("class names", reader);
  }
  out.this_name = *this_name;
  if (super_name) out.super_name = *super_name;
  if (!ParseFields(reader, out)) return Malformed("fields", reader);
  out.methods_begin = reader.position();
  const uint16_t method_count = reader.U2();
  if (method_count > reader.remaining() / kMinMethodSize) return Malformed("methods", reader);
  out.methods.resize(method_count);
  for (MethodInfo& method : out.methods) {
    if (!ParseMethod(reader, out.pool, method)) return Malformed("a method", reader);
  }
  out.methods_end = reader.position();
  if (!SkipAttributes(reader) || !reader.AtEnd()) return Malformed("class attributes", reader);
  return out;
}

std::string_view SourceFileOf(const ClassFile& file) {
  const Bytes body = ClassAttribute(file, "SourceFile");
  if (body.size() != 2) return {};
  return file.pool.Utf8(LoadU2(body.data())).value_or(std::string_view());
}

std::string_view SourceDebugExtensionOf(const ClassFile& file) {
  return AsText(ClassAttribute(file, "SourceDebugExtension"));
}

}  // namespace jtrace::classfile
