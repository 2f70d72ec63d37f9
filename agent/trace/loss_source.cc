#include "agent/trace/loss_source.h"

namespace jtrace::trace {

void LossSource::AddChanges(uint64_t, proto::Chunk& chunk) {
  for (const LossRow& row : losses_.Snapshot()) {
    proto::Loss* loss = chunk.add_loss();
    loss->set_name(row.name);
    loss->set_severity(static_cast<proto::Loss::Severity>(row.severity));
    loss->set_count(row.count);
    loss->set_what(row.what);
    loss->set_advice(row.advice);
  }
}

}  // namespace jtrace::trace
