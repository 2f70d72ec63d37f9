#include "agent/calls/instrument/counted_bytecode.h"

#include <algorithm>
#include <iterator>

namespace jtrace::calls {
namespace {

// The last move at or before `bci`; the end if there is none.
template <typename Moves>
auto MoveAt(const Moves& moves, uint32_t bci) {
  const auto after = std::upper_bound(moves.begin(), moves.end(), bci,
                                      [](uint32_t at, const auto& move) { return at < move.now; });
  return after == moves.begin() ? moves.end() : std::prev(after);
}

// The bytecode index before the rewriting. Code of a probe is that of the instruction after it.
template <typename Moves>
uint32_t BciBefore(const Moves& moves, typename Moves::const_iterator move, uint32_t bci) {
  const auto next = std::next(move);
  const uint32_t limit = next == moves.end() ? classfile::kMaxU2 : next->before;
  return std::min(bci - move->now + move->before, limit);
}

}  // namespace

void CountedBytecode::Add(uint32_t class_id, classfile::Bytes bytes,
                          const classfile::RewriteResult& result, bool by_path) {
  const absl::MutexLock lock(&mutex_);
  proto::ClassCode& code = classes_.emplace_back();
  code.set_id(static_cast<uint32_t>(classes_.size()));
  code.set_class_id(class_id);
  code.set_code(bytes.data(), bytes.size());
  for (const classfile::MethodOutcome& outcome : result.methods) {
    if (!outcome.has_blocks) continue;
    proto::MethodCounters& method = methods_.emplace_back();
    method.set_class_code(code.id());
    method.set_method(outcome.method.index);
    method.set_routine(outcome.id);
    method.set_first_counter(outcome.first_counter);
    method.set_by_path(by_path);
    const Key key(class_id, outcome.method.name, outcome.method.descriptor);
    codes_[key] = by_routine_[outcome.id] = methods_.size() - 1;
    moves_.push_back(outcome.moved);
    for (const classfile::CounterPosition& counter : outcome.counters) {
      method.add_place(uint32_t{counter.bci} << 2 | static_cast<uint32_t>(counter.kind));
    }
  }
}

bool CountedBytecode::HasSeen(std::string_view class_name) {
  const absl::MutexLock lock(&mutex_);
  return !names_.insert(std::string(class_name)).second;
}

uint32_t CountedBytecode::OriginalBci(uint32_t routine, uint32_t bci) const {
  const absl::MutexLock lock(&mutex_);
  const auto code = by_routine_.find(routine);
  if (code == by_routine_.end()) return bci;
  const Moves& moves = moves_[code->second];
  if (moves.empty()) return bci;
  const auto move = MoveAt(moves, bci);
  return move == moves.end() ? moves.front().before : BciBefore(moves, move, bci);
}

std::optional<CountedBytecode::Instruction> CountedBytecode::InstructionOf(
    const jvm::OpenActivation& open) const {
  const absl::MutexLock lock(&mutex_);
  const auto code = codes_.find(Key(open.class_id, open.name, open.descriptor));
  if (code == codes_.end()) return std::nullopt;
  const Moves& moves = moves_[code->second];
  const auto move = MoveAt(moves, open.bci);
  if (move == moves.end()) return std::nullopt;
  const proto::MethodCounters& method = methods_[code->second];
  return Instruction{.routine = method.routine(),
                     .class_code = method.class_code(),
                     .method = method.method(),
                     .bci = BciBefore(moves, move, open.bci)};
}

void CountedBytecode::WriteDefinitions(proto::Chunk& chunk) {
  const absl::MutexLock lock(&mutex_);
  for (; classes_written_ < classes_.size(); ++classes_written_) {
    encoder_.DefineClass(classes_[classes_written_].class_id());
    *chunk.add_class_code() = classes_[classes_written_];
  }
  for (; methods_written_ < methods_.size(); ++methods_written_) {
    encoder_.DefineRoutines({methods_[methods_written_].routine()});
    *chunk.add_method_counters() = methods_[methods_written_];
  }
}

}  // namespace jtrace::calls
