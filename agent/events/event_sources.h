// All sources of events that are recorded on request. Threads: as EventSource.
#pragma once

#include <memory>
#include <vector>

#include "agent/events/event_source.h"

namespace jtrace::events {

class EventSources {
 public:
  explicit EventSources(const EventContext& context);
  EventSources(const EventSources&) = delete;
  EventSources& operator=(const EventSources&) = delete;

  // Adds a source that has another owner and outlives this.
  void Add(EventSource& source) { sources_.push_back(&source); }

  void Prepare(const EventCodeSet& codes);
  void Start(const EventCodeSet& codes);
  void Stop();
  // Returns the chunk sources of the requested sources.
  std::vector<trace::ChunkSource*> ChunkSources(const EventCodeSet& codes) const;

 private:
  const EventContext context_;
  std::vector<std::unique_ptr<EventSource>> owned_;
  std::vector<EventSource*> sources_;
};

}  // namespace jtrace::events
