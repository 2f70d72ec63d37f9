#include "agent/events/event_sources.h"

#include "agent/events/allocation_events.h"
#include "agent/events/io_records.h"
#include "agent/events/monitor_events.h"
#include "agent/events/monitor_waits.h"
#include "agent/events/park_waits.h"
#include "agent/events/prepared_classes.h"

namespace jtrace::events {
namespace {

template <typename Source>
std::unique_ptr<EventSource> Make(const EventContext& context) {
  return std::make_unique<Source>(context);
}

// To add a source, add its class here (CONTRIBUTING.md, "Add an event").
constexpr std::unique_ptr<EventSource> (*kSources[])(const EventContext&) = {
    Make<AllocationEvents>, Make<IoRecords>, Make<MonitorEvents>,
    Make<MonitorWaits>,     Make<ParkWaits>, Make<PreparedClasses>,
};

}  // namespace

EventSources::EventSources(const EventContext& context) : context_(context) {
  for (const auto make : kSources) {
    owned_.push_back(make(context_));
    Add(*owned_.back());
  }
}

void EventSources::Prepare(const EventCodeSet& codes) {
  for (EventSource* source : sources_) {
    if (source->IsRequested(codes)) source->Prepare(codes);
  }
}

void EventSources::Start(const EventCodeSet& codes) {
  context_.limits.Reset();
  for (EventSource* source : sources_) {
    if (source->IsRequested(codes)) source->Start(codes);
  }
}

void EventSources::Stop() {
  for (EventSource* source : sources_) source->Stop();
}

std::vector<trace::ChunkSource*> EventSources::ChunkSources(const EventCodeSet& codes) const {
  std::vector<trace::ChunkSource*> chunk_sources;
  for (EventSource* source : sources_) {
    if (!source->IsRequested(codes)) continue;
    if (source->chunk_source() != nullptr) chunk_sources.push_back(source->chunk_source());
  }
  return chunk_sources;
}

}  // namespace jtrace::events
