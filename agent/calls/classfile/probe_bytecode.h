// The instructions of the probes, and the constants that they refer to.
#pragma once

#include <array>
#include <cstdint>

#include "agent/calls/classfile/probe_point.h"
#include "agent/calls/classfile/probe_spec.h"
#include "common/classfile/byte_io.h"
#include "common/classfile/constant_pool.h"

namespace jtrace::classfile {

// The indexes of these constants in the constant pool of one class.
struct ProbePoolIndexes {
  uint16_t enter = 0;
  std::array<uint16_t, kCallProbeCount> enter_call = {};  // 0: the spec has none
  int passed_local = -1;                                  // as ProbeSpec
  uint16_t exit = 0;
  uint16_t exit_thrown = 0;
  uint16_t resume = 0;
  uint16_t leaf = 0;         // 0: the spec has none
  uint16_t count_point = 0;  // 0: the spec has none
  uint16_t unwind = 0;
  uint16_t allocation = 0;  // 0: the spec has none
  uint16_t hit = 0;         // 0: blocks are not counted
  uint16_t call_site = 0;   // 0: call sites are not distinguished
  uint16_t throwable = 0;
  uint16_t stack_map_table = 0;
  Bytes rethrow;

  // Adds the constants of `spec` to `pool`; false if it is full.
  bool Add(const ProbeSpec& spec, ConstantPoolBuilder& pool);

 private:
  bool AddEnter(const ProbeSpec& spec, uint16_t owner, ConstantPoolBuilder& pool);
};

// A few instructions, in a fixed buffer that is large enough for every probe.
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
struct ProbeBytecode {
  Snippet enter;
  Snippet exit;
  Snippet resume;
  Snippet catch_all;
  Bytes rethrow;
  Snippet leaf;
  Snippet unwind;
  Snippet allocation;        // empty: the spec has none
  Snippet hit;               // counts a block; PutId writes at 0
  Snippet count_block_call;  // `hit` without the push of its id
  Snippet call_site;         // sets the call site; PutId writes at 0
  // Those of probe points (probe_point.h). PutId writes at 0, in before_call at IdInBeforeCall. No
  // stack map frame is between before_call and after_call, so none has the call's token.
  std::array<Snippet, kCallProbeCount> before_call;
  Snippet after_call;  // empty without tokens
  Snippet count_point;
  uint32_t id_in_enter = 0;   // where PutId writes in `enter`
  uint32_t id_in_resume = 0;  // where PutId writes in `resume`
  uint32_t id_in_leaf = 0;    // where PutId writes in `leaf`
  uint32_t id_in_unwind = 0;  // where PutId writes in `unwind`

  // The method's token is kept at `token_slot`, a call's in the slot after it.
  ProbeBytecode(const ProbePoolIndexes& constants, TokenKind token, uint16_t token_slot);

 private:
  void AddPointProbes(const ProbePoolIndexes& constants, TokenKind token, uint16_t call_slot);
};

// Where PutId writes in ProbeBytecode::before_call: after the `dup` of the argument, if there is
// one.
inline uint32_t IdInBeforeCall(CallProbe probe) {
  return probe == CallProbe::kElements || probe == CallProbe::kElementsOf ? 1 : 0;
}
// The stack that a probe at a point needs above the method's: an id and an argument, or a token.
inline constexpr int kPointStack = 2;

// The greatest int that `sipush` pushes (JVMS 6.5.sipush: a signed short).
inline constexpr uint32_t kMaxSipush = 0x7fff;

// Whether `sipush` cannot push the id, so that PutId needs an Integer constant.
inline bool IdNeedsConstant(uint32_t id) { return id > kMaxSipush; }
// Writes the kPushIdSize bytes that push `id`. `constant`: unused unless IdNeedsConstant.
void PutId(uint8_t* at, uint32_t id, uint16_t constant);

}  // namespace jtrace::classfile
