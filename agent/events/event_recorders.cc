#include "agent/events/event_recorders.h"

#include "agent/events/allocation_events.h"
#include "agent/events/class_prepare_events.h"
#include "agent/events/io_events.h"
#include "agent/events/monitor_events.h"
#include "agent/events/monitor_waits.h"
#include "agent/events/park_wait_causes.h"

namespace jtrace::events {
namespace {

template <typename Source>
std::unique_ptr<EventRecorder> Make(const EventContext& context) {
  return std::make_unique<Source>(context);
}

// To add a source, add its class here (CONTRIBUTING.md, "Add an event").
constexpr std::unique_ptr<EventRecorder> (*kRecorders[])(const EventContext&) = {
    Make<AllocationEvents>, Make<IoEvents>,       Make<MonitorEvents>,
    Make<MonitorWaits>,     Make<ParkWaitCauses>, Make<ClassPrepareEvents>,
};

}  // namespace

EventRecorders::EventRecorders(const EventContext& context) : context_(context) {
  for (const auto make : kRecorders) {
    owned_.push_back(make(context_));
    Add(*owned_.back());
  }
}

void EventRecorders::Prepare(const EventCodeSet& codes) {
  for (EventRecorder* source : recorders_) {
    if (source->IsRequested(codes)) source->Prepare(codes);
  }
}

void EventRecorders::Start(const EventCodeSet& codes) {
  context_.limits.Reset();
  for (EventRecorder* source : recorders_) {
    if (source->IsRequested(codes)) source->Start(codes);
  }
}

void EventRecorders::Stop() {
  for (EventRecorder* source : recorders_) source->Stop();
}

std::vector<trace::ChunkSource*> EventRecorders::ChunkSources(const EventCodeSet& codes) const {
  std::vector<trace::ChunkSource*> chunk_sources;
  for (EventRecorder* source : recorders_) {
    if (!source->IsRequested(codes)) continue;
    if (source->chunk_source() != nullptr) chunk_sources.push_back(source->chunk_source());
  }
  return chunk_sources;
}

}  // namespace jtrace::events
