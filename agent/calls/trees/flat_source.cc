#include "agent/calls/trees/flat_source.h"

#include <vector>

namespace jtrace::calls {

void EncodeFlat(const FlatUpdate& update, const CallKinds& kinds, uint32_t thread,
                trace::RecordEncoder& encoder, proto::Chunk& chunk) {
  std::vector<uint32_t> routines;
  for (const RoutineUpdate& routine : update.routines) routines.push_back(routine.routine);
  encoder.DefineRoutines(routines);
  proto::TreeDelta* delta = chunk.add_tree();
  delta->set_thread(thread);
  trace::DeltaCoder counted;
  for (const RoutineUpdate& it : update.routines) {
    delta->add_routine(counted.Next(it.routine));
    delta->add_routine_calls(kinds.CallsOf(it.routine, it.calls, it.jitted));
    delta->add_routine_jitted(kinds.JittedOf(it.routine, it.jitted));
  }
}

void FlatSource::AddChanges(uint64_t, proto::Chunk& chunk) {
  const auto limit = static_cast<uint32_t>(encoder_.routines() + 1);
  collector_.Collect(limit, [&](const FlatUpdate& update) {
    if (update.routines.empty()) return;
    // Virtual threads share one set of counters.
    EncodeFlat(update, kinds_,
               update.java_tid != 0 ? threads_.NumberOfJava(update.java_tid)
                                    : groups_.NumberOfGroup(groups_.VirtualThreads()),
               encoder_, chunk);
  });
}

}  // namespace jtrace::calls
