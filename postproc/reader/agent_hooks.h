// The hooks in native code of an agent, and the calls through them, by their last totals
// (proto/FORMAT.md, "Hooks in native code").
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "postproc/model/address_map.h"
#include "postproc/model/record_visitor.h"
#include "postproc/model/trace_model.h"
#include "postproc/reader/native_symbols.h"
#include "proto/trace.pb.h"

namespace jtrace::postproc {

class AgentHooks {
 public:
  using TextOf = absl::FunctionRef<std::string(uint32_t string)>;
  using MethodOf = absl::FunctionRef<RoutineId(uint32_t method)>;

  static HookKind KindOf(proto::Hook::Kind kind);

  // Call Add for every chunk and AddCode for every record of a method's code, then Finish once.
  void Add(const proto::Chunk& chunk);
  void AddCode(const proto::Event& event);
  // Names the hooks and adds them to the model.
  void Finish(TextOf text_of, NativeSymbols& native, TraceModel& model, TraceInfo& trace);

  // Totals of a key, in the order of first appearance.
  struct Calls {
    uint32_t hook = 0;
    uint32_t thread = 0;
    uint32_t node = 0;  // 0: the thread's root
    bool position_unknown = false;
    uint64_t caller = 0;           // return address; 0: unknown
    std::vector<uint32_t> jumped;  // Hook.id, the outermost first
    int64_t time = 0;              // of the first chunk that has it
    HookSums sums;
  };
  const std::vector<Calls>& calls() const { return calls_; }

  // By Hook.id; null: never defined. After Finish.
  const HookInfo* Find(uint32_t hook) const;
  // A hook that was never defined gets a name that says so.
  static HookInfo Undefined(uint32_t hook, TraceModel& model);
  // The function that contains `caller`, none if it is unknown, and the functions between it and
  // the hooked one that ended in a jump, the outermost first.
  struct Callers {
    FrameId caller;
    std::vector<FrameId> jumped;
  };
  Callers CallersOf(const Calls& calls, MethodOf method_of, NativeSymbols& native,
                    TraceModel& model) const;

 private:
  struct Definition {
    uint32_t id = 0;
    proto::Hook hook;
    int64_t time = 0;
  };
  static FrameId FrameOf(const Definition& definition, TextOf text_of, NativeSymbols& native,
                         TraceModel& model);
  // The function that `caller`'s call names, if it is not `hook`: it ended in a jump.
  FrameId UnseenJumper(uint32_t hook, NativePlace& caller, NativeSymbols& native,
                       TraceModel& model) const;

  std::vector<Definition> definitions_;
  struct Known {
    HookInfo info;
    uint64_t address = 0;
    int64_t time = 0;
  };
  absl::flat_hash_map<uint32_t, Known> hooks_;
  std::vector<Calls> calls_;
  absl::flat_hash_map<
      std::tuple<uint32_t, uint32_t, uint32_t, bool, uint64_t, std::vector<uint32_t>>, size_t>
      index_;
  AddressMap code_;  // of methods, by Method.id: it may call hooked functions
};

}  // namespace jtrace::postproc
