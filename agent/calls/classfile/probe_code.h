// The instructions of the probes, and the constants that they refer to.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "agent/calls/classfile/site.h"
#include "common/classfile/byte_io.h"
#include "common/classfile/constant_pool.h"
#include "common/classfile/opcodes.h"

namespace jtrace::classfile {

// The shape of the probes, as data: their class, its methods, and the token that they pass.

// The result of `enter`, and so the value that the probed method keeps in its extra local.
enum class TokenKind : uint8_t { kNone, kInt, kLong };

inline constexpr uint32_t kIdWithoutPlace = 1u << 30;

// Probes are static methods of one class that every loader can see.
//
//     <token> enter(int id)            first thing in the method
//     void    exit(<token>)            before every return
//     void    exitThrown(<token>)      in the catch-all handler, which rethrows
//     void    resume(<token>, int id)  at every catch handler of the method
//     void    leaf(int id)             instead of all these where nothing can be called (leaf.h)
//
// At sites (site.h), if requested:
//
//     <token> enter(int id), exit(<token>)   around a call that leaves the scope, token in a local
//     <token> enterTimed(int id)             the same where the call's time is wanted
//     <token> enterElements(int n, int id)   where the last argument, an int, is wanted
//     <token> enterElements(Object, int id)  the same for an array or a String
//     <token> enter(int id, Object)          instead, with a local of the caller
//     void    leaf(int id)                   at a thrown or caught exception, and where a monitor
//                                            is requested or released
//
// `void allocation()` before each bytecode that allocates, if those are counted (S5.3).
//
// `void take(int id)` of another class, after `enter`, in methods whose callers are wanted.
//
// `void hit(int id)` of another class, at the counters of blocks (block_probes.h).
//
// `void at(int number)`, if calls are distinguished by their places: the activation's next calls
// are from there (call_places.h). The ids of class initialisers then have kIdWithoutPlace set: any
// instruction may run one.
//
// With `TokenKind::kNone` only `void enter(int id)` is called: no local, no exit, no handlers.
struct ProbeSpec {
  std::string owner;  // internal name, `java/lang/invoke/JTraceProbe`
  TokenKind token = TokenKind::kLong;
  std::string enter = "enter";
  std::string exit = "exit";
  std::string exit_thrown = "exit";
  std::string resume = "resume";
  std::string leaf = "";          // empty: leaves get the usual probes
  std::string mark = "leaf";      // `leaf` at exceptions and monitors
  bool methods = true;            // probes at entries and exits; false: at sites only
  bool boundary = false;          // probes around calls that leave the scope
  bool timed_calls = false;       // of these, CallProbe::kTimed; with TokenKind::kLong
  bool elements = false;          // of these, CallProbe::kElements and kElementsOf; the same
  int passed_local = -1;          // the reference that `enter` at sites gets; -1: none
  bool thrown = false;            // probes at exceptions thrown,
  bool caught = false;            // and caught
  bool monitors = false;          // probes where monitors are requested and released
  bool allocations = false;       // probes at new, newarray and the like
  bool marks_rethrows = false;    // IsOwnRethrow (probe_code.h) recognises those of probes
  std::string unwind_owner = "";  // class of the unwind probe; empty: there are none
  std::string block_owner = "";   // class of the block probe; empty: blocks are not counted
  bool blocks_by_path = false;    // it counts at the current activation
  std::string place = "";         // `at`; empty: calls are not distinguished by their places

  bool marks() const { return thrown || caught || monitors; }

  // The probes of `record=tree` and `record=log`.
  static ProbeSpec Tree() {
    return {.owner = "java/lang/invoke/JTraceProbe", .exit_thrown = "exitThrown"};
  }
  // The same where an activation need only be counted, not seen itself: no clock, no log.
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
            .mark = "count"};
  }
};

// Throws an exception on that a probe has seen. The `nop` is before no athrow that a compiler
// writes, because nothing may stand between the throwable and its athrow.
inline constexpr std::array<uint8_t, 2> kMarkedRethrow = {kOpNop, kOpAthrow};
inline Bytes RethrowOf(const ProbeSpec& spec) {
  return Bytes(kMarkedRethrow).subspan(spec.marks_rethrows ? 0 : 1);
}
// Whether the instruction of a method with marked rethrows is one of them.
inline bool IsOwnRethrow(Bytes code, uint64_t bci) {
  return bci > 0 && bci < code.size() && code[bci] == kOpAthrow && code[bci - 1] == kOpNop;
}

