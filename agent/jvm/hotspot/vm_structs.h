// The tables in which libjvm describes its own data structures.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "agent/jvm/hotspot/checked_read.h"
#include "agent/samples/walk/vm_layout.h"

namespace jtrace::jvm {

// gHotSpotVMStructs and its siblings, which HotSpot exports for its Serviceability Agent. Has only
// the entries that VmTableEntries lists; others are as if the JVM had none of the name. The tables
// are static data: they can be read as soon as libjvm is loaded, but static fields have their
// values only later. No answer is verified.
class VmStructs {
 public:
  // Returns the tables of the library that contains `libjvm_address`. They are constant, so they
  // are read once, and the result lives as long as the process. NotFound: the library is not
  // HotSpot's. Any thread.
  static absl::StatusOr<const VmStructs*> Of(const void* libjvm_address);
  // Reads the tables. `libjvm`: a handle for dlsym.
  static absl::StatusOr<VmStructs> Read(void* libjvm);

  // Returns the offset of a field in bytes; kAbsent if this JVM has none of that name. Of several
  // types, the first that has the field wins.
  samples::Offset Field(std::string_view type, std::string_view field) const;
  samples::Offset Field(std::initializer_list<std::string_view> types,
                        std::string_view field) const;
  // Returns the address of a static field; 0 if there is none.
  uintptr_t Static(std::string_view type, std::string_view field) const;
  // Returns the present value of a static pointer; 0 if there is none.
  uintptr_t StaticPointer(std::string_view type, std::string_view field) const;
  // Returns the value of an enumerator or constant; samples::kNoValue if there is none.
  int32_t Constant(std::string_view name) const;
  // The same for a constant of 64 bits.
  int64_t LongConstant(std::string_view name) const;
  // Returns the sizeof of a type; 0 if there is none.
  uint32_t Size(std::string_view type) const;

  // Whether the tables say that a field is of type `its_type`.
  bool HasType(std::string_view type, std::string_view field, std::string_view its_type) const;

 private:
  struct Rows;
  void ReadFields(void* libjvm, PageReader& reader, const Rows& rows);
  void ReadTypes(void* libjvm, PageReader& reader, const Rows& rows);

  using Key = std::pair<std::string_view, std::string_view>;
  // Keys point to the strings of VmTableEntries.
  absl::flat_hash_map<Key, int32_t> offsets_;
  absl::flat_hash_map<Key, uintptr_t> statics_;
  absl::flat_hash_map<std::string_view, uint32_t> sizes_;
  absl::flat_hash_map<std::string_view, int32_t> constants_;
  absl::flat_hash_map<std::string_view, int64_t> long_constants_;
  absl::flat_hash_map<Key, std::string> field_types_;
};

}  // namespace jtrace::jvm
