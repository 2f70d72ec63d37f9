#include "common/classfile/annotations.h"

namespace jtrace::classfile {
namespace {

// Nesting of annotation values; javac's own limit is far below.
constexpr int kMaxDepth = 64;

uint16_t Skip(ByteReader& reader, bool& good, int depth);

// The tags of JVMS 4.7.16.1.
void SkipElementValue(ByteReader& reader, bool& good, int depth) {
  good &= depth <= kMaxDepth;
  if (!good) return;
  switch (reader.U1()) {
    case 'e':
      reader.Skip(4);  // type_name_index, const_name_index
      break;
    case '@':
      Skip(reader, good, depth + 1);
      break;
    case '[':
      for (int n = reader.U2(); n > 0 && good && reader.ok(); --n) {
        SkipElementValue(reader, good, depth + 1);
      }
      break;
    default:
      reader.Skip(2);  // const_value_index or class_info_index
  }
}

uint16_t Skip(ByteReader& reader, bool& good, int depth) {
  const uint16_t type = reader.U2();
  for (int n = reader.U2(); n > 0 && good && reader.ok(); --n) {
    reader.Skip(2);  // element_name_index
    SkipElementValue(reader, good, depth);
  }
  return type;
}

}  // namespace

uint16_t SkipAnnotation(ByteReader& reader, bool& good) { return Skip(reader, good, 0); }

bool HasAnnotation(Bytes body, const ConstantPool& pool, std::string_view type) {
  ByteReader reader(body);
  bool good = true;
  for (int n = reader.U2(); n > 0; --n) {
    const uint16_t index = SkipAnnotation(reader, good);
    if (!good || !reader.ok()) return false;
    if (pool.Utf8(index) == type) return true;
  }
  return false;
}

}  // namespace jtrace::classfile