// Their indexes in the constant pool of one class.
struct ProbeConstants {
  uint16_t enter = 0;
  std::array<uint16_t, kCallProbeCount> enter_call = {};  // 0: the spec has none
  int passed_local = -1;                                  // as ProbeSpec
  uint16_t exit = 0;
  uint16_t exit_thrown = 0;
  uint16_t resume = 0;
  uint16_t leaf = 0;  // 0: the spec has none
  uint16_t mark = 0;  // only for exceptions and monitors
  uint16_t unwind = 0;
  uint16_t allocation = 0;  // 0: the spec has none
  uint16_t hit = 0;         // 0: blocks are not counted
  uint16_t place = 0;       // 0: places are not distinguished
  uint16_t throwable = 0;
  uint16_t stack_map_table = 0;
  Bytes rethrow;

  // Adds them to `pool`; false if it is full.
  bool Add(const ProbeSpec& spec, ConstantPoolBuilder& pool);

 private:
  bool AddEnter(const ProbeSpec& spec, uint16_t owner, ConstantPoolBuilder& pool);
};

// A few instructions, on the stack.
class Snippet {
 public:
  Bytes bytes() const { return {bytes_.data(), size_}; }
  uint32_t size() const { return size_; }
  void U1(uint8_t value) { bytes_[size_++] = value; }
  void U2(uint16_t value) {
    StoreU2(bytes_.data() + size_, value);
    size_ += 2;
  }

 private:
  std::array<uint8_t, 16> bytes_{};
  uint8_t size_ = 0;
};

// Bytes of the instruction that pushes a method's id. Always the same, so that the layout of a
// method does not depend on its id: `sipush` or `ldc_w`.
inline constexpr uint32_t kPushIdSize = 3;

// The probes of one method (see ProbeSpec), their ids still to be set.
struct ProbeCode {
  Snippet enter;
  Snippet exit;
  Snippet resume;
  Snippet catch_all;
  Bytes rethrow;
  Snippet leaf;
  Snippet unwind;
  Snippet allocation;  // empty: the spec has none
  Snippet hit;         // counts a block: its id at 0
  Snippet hit_call;    // without the id
  Snippet place;       // its number at 0
  // Those of sites (site.h), with their ids at 0, or as IdInBeforeCall says. The token of a call
  // lives from before_call to after_call, across no frame.
  std::array<Snippet, kCallProbeCount> before_call;
  Snippet after_call;  // empty without tokens
  Snippet mark;
  uint32_t id_in_enter = 0;   // where PutId writes in `enter`
  uint32_t id_in_resume = 0;  // where PutId writes in `resume`
  uint32_t id_in_leaf = 0;    // where PutId writes in `leaf`
  uint32_t id_in_unwind = 0;  // where PutId writes in `unwind`

  // The method's token is kept at `token_slot`, a call's in the slot after it.
  ProbeCode(const ProbeConstants& constants, TokenKind token, uint16_t token_slot);

 private:
  void AddSites(const ProbeConstants& constants, TokenKind token, uint16_t call_slot);
};

// Where PutId writes in ProbeCode::before_call: after the `dup` of the argument, if there is one.
inline uint32_t IdInBeforeCall(CallProbe probe) {
  return probe == CallProbe::kElements || probe == CallProbe::kElementsOf ? 1 : 0;
}
// The stack that a probe at a site needs above the method's: an id and an argument, or a token.
inline constexpr int kSiteStack = 2;

// The greatest int that `sipush` pushes (JVMS 6.5.sipush: a signed short).
inline constexpr uint32_t kMaxSipush = 0x7fff;

// The constant that PutId needs: 0 for ids that `sipush` can push.
inline bool IdNeedsConstant(uint32_t id) { return id > kMaxSipush; }
// Writes the kPushIdSize bytes that push `id`.
void PutId(uint8_t* at, uint32_t id, uint16_t constant);

}  // namespace jtrace::classfile
