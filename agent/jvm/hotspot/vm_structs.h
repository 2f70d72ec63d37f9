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

// The list of all that is read of HotSpot's own structures by name, and how each section is
// verified.
//
// The exported tables are a first guess: a JVM may be built from changed sources, and its tables
// may be wrong. VmStructs keeps only the entries that VmTableEntries lists, so nothing else can be
// read. java-tests/broken_jvm breaks each of them on purpose.

// What the entries are for. A section that cannot be verified is switched off as a whole.
enum class LayoutSection : uint8_t {
  kCodeCache,      // where generated code is, and of what kind
  kInterpreter,    // the interpreter's code
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
inline constexpr int kLayoutSectionCount = 14;

struct LayoutSectionText {
  std::string_view name;      // in names of losses: jvm.NAME
  std::string_view without;   // the effect if the section is off
  std::string_view verified;  // how: at the start, or when its objects are first seen
  bool is_minor;              // the reports are right and whole without it
};
const LayoutSectionText& TextOf(LayoutSection section);

enum class VmTableEntryKind : uint8_t { kField, kStatic, kSize, kConstant, kLongConstant };

// An entry of the tables: a field's offset, a static field's address, a type's size or the value
// of a constant. JVM versions have different ones; an absent entry is not wrong by itself.
struct VmTableEntry {
  LayoutSection section;
  VmTableEntryKind kind;
  std::string_view type;   // "" for constants
  std::string_view field;  // the constant's name; "" for sizes
};

std::span<const VmTableEntry> VmTableEntries();

}  // namespace jtrace::jvm
