// All sources of events that are recorded on request. Threads: as EventRecorder.
#pragma once

#include <memory>
#include <vector>

#include "agent/events/event_recorder.h"

namespace jtrace::events {

class EventRecorders {
 public:
  explicit EventRecorders(const EventContext& context);
  EventRecorders(const EventRecorders&) = delete;
  EventRecorders& operator=(const EventRecorders&) = delete;

  // Adds a source that has another owner and outlives this.
  void Add(EventRecorder& source) { recorders_.push_back(&source); }

  void Prepare(const EventCodeSet& codes);
  void Start(const EventCodeSet& codes);
  void Stop();
  // Returns the chunk sources of the requested sources.
  std::vector<trace::ChunkSource*> ChunkSources(const EventCodeSet& codes) const;

 private:
  const EventContext context_;
  std::vector<std::unique_ptr<EventRecorder>> owned_;
  std::vector<EventRecorder*> recorders_;
};

}  // namespace jtrace::events
