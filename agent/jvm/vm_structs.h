// The tables in which libjvm describes its own data structures.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "agent/jvm/checked_read.h"
#include "agent/samples/walk/vm_layout.h"

namespace jtrace::jvm {

// gHotSpotVMStructs and gHotSpotVMTypes, which HotSpot exports for its Serviceability Agent: those
// entries that vm_structs.h lists; others are as if the JVM had none of the name. The tables are
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
  samples::Offset Field(std::string_view type, std::string_view field) const;
  samples::Offset Field(std::initializer_list<std::string_view> types,
                        std::string_view field) const;
  // Address of a static field; 0 if there is none.
  uintptr_t Static(std::string_view type, std::string_view field) const;
  // Value of a static pointer; 0 if there is none.
  uintptr_t StaticPointer(std::string_view type, std::string_view field) const;
  // Value of an enumerator or constant; samples::kNoValue if there is none.
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
  // The names are those of vm_structs.h.
  absl::flat_hash_map<Key, int32_t> offsets_;
  absl::flat_hash_map<Key, uintptr_t> statics_;
  absl::flat_hash_map<std::string_view, uint32_t> sizes_;
  absl::flat_hash_map<std::string_view, int32_t> constants_;
  absl::flat_hash_map<std::string_view, int64_t> long_constants_;
  absl::flat_hash_map<Key, std::string> field_types_;
};

// The list of all that is read of HotSpot's own structures by name, and how each part is verified.
//
// The exported tables are a first guess: a JVM may be built from changed sources, and its tables
// may be wrong. VmStructs keeps only the entries of this list, so nothing else can be read.
// java-tests/broken_jvm breaks each of them on purpose.

// What the entries are for. A part that cannot be verified is switched off as a whole.
enum class VmPart : uint8_t {
  kCodeCache,      // where generated code is, and of what kind
  kInterpreter,    // its code
  kCodelets,       // the pieces of the interpreter
  kCompiledCode,   // frames of compiled methods
  kInlining,       // which inlined methods are active
  kMethods,        // from a Method to its class, id and bytecodes
  kContinuations,  // stacks of virtual threads
  kThreads,        // a JavaThread's stack, state and thread of the system
  kWaits,          // what a thread waits for: monitors and the objects that block parks
  kAllocation,     // bytes that a thread has allocated
  kMethodTexts,    // names and descriptors of methods
  kFlags,          // values of -XX options
  kCollections,    // causes of garbage collections
  kLevels,         // which compiler made a method, and OSR entries
};
inline constexpr int kVmParts = 14;

struct VmPartText {
  std::string_view name;      // in names of losses: jvm.NAME
  std::string_view without;   // what follows if it is off
  std::string_view verified;  // how, at the start or when its objects are first seen
  bool is_minor;              // the reports are right and whole without it
};
const VmPartText& TextOf(VmPart part);

enum class VmReadKind : uint8_t { kField, kStatic, kSize, kConstant, kLongConstant };

// An entry of the tables: a field's offset, a static field's address, a type's size or the value
// of a constant. JVM versions have different ones; an absent entry is not wrong by itself.
struct VmRead {
  VmPart part;
  VmReadKind kind;
  std::string_view type;   // "" for constants
  std::string_view field;  // the constant's name; "" for sizes
};

std::span<const VmRead> VmReads();

}  // namespace jtrace::jvm
