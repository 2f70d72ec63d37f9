// Annotations of class files (JVMS 4.7.16).
#pragma once

#include <string_view>

#include "common/classfile/byte_io.h"
#include "common/classfile/constant_pool.h"

namespace jtrace::classfile {

// Reads over one annotation and returns its type_index. False in `good` if it is malformed, or
// nested deeper than any compiler makes it.
uint16_t SkipAnnotation(ByteReader& reader, bool& good);

// Whether `body`, the contents of a RuntimeVisibleAnnotations attribute, has an annotation of that
// type: a field descriptor, `Ljava/lang/Deprecated;`. False for malformed ones.
bool HasAnnotation(Bytes body, const ConstantPool& pool, std::string_view type);

}  // namespace jtrace::classfile
