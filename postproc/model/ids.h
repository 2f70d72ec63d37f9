// Strong index types: a number that names one kind of thing. 0 means "none".
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace jtrace::postproc {

template <typename Tag>
struct Id {
  uint32_t value = 0;

  constexpr Id() = default;
  constexpr explicit Id(uint32_t number) : value(number) {}
  constexpr explicit operator bool() const { return value != 0; }
  friend constexpr bool operator==(Id, Id) = default;
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 sees a 0 in the defaulted operator.
  friend constexpr auto operator<=>(Id, Id) = default;

  template <typename H>
  friend H AbslHashValue(H state, Id id) {
    return H::combine(std::move(state), id.value);
  }
};

// A routine's display name: routines are distinguished by their names (FORMATS §1).
using RoutineId = Id<struct RoutineTag>;
// A shared library or a pseudo module such as "[kernel]".
using ModuleId = Id<struct ModuleTag>;
// A routine as named in a frame: with its origin and module.
using FrameId = Id<struct FrameTag>;
using ThreadId = Id<struct ThreadTag>;
using MetricId = Id<struct MetricTag>;
// A Java class by its name.
using ClassId = Id<struct ClassTag>;
// A distinct set of labels of a thread.
using LabelsId = Id<struct LabelsTag>;
// A node of the call tree. Parents have smaller numbers than their children.
using NodeId = Id<struct NodeTag>;
// A distinct sampled stack: a node of the StackTable's trie.
using StackId = Id<struct StackTag>;

}  // namespace jtrace::postproc
