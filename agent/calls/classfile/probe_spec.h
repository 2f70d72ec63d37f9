// The shape of the probes, as data: their class, its methods, and the token that they pass.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "common/classfile/byte_io.h"
#include "common/classfile/opcodes.h"

namespace jtrace::classfile {

// The result of `enter`, and so the value that the probed method keeps in its extra local.
enum class TokenKind : uint8_t { kNone, kInt, kLong };

// Set in an id that a probe pushes: the call has no call site in its caller.
inline constexpr uint32_t kWithoutCallSite = 1u << 30;

// Probes are static methods of one class that every loader can see.
//
//     <token> enter(int id)            first thing in the method
//     void    exit(<token>)            before every return
//     void    exitThrown(<token>)      in the catch-all handler, which rethrows
//     void    resume(<token>, int id)  at every catch handler of the method
//     void    leaf(int id)             instead of all these where nothing can be called
//
// At probe points (probe_point.h), if requested:
//
//     <token> enter(int id), exit(<token>)   around a call that leaves the scope
//     <token> enterTimed(int id)             the same where the call's time is wanted
//     <token> enterElements(int n, int id)   where the last argument, an int, is wanted
//     <token> enterElements(Object, int id)  the same for an array or a String
//     <token> enter(int id, Object)          the same with a local of the caller
//     void    leaf(int id)                   at an exception or a monitor
//
// `void allocation()` before each bytecode that allocates, if those are counted
// (metrics=alloc.sites).
//
// `void take(int id)` of another class, after `enter`, unwinds the stack in methods of unwind=.
//
// `void hit(int id)` of another class, at the counters of blocks (block_probes.h).
//
// `void at(int number)`, if call sites are distinguished, sets the call site of the activation's
// next calls (call_site_finder.h). The ids of class initialisers and of synchronized methods'
// monitors then have kWithoutCallSite set: no line makes these calls.
//
// With `TokenKind::kNone` only `void enter(int id)` is called: no local, no exit, no handlers.
struct ProbeSpec {
  std::string owner;  // internal name, `java/lang/invoke/JTraceProbe`
  TokenKind token = TokenKind::kLong;
  std::string enter = "enter";
  std::string exit = "exit";
  std::string exit_thrown = "exit";
  std::string resume = "resume";
  std::string leaf = "";             // empty: leaves get the usual probes
  std::string count_point = "leaf";  // the probe at exceptions and monitors
  bool methods = true;               // probes at entries and exits; false: at points only
  bool boundary = false;             // probes around calls that leave the scope
  bool timed_calls = false;          // CallProbe::kTimed; only with TokenKind::kLong
  bool elements = false;             // CallProbe::kElements and kElementsOf; likewise
  int passed_local = -1;             // the local that `enter` at points gets; -1: none
  bool thrown = false;               // probes where exceptions are thrown
  bool caught = false;               // probes where exceptions are caught
  bool monitors = false;             // probes where monitors are requested and released
  bool allocations = false;          // probes at new, newarray and the like
  bool tags_rethrows = false;        // probes rethrow by kTaggedRethrow
  std::string unwind_owner = "";     // class of the unwind probe; empty: there are none
  std::string block_owner = "";      // class of the block probe; empty: blocks are not counted
  bool blocks_by_path = false;       // it counts at the current tree node
  std::string call_site = "";        // "at"; empty: call sites are not distinguished

  bool counts_points() const { return thrown || caught || monitors; }

  // The probes of `record=tree` and `record=log`.
  static ProbeSpec Tree() {
    return {.owner = "java/lang/invoke/JTraceProbe", .exit_thrown = "exitThrown"};
  }
  // The same with the leaf probe, for recordings that need no exits: no clock, log or metrics.
  static ProbeSpec TreeWithLeaves() {
    ProbeSpec spec = Tree();
    spec.leaf = "leaf";
    return spec;
  }
  // The probe of `record=flat`: `count(I)V`.
  static ProbeSpec Flat() {
    return {.owner = "java/lang/invoke/JTraceProbe",
            .token = TokenKind::kNone,
            .enter = "count",
            .count_point = "count"};
  }
};

// Rethrows an exception that a probe has seen. Compilers write no `nop` before an athrow, so the
// pair identifies a probe's rethrow.
inline constexpr std::array<uint8_t, 2> kTaggedRethrow = {kOpNop, kOpAthrow};
inline Bytes RethrowOf(const ProbeSpec& spec) {
  return Bytes(kTaggedRethrow).subspan(spec.tags_rethrows ? 0 : 1);
}
// Whether the instruction at `bci` is the athrow of a kTaggedRethrow.
inline bool IsProbeRethrow(Bytes code, uint64_t bci) {
  return bci > 0 && bci < code.size() && code[bci] == kOpAthrow && code[bci - 1] == kOpNop;
}

}  // namespace jtrace::classfile
