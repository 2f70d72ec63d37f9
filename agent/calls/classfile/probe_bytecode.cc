#include "agent/calls/classfile/probe_bytecode.h"

#include <string_view>

#include "common/classfile/opcodes.h"

namespace jtrace::classfile {
namespace {

// The one-byte forms of loads and stores begin here, kShortFormSlots for each type.
constexpr uint8_t kIload0 = 26;
constexpr uint8_t kLload0 = 30;
constexpr uint8_t kIstore0 = 59;
constexpr uint8_t kLstore0 = 63;

// Slots from here on need the prefix `wide` (JVMS 6.5.wide).
constexpr int kFirstWideSlot = 256;

void Local(Snippet& out, uint8_t opcode, uint8_t first_short_form, uint16_t slot) {
  if (slot < kShortFormSlots) {
    out.U1(static_cast<uint8_t>(first_short_form + slot));
  } else if (slot < kFirstWideSlot) {
    out.U1(opcode);
    out.U1(static_cast<uint8_t>(slot));
  } else {
    out.U1(kOpWide);
    out.U1(opcode);
    out.U2(slot);
  }
}

void Call(Snippet& out, uint16_t method) {
  out.U1(kOpInvokestatic);
  out.U2(method);
}

void PushIdLater(Snippet& out) {
  out.U1(kOpSipush);
  out.U2(0);
}

}  // namespace

bool ProbePoolIndexes::Add(const ProbeSpec& spec, ConstantPoolBuilder& pool) {
  const uint16_t owner = pool.FindOrAddClass(spec.owner);
  if (spec.counts_points()) {
    count_point = pool.AddMethodref(owner, spec.count_point, "(I)V");
    if (count_point == 0) return false;
  }
  if (!spec.unwind_owner.empty()) {
    unwind = pool.AddMethodref(pool.FindOrAddClass(spec.unwind_owner), "take", "(I)V");
    if (unwind == 0) return false;
  }
  if (spec.allocations) {
    allocation = pool.AddMethodref(owner, "allocation", "()V");
    if (allocation == 0) return false;
  }
  if (!spec.block_owner.empty()) {
    hit = pool.AddMethodref(pool.FindOrAddClass(spec.block_owner), "hit", "(I)V");
    throwable = pool.FindOrAddClass("java/lang/Throwable");
    stack_map_table = pool.FindOrAddUtf8("StackMapTable");
    if (hit == 0 || throwable == 0 || stack_map_table == 0) return false;
  }
  if (!spec.call_site.empty()) {
    call_site = pool.AddMethodref(owner, spec.call_site, "(I)V");
    if (call_site == 0) return false;
  }
  passed_local = spec.passed_local;
  rethrow = RethrowOf(spec);
  if (!AddEnter(spec, owner, pool)) return false;
  if (spec.monitors) {
    throwable = pool.FindOrAddClass("java/lang/Throwable");
    stack_map_table = pool.FindOrAddUtf8("StackMapTable");
    if (throwable == 0 || stack_map_table == 0) return false;
  }
  if (spec.token == TokenKind::kNone) return true;
  const bool is_long = spec.token == TokenKind::kLong;
  exit = pool.AddMethodref(owner, spec.exit, is_long ? "(J)V" : "(I)V");
  exit_thrown = pool.AddMethodref(owner, spec.exit_thrown, is_long ? "(J)V" : "(I)V");
  resume = pool.AddMethodref(owner, spec.resume, is_long ? "(JI)V" : "(II)V");
  throwable = pool.FindOrAddClass("java/lang/Throwable");
  stack_map_table = pool.FindOrAddUtf8("StackMapTable");
  if (!spec.leaf.empty()) {
    leaf = pool.AddMethodref(owner, spec.leaf, "(I)V");
    if (leaf == 0) return false;
  }
  return exit != 0 && exit_thrown != 0 && resume != 0 && throwable != 0 && stack_map_table != 0;
}

bool ProbePoolIndexes::AddEnter(const ProbeSpec& spec, uint16_t owner, ConstantPoolBuilder& pool) {
  const std::string parameters = spec.passed_local >= 0 ? "(ILjava/lang/Object;)" : "(I)";
  const char* result = spec.token == TokenKind::kLong  ? "J"
                       : spec.token == TokenKind::kInt ? "I"
                                                       : "V";
  enter = pool.AddMethodref(owner, spec.enter, parameters + result);
  if (enter == 0) return false;
  const auto add = [&](CallProbe probe, std::string_view name, std::string_view descriptor) {
    uint16_t& constant = enter_call[static_cast<size_t>(probe)];
    constant = pool.AddMethodref(owner, name, descriptor);
    return constant != 0;
  };
  if (spec.timed_calls && !add(CallProbe::kTimed, "enterTimed", "(I)J")) return false;
  return !spec.elements || (add(CallProbe::kElements, "enterElements", "(II)J") &&
                            add(CallProbe::kElementsOf, "enterElements", "(Ljava/lang/Object;I)J"));
}

ProbeBytecode::ProbeBytecode(const ProbePoolIndexes& constants, TokenKind token,
                             uint16_t token_slot)
    : rethrow(constants.rethrow) {
  const int slots = token == TokenKind::kLong ? 2 : 1;
  AddPointProbes(constants, token, static_cast<uint16_t>(token_slot + slots));
  if (constants.allocation != 0) Call(allocation, constants.allocation);
  if (constants.hit != 0) {
    PushIdLater(hit);
    Call(hit, constants.hit);
    Call(count_block_call, constants.hit);
  }
  PushIdLater(call_site);
  Call(call_site, constants.call_site);
  PushIdLater(unwind);
  Call(unwind, constants.unwind);
  id_in_enter = enter.size();
  PushIdLater(enter);
  Call(enter, constants.enter);
  if (token == TokenKind::kNone) {
    for (const uint8_t byte : rethrow) catch_all.U1(byte);
    return;
  }

  const bool is_long = token == TokenKind::kLong;
  auto load = [&](Snippet& out) {
    Local(out, is_long ? kOpLload : kOpIload, is_long ? kLload0 : kIload0, token_slot);
  };
  Local(enter, is_long ? kOpLstore : kOpIstore, is_long ? kLstore0 : kIstore0, token_slot);

  load(exit);
  Call(exit, constants.exit);

  load(resume);
  id_in_resume = resume.size();
  PushIdLater(resume);
  Call(resume, constants.resume);

  load(catch_all);
  Call(catch_all, constants.exit_thrown);
  for (const uint8_t byte : rethrow) catch_all.U1(byte);

  if (constants.leaf == 0) return;
  PushIdLater(leaf);
  Call(leaf, constants.leaf);
}

void ProbeBytecode::AddPointProbes(const ProbePoolIndexes& constants, TokenKind token,
                                   uint16_t call_slot) {
  PushIdLater(count_point);
  Call(count_point, constants.count_point);
  const bool is_long = token == TokenKind::kLong;
  for (size_t i = 0; i < before_call.size(); ++i) {
    const bool is_usual = i == static_cast<size_t>(CallProbe::kUsual);
    const uint16_t enter_call = is_usual ? constants.enter : constants.enter_call[i];
    if (enter_call == 0) continue;
    Snippet& before = before_call[i];
    if (IdInBeforeCall(static_cast<CallProbe>(i)) != 0) before.U1(kOpDup);
    PushIdLater(before);
    if (is_usual && constants.passed_local >= 0) {
      Local(before, kOpAload, kOpAload0, static_cast<uint16_t>(constants.passed_local));
    }
    Call(before, enter_call);
    if (token == TokenKind::kNone) continue;
    Local(before, is_long ? kOpLstore : kOpIstore, is_long ? kLstore0 : kIstore0, call_slot);
  }
  if (token == TokenKind::kNone) return;
  Local(after_call, is_long ? kOpLload : kOpIload, is_long ? kLload0 : kIload0, call_slot);
  Call(after_call, constants.exit);
}

void PutId(uint8_t* at, uint32_t id, uint16_t constant) {
  const bool in_pool = IdNeedsConstant(id);
  at[0] = in_pool ? kOpLdcW : kOpSipush;
  StoreU2(at + 1, in_pool ? constant : id);
}

}  // namespace jtrace::classfile
