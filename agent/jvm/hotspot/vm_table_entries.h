// The list of all that is read of HotSpot's own structures by name, and how each section is
// verified.
//
// The exported tables are a first guess: a JVM may be built from changed sources, and its tables
// may be wrong. VmStructs keeps only the entries that VmTableEntries lists, so nothing else can be
// read. java-tests/broken_jvm breaks each of them on purpose.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace jtrace::jvm {

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
