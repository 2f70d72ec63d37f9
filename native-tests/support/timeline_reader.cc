#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "native-tests/support/export_readers.h"

namespace jtrace::testing {
namespace {

using nlohmann::json;

// Checks each event against the format's description, then replays them by time.
class TimelineReader {
 public:
  Timeline Read(std::string_view text) {
    const json file = json::parse(text);
    std::vector<const json*> events;
    for (const json& event : file.at("traceEvents")) {
      if (IsSound(event)) events.push_back(&event);
    }
    for (const json* event : events) {
      if (event->at("ph") == "M") Metadata(*event);
    }
    std::erase_if(events, [](const json* event) { return event->at("ph") == "M"; });
    std::stable_sort(events.begin(), events.end(), [](const json* a, const json* b) {
      return a->at("ts").get<double>() < b->at("ts").get<double>();
    });
    for (const json* event : events) Replay(*event);
    for (const auto& [track, open] : open_) {
      if (!open.empty()) timeline_.mistakes.push_back("not ended: " + open.back().name);
    }
    for (const auto& [key, value] : file.at("otherData").items()) timeline_.about[key] = value;
    return std::move(timeline_);
  }

 private:
  using Track = std::pair<int64_t, int64_t>;
  struct Open {
    std::string name;
    double begin = 0;
  };

  bool IsSound(const json& event) {
    const std::string phase = event.value("ph", "");
    const bool sound = (phase == "B" || phase == "E" || phase == "X" || phase == "i" ||
                        phase == "C" || phase == "M") &&
                       event.contains("pid") && event.at("pid").is_number_integer() &&
                       event.contains("tid") && event.at("tid").is_number_integer() &&
                       event.contains("name") && event.at("name").is_string() &&
                       (phase == "M" || (event.contains("ts") && event.at("ts").is_number())) &&
                       (phase != "i" || event.value("s", "") == "t") &&
                       (phase != "X" || (event.contains("dur") && event.at("dur").is_number())) &&
                       (!event.contains("args") || event.at("args").is_object()) &&
                       ((phase != "M" && phase != "C") || event.contains("args"));
    if (!sound) timeline_.mistakes.push_back("no event: " + event.dump());
    return sound;
  }

  void Metadata(const json& event) {
    const std::string name = event.at("args").at("name");
    if (event.at("name") == "process_name") {
      timeline_.processes[event.at("pid")] = name;
    } else if (event.at("name") == "thread_name") {
      if (!threads_.emplace(TrackOf(event), name).second) {
        timeline_.mistakes.push_back("a track of two threads: " + name);
      }
      timeline_.threads.push_back(name);
    } else {
      timeline_.mistakes.push_back("unknown metadata: " + event.dump());
    }
  }

  static Track TrackOf(const json& event) { return {event.at("pid"), event.at("tid")}; }

  void Replay(const json& event) {
    const std::string phase = event.at("ph");
    const double time = event.at("ts");
    if (phase == "C") {
      timeline_.last_totals[event.at("name")] = event.at("args").at("total");
      return;
    }
    const Track track = TrackOf(event);
    if (threads_.count(track) == 0) timeline_.mistakes.push_back("no thread: " + event.dump());
    std::vector<Open>& open = open_[track];
    if (phase == "B") {
      open.push_back({event.at("name"), time});
      ++timeline_.categories[event.value("cat", "")];
    } else if (phase == "X") {
      timeline_.durations[{threads_[track], event.at("name")}] +=
          std::llround(event.at("dur").get<double>() * 1000);
      ++timeline_.categories[event.value("cat", "")];
    } else if (phase == "E") {
      End(open, track, time, event.at("name"));
    } else {
      const json args = event.value("args", json::object());
      timeline_.instants.push_back({threads_[track], event.value("cat", ""), event.at("name"),
                                    args.value("stack", ""), args.value("weight", int64_t{0}),
                                    time});
    }
  }

  void End(std::vector<Open>& open, const Track& track, double time, const std::string& name) {
    if (open.empty()) return timeline_.mistakes.push_back("an end without a beginning");
    std::vector<std::string> path = {threads_[track]};
    for (const Open& it : open) path.push_back(it.name);
    timeline_.durations[path] += std::llround((time - open.back().begin) * 1000);
    if (open.back().name != name) timeline_.mistakes.push_back("ends another: " + name);
    open.pop_back();
  }

  Timeline timeline_;
  std::map<Track, std::string> threads_;
  std::map<Track, std::vector<Open>> open_;
};

}  // namespace

Timeline ParseTimeline(std::string_view text) { return TimelineReader().Read(text); }

}  // namespace jtrace::testing
