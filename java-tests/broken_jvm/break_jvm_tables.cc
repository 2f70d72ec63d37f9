// An agent that breaks entries of the tables in which HotSpot describes itself (gHotSpotVM*), for
// tests of libjtrace.so in a JVM that is not what it says. The JVM itself does not use the tables.
// It is named before libjtrace.so:
//   -agentpath:libjtrace_break.so=field:nmethod::_method=+8;constant:MONITOR_WAIT=absent
//
// KIND:NAME=CHANGE; KIND is field, static, size, constant or longconstant. CHANGE:
//   +N         the offset, the address, the size or the value plus N
//   wild       an offset, size or value far outside of every object; an address that is not mapped
//   zero       a static: the address of a word of zeros; else 0
//   absent     the JVM has no such entry
// It uses only old functions of the C library, so that it runs in each system of the matrix.
#include <dlfcn.h>
#include <jni.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// Of libjvm, in the version of its oldest C library.
__asm__(".symver dlsym,dlsym@GLIBC_2.2.5");

namespace {

constexpr uint64_t kWildOffset = 0x3fff'fff0;
constexpr uint64_t kUnmapped = 0x10'0000;
uint64_t zeros[8];

uint64_t Exported(const char* name) {
  void* const variable = dlsym(RTLD_DEFAULT, name);
  return variable == nullptr ? 0 : *static_cast<uint64_t*>(variable);
}

// Where a row of the tables has a column. Entry: VMStruct, VMType…
uint64_t Column(const char* entry, const char* column) {
  char name[128];
  snprintf(name, sizeof name, "gHotSpot%sEntry%s", entry, column);
  return Exported(name);
}

const char* TextAt(const char* at) {
  const char* const text = *reinterpret_cast<const char* const*>(at);
  return text == nullptr ? "" : text;
}

template <typename T>
void Put(const char* at, T value) {
  const auto page = reinterpret_cast<uintptr_t>(at) & ~uintptr_t{4095};
  mprotect(reinterpret_cast<void*>(page), 8192, PROT_READ | PROT_WRITE);
  memcpy(const_cast<char*>(at), &value, sizeof value);
}

template <typename T>
T Changed(T before, const char* change, T wild, T zero) {
  if (strcmp(change, "wild") == 0) return wild;
  if (strcmp(change, "zero") == 0) return zero;
  return before + static_cast<T>(strtol(change, nullptr, 0));
}

template <typename T>
void Change(const char* at, const char* change, uint64_t wild, uint64_t zero) {
  T before;
  memcpy(&before, at, sizeof before);
  Put(at, Changed<T>(before, change, static_cast<T>(wild), static_cast<T>(zero)));
}

// How many rows were changed.
int BreakStructs(const char* type, const char* field, bool is_static, const char* change) {
  const char* row = reinterpret_cast<const char*>(Exported("gHotSpotVMStructs"));
  const uint64_t stride = Column("VMStruct", "ArrayStride");
  const uint64_t type_at = Column("VMStruct", "TypeNameOffset");
  const uint64_t field_at = Column("VMStruct", "FieldNameOffset");
  const uint64_t static_at = Column("VMStruct", "IsStaticOffset");
  const uint64_t offset_at = Column("VMStruct", "OffsetOffset");
  const uint64_t address_at = Column("VMStruct", "AddressOffset");
  int found = 0;
  for (; row != nullptr && *TextAt(row + type_at) != 0; row += stride) {
    int32_t row_is_static;
    memcpy(&row_is_static, row + static_at, sizeof row_is_static);
    if (strcmp(TextAt(row + type_at), type) != 0 || strcmp(TextAt(row + field_at), field) != 0 ||
        (row_is_static != 0) != is_static) {
      continue;
    }
    ++found;
    if (strcmp(change, "absent") == 0) {
      Put(row + field_at, "jtrace: broken");
    } else if (is_static) {
      Change<uint64_t>(row + address_at, change, kUnmapped, reinterpret_cast<uintptr_t>(zeros));
    } else {
      Change<uint64_t>(row + offset_at, change, kWildOffset, 0);
    }
  }
  return found;
}

// Types have a name and a size, constants a name and a value.
template <typename T>
int BreakNamed(const char* table, const char* entry, const char* name_column,
               const char* value_column, const char* name, const char* change) {
  const char* row = reinterpret_cast<const char*>(Exported(table));
  const uint64_t stride = Column(entry, "ArrayStride");
  const uint64_t name_at = Column(entry, name_column);
  const uint64_t value_at = Column(entry, value_column);
  int found = 0;
  for (; row != nullptr && *TextAt(row + name_at) != 0; row += stride) {
    if (strcmp(TextAt(row + name_at), name) != 0) continue;
    ++found;
    if (strcmp(change, "absent") == 0) {
      Put(row + name_at, "jtrace: broken");
    } else {
      Change<T>(row + value_at, change, kWildOffset, 0);
    }
  }
  return found;
}

int Break(const char* kind, char* name, const char* change) {
  if (strcmp(kind, "size") == 0) {
    return BreakNamed<uint64_t>("gHotSpotVMTypes", "VMType", "TypeNameOffset", "SizeOffset", name,
                                change);
  }
  if (strcmp(kind, "constant") == 0) {
    return BreakNamed<int32_t>("gHotSpotVMIntConstants", "VMIntConstant", "NameOffset",
                               "ValueOffset", name, change);
  }
  if (strcmp(kind, "longconstant") == 0) {
    return BreakNamed<int64_t>("gHotSpotVMLongConstants", "VMLongConstant", "NameOffset",
                               "ValueOffset", name, change);
  }
  // TYPE::FIELD; types may have colons, too.
  char* split = nullptr;
  for (char* at = strstr(name, "::"); at != nullptr; at = strstr(at + 1, "::")) {
    if (at[2] == '_' || split == nullptr) split = at;
    if (at[2] == '_') break;
  }
  if (split == nullptr) return 0;
  *split = 0;
  return BreakStructs(name, split + 2, strcmp(kind, "static") == 0, change);
}

}  // namespace

extern "C" JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM*, char* options, void*) {
  char* rest = options;
  for (char* each = strtok_r(options, ";", &rest); each != nullptr;
       each = strtok_r(nullptr, ";", &rest)) {
    char* const name = strchr(each, ':');
    char* const change = strrchr(each, '=');
    if (name == nullptr || change == nullptr) {
      fprintf(stderr, "break: write KIND:NAME=CHANGE, not %s\n", each);
      return JNI_ERR;
    }
    *name = *change = 0;
    const int found = Break(each, name + 1, change + 1);
    fprintf(stderr, "break: %d entries\n", found);
  }
  return JNI_OK;
}
