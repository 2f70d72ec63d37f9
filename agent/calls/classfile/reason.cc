#include "agent/calls/classfile/reason.h"

#include <array>
#include <cstddef>

namespace jtrace::classfile {
namespace {

constexpr std::array<ReasonInfo, kReasonCount> kReasons = {{
    {Reason::kNone, Effect::kNothing, "none", "probed in full", ""},
    {Reason::kNoCode, Effect::kNothing, "no-code", "abstract or native, nothing to probe", ""},
    {Reason::kOutOfScope, Effect::kNothing, "out-of-scope",
     "not in scope of include= and exclude=", ""},
    {Reason::kHugeMethodLight, Effect::kPartial, "huge-method-light",
     "catch-all and catch probes left out to stay within 8,000 bytes, which the JIT compiles",
     "counts are exact; split the method, or run with -XX:-DontCompileHugeMethods"},
    {Reason::kConstructorUncovered, Effect::kPartial, "constructor-uncovered",
     "a constructor whose code after super(...) has more than one way in has no catch-all",
     "counts are exact; calls after an exception that leaves it may be too deep for a moment"},
    {Reason::kPointsLeftOut, Effect::kPartial, "sites-left-out",
     "probes at its calls and exceptions left out to stay within the limits of its size",
     "its own calls are exact; what it calls out of scope is counted as its own time"},
    {Reason::kBlocksTooLarge, Effect::kPartial, "blocks-too-large",
     "counters of its blocks left out to stay within the limits of its size",
     "its calls are exact; its lines are not counted: split the method"},
    {Reason::kBlocksUnknownFlow, Effect::kPartial, "blocks-unknown-flow",
     "its flow cannot be counted: it uses jsr, or switches that share their targets",
     "its calls are exact; its lines are not counted"},
    {Reason::kCallSitesLeftOut, Effect::kPartial, "call-sites-left-out",
     "its calls are not distinguished by line, to stay within the limits of its size",
     "its calls are exact; split the method"},
    {Reason::kEmptyFinalizer, Effect::kUntouched, "empty-finalizer",
     "an empty finalize(): HotSpot never calls it, but would if it were not empty", ""},
    {Reason::kChangesThread, Effect::kUntouched, "changes-thread",
     "of virtual threads: they begin on one thread and end on another, or run on after its end",
     "the methods that they call are counted"},
    {Reason::kHugeMethod, Effect::kUntouched, "huge-method",
     "probes would push it over 8,000 bytes and the JIT would never compile it",
     "split the method, or run with -XX:-DontCompileHugeMethods"},
    {Reason::kCodeTooLarge, Effect::kUntouched, "code-too-large",
     "probes would push it over the 65,535 bytes a method may have", "split the method"},
    {Reason::kFrameTooLarge, Effect::kUntouched, "frame-too-large",
     "no room for the token among its 65,535 locals or stack slots", ""},
    {Reason::kExceptionTableFull, Effect::kUntouched, "exception-table-full",
     "its exception table has 65,535 rows already", ""},
    {Reason::kConstantPoolFull, Effect::kUntouched, "constant-pool-full",
     "the class's constant pool has no room for the probe's constants", "split the class"},
    {Reason::kJumpTooFar, Effect::kUntouched, "jump-too-far",
     "a conditional jump would have to reach further than 32,767 bytes", "split the method"},
    {Reason::kUnknownAttribute, Effect::kUntouched, "unknown-attribute",
     "its code has an attribute whose layout is not known and may hold code positions",
     "report the attribute's producer"},
    {Reason::kUnknownFrame, Effect::kUntouched, "unknown-frame",
     "its StackMapTable has frames of a kind that is not known, as some preview features make",
     "constructors of value classes (Java 28) may have them"},
    {Reason::kMalformedCode, Effect::kUntouched, "malformed-code",
     "its bytecode is not what the JVM specification allows", "the JVM may reject it as well"},
    {Reason::kMalformedStackMap, Effect::kUntouched, "malformed-stack-map",
     "its StackMapTable is not what the JVM specification allows", "the JVM may reject it as well"},
    {Reason::kMalformedTable, Effect::kUntouched, "malformed-table",
     "a table of its code points outside the code", "the JVM may reject it as well"},
}};

constexpr bool InOrder() {
  for (size_t i = 0; i < kReasons.size(); ++i) {
    if (kReasons[i].reason != static_cast<Reason>(i)) return false;
  }
  return true;
}
static_assert(InOrder(), "the table is indexed by Reason");

}  // namespace

const ReasonInfo& Describe(Reason reason) { return kReasons[static_cast<size_t>(reason)]; }

absl::Span<const ReasonInfo> AllReasons() { return kReasons; }

}  // namespace jtrace::classfile
