// The tables in which libjvm describes its own data structures.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "agent/hot/walk/vm_layout.h"
#include "agent/hotspot/checked_read.h"

namespace jtrace::sampling {

// gHotSpotVMStructs and gHotSpotVMTypes, which HotSpot exports for its Serviceability Agent: those
// entries that vm_reads.h lists; others are as if the JVM had none of the name. The tables are
// static data: they can be read as soon as libjvm is loaded, but static fields have their values
// only later. No answer is verified.
class VmStructs {
 public:
  // Of the library that `libjvm_address` lies in, e.g. (*vm)->functions->GetEnv. Read once in a
  // process: the tables are constant. The result lives as long as the process. NotFound: it is not
  // HotSpot's library. Any thread.
  static absl::StatusOr<const VmStructs*> Of(const void* libjvm_address);
  // libjvm: a handle for dlsym.
  static absl::StatusOr<VmStructs> Read(void* libjvm);

  // Offset of a field; kAbsent if this JVM has none of that name. The first of several names wins.
  hot::Offset Field(std::string_view type, std::string_view field) const;
  hot::Offset Field(std::initializer_list<std::string_view> types, std::string_view field) const;
  // Address of a static field; 0 if there is none.
  uintptr_t Static(std::string_view type, std::string_view field) const;
  // Value of a static pointer; 0 if there is none.
  uintptr_t StaticPointer(std::string_view type, std::string_view field) const;
  // Value of an enumerator or constant; hot::kNoValue if there is none.
  int32_t Constant(std::string_view name) const;
  // The same of a constant of 64 bits.
  int64_t LongConstant(std::string_view name) const;
  // sizeof a type; 0 if there is none.
  uint32_t Size(std::string_view type) const;

  // Whether the tables call a field's type that.
  bool HasType(std::string_view type, std::string_view field, std::string_view its_type) const;

 private:
  struct Rows;
  void ReadFields(void* libjvm, PageReader& reader, const Rows& rows);
  void ReadTypes(void* libjvm, PageReader& reader, const Rows& rows);

  using Key = std::pair<std::string_view, std::string_view>;
  // The names are those of vm_reads.h.
  absl::flat_hash_map<Key, int32_t> offsets_;
  absl::flat_hash_map<Key, uintptr_t> statics_;
  absl::flat_hash_map<std::string_view, uint32_t> sizes_;
  absl::flat_hash_map<std::string_view, int32_t> constants_;
  absl::flat_hash_map<std::string_view, int64_t> long_constants_;
  absl::flat_hash_map<Key, std::string> field_types_;
};

}  // namespace jtrace::sampling
