#include "postproc/reader/agent_hooks.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "postproc/reader/definitions.h"
#include "postproc/support/strings.h"
#include "proto/trace_format.h"

namespace jtrace::postproc {
namespace {

HookSums SumsOf(const proto::HookCalls& calls) {
  HookSums sums;
  sums.calls = StreamTime(calls.calls());
  if (calls.timed() == 0) return sums;
  sums.timed = StreamTime(calls.timed());
  sums.total_ns = StreamTime(calls.total_ns());
  sums.min_ns = StreamTime(calls.min_ns());
  sums.max_ns = StreamTime(calls.max_ns());
  return sums;
}

// "libc.so.6!malloc" as a frame.
FrameId NamedFrame(std::string_view text, TraceModel& model) {
  const bool is_jvm = text.starts_with("libjvm.so!");
  return model.InternFrameText(StrCat(is_jvm ? "V:" : "N:", text));
}

}  // namespace

HookKind AgentHooks::KindOf(proto::Hook::Kind kind) {
  switch (kind) {
    case proto::Hook::UNWIND:
      return HookKind::kUnwind;
    case proto::Hook::TIME:
      return HookKind::kTime;
    default:
      return HookKind::kCount;
  }
}

void AgentHooks::Add(const proto::Chunk& chunk) {
  const int64_t time = StreamTime(chunk.time_ns());
  for (const proto::Hook& hook : chunk.hook()) definitions_.push_back({hook.id(), hook, time});
  for (const proto::HookCalls& it : chunk.hook_calls()) {
    std::vector<uint32_t> jumped(it.jumped().begin(), it.jumped().end());
    const auto [entry, inserted] = index_.try_emplace(
        {it.hook(), it.thread(), it.node(), it.position_unknown(), it.caller(), jumped},
        calls_.size());
    if (inserted) {
      calls_.push_back({it.hook(), it.thread(), it.node(), it.position_unknown(), it.caller(),
                        std::move(jumped), time, HookSums()});
    }
    calls_[entry->second].sums = SumsOf(it);
  }
}

void AgentHooks::AddCode(const proto::Event& event) {
  const proto::CodeEvent& code = event.code_event();
  if ((event.minor() & ~format::kEnd) != format::kJitCode || code.method() == 0) return;
  const uint64_t room = std::numeric_limits<uint64_t>::max() - code.address();
  const uint64_t end = code.address() + std::min(code.size(), room);
  const int64_t time = StreamTime(event.time_ns());
  if ((event.minor() & format::kEnd) != 0) {
    code_.Remove(code.address(), end, time);
  } else {
    code_.Add(code.address(), end, time, code.method());
  }
}

void AgentHooks::Finish(TextOf text_of, NativeSymbols& native, TraceModel& model,
                        TraceInfo& trace) {
  if (!calls_.empty()) code_.Seal();
  for (const Definition& it : definitions_) {
    const auto [entry, inserted] = hooks_.try_emplace(it.id);
    if (!inserted) continue;
    entry->second = {
        {FrameOf(it, text_of, native, model), KindOf(it.hook.kind()), text_of(it.hook.pattern())},
        it.hook.address(),
        it.time};
    const HookInfo& hook = entry->second.info;
    model.AddHooked(model.frame(hook.frame).routine);
    trace.AddHook(hook);
  }
  for (const Calls& it : calls_) {
    if (hooks_.contains(it.hook)) continue;
    const HookInfo hook = Undefined(it.hook, model);
    model.AddHooked(model.frame(hook.frame).routine);
    trace.AddHook(hook);
  }
}

// Named as in samples, so that it is the same routine. The agent may know a function that samples
// do not: it has seen the program's own files.
FrameId AgentHooks::FrameOf(const Definition& definition, TextOf text_of, NativeSymbols& native,
                            TraceModel& model) {
  const NativeSymbols::Found found =
      native.At(definition.hook.address(), /*is_return_address=*/false, definition.time, model);
  const bool is_function = found.place != nullptr && found.place->function.start != 0;
  const std::string name = text_of(definition.hook.name());
  return is_function || name.empty() ? found.frame : NamedFrame(name, model);
}

const HookInfo* AgentHooks::Find(uint32_t hook) const {
  const auto found = hooks_.find(hook);
  return found == hooks_.end() ? nullptr : &found->second.info;
}

HookInfo AgentHooks::Undefined(uint32_t hook, TraceModel& model) {
  return {NamedFrame(StrCat("[hook ", hook, "]"), model), HookKind::kCount, ""};
}

FrameId AgentHooks::UnseenJumper(uint32_t hook, NativePlace& caller, NativeSymbols& native,
                                 TraceModel& model) const {
  const auto known = hooks_.find(hook);
  if (known == hooks_.end()) return {};
  const NativePlace* callee =
      native.At(known->second.address, /*is_return_address=*/false, known->second.time, model)
          .place;
  return callee == nullptr ? FrameId() : native.TailCaller(*callee, caller, model);
}

AgentHooks::Callers AgentHooks::CallersOf(const Calls& calls, MethodOf method_of,
                                          NativeSymbols& native, TraceModel& model) const {
  Callers callers;
  if (calls.caller != 0) {
    const NativeSymbols::Found found =
        native.At(calls.caller, /*is_return_address=*/true, calls.time, model);
    callers.caller = found.frame;
    // The byte before the return address is in the call.
    const uint64_t address = calls.caller - 1;
    if (found.place != nullptr) {
      const uint32_t outermost = calls.jumped.empty() ? calls.hook : calls.jumped.front();
      const FrameId unseen = UnseenJumper(outermost, *found.place, native, model);
      if (unseen) callers.jumped.push_back(unseen);
    } else if (native.StubAt(address, calls.time).empty()) {
      const AddressRange* code = code_.Find(address, calls.time);
      if (code != nullptr) {
        callers.caller =
            model.InternFrame({method_of(code->payload), ModuleId(), Origin::kCompiled});
      }
    }
  }
  for (const uint32_t hook : calls.jumped) {
    const auto known = hooks_.find(hook);
    Frame frame = model.frame(known == hooks_.end() ? Undefined(hook, model).frame
                                                    : known->second.info.frame);
    frame.is_tail_call = true;
    callers.jumped.push_back(model.InternFrame(frame));
  }
  return callers;
}

}  // namespace jtrace::postproc
