#include "agent/calls/instrument/open_activation_writer.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "agent/calls/trees/node_search.h"

namespace jtrace::calls {

void OpenActivationWriter::Set(const std::vector<jvm::OpenActivation>& open) {
  const absl::MutexLock lock(&mutex_);
  open_.clear();
  for (const jvm::OpenActivation& it : open) {
    const std::optional<CountedBytecode::Instruction> at = code_.InstructionOf(it);
    if (at.has_value()) open_.push_back({.java_tid = it.java_tid, .at = *at});
  }
}

void OpenActivationWriter::Request() {
  is_due_ = true;
  if (trees_ == nullptr) return;
  const absl::MutexLock lock(&mutex_);
  FindNodes();
}

void OpenActivationWriter::FindNodes() {
  for (auto begin = open_.begin(); begin != open_.end();) {
    const auto end = std::find_if(begin, open_.end(),
                                  [&](const Open& it) { return it.java_tid != begin->java_tid; });
    std::vector<uint32_t> routines;
    for (auto it = end; it != begin;) routines.push_back((--it)->at.routine);
    for (auto it = begin; it != end; ++it) it->node = it->number = 0;
    if (const signal_safe::ThreadState* state = trees_->FindThread(begin->java_tid);
        state != nullptr) {
      const std::vector<signal_safe::Ref> nodes = FindOpenNodes(trees_->arena(), *state, routines);
      for (auto it = end; const signal_safe::Ref node : nodes) (--it)->node = node;
    }
    begin = end;
  }
  NumberNodes(open_);
}

void OpenActivationWriter::NumberNodes(std::vector<Open>& open) const {
  for (Open& it : open) it.number = it.node != 0 ? trees_->NumberOf(it.node) : 0;
}

void OpenActivationWriter::Write(proto::Chunk& chunk) {
  if (std::exchange(is_in_file_, false)) chunk.add_open_activations();
  if (!std::exchange(is_due_, false)) return;
  const absl::MutexLock lock(&mutex_);
  is_in_file_ = !open_.empty() || !open_before_file_.empty();
  WriteAll(open_, 1, chunk);
  WriteAll(open_before_file_, -1, chunk);
}

void OpenActivationWriter::WriteAll(const std::vector<Open>& open, int64_t each,
                                    proto::Chunk& chunk) {
  std::map<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>, int64_t> counts;
  for (const Open& it : open) {
    counts[{it.at.class_code, it.at.method, it.at.bci, it.number}] += each;
  }
  for (const auto& [key, count] : counts) {
    proto::OpenActivations& record = *chunk.add_open_activations();
    record.set_class_code(std::get<0>(key));
    record.set_method(std::get<1>(key));
    record.set_bci(std::get<2>(key));
    record.set_node(std::get<3>(key));
    record.set_count(count);
  }
}

void OpenActivationWriter::BeginFile() {
  is_due_ = is_in_file_ = false;
  const absl::MutexLock lock(&mutex_);
  open_before_file_ = std::exchange(open_, {});
  // The nodes get their numbers now: when a thread ends, the memory of its nodes is used again.
  if (trees_ != nullptr) NumberNodes(open_before_file_);
}

}  // namespace jtrace::calls
