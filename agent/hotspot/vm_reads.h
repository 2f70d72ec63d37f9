// The list of all that is read of HotSpot's own structures by name, and how each part is verified.
//
// The exported tables are a first guess: a JVM may be built from changed sources, and its tables
// may be wrong. VmStructs keeps only the entries of this list, so nothing else can be read.
// java-tests/broken_jvm breaks each of them on purpose.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace jtrace::sampling {

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

}  // namespace jtrace::sampling
