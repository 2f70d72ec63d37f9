#include "postproc/page/page_timeline.h"

#include <string_view>

namespace jtrace::postproc {

void WritePageTimeline(const Timeline& timeline, JsonWriter& json) {
  json.Key("timeline");
  json.BeginObject();
  json.Int("start", timeline.start());
  json.Int("width", timeline.width());
  const auto series = [&](std::string_view key, Series which) {
    json.Key(key);
    json.BeginArray();
    for (size_t i = 0; i < timeline.size(); ++i) json.Int(timeline.value(which, i));
    json.EndArray();
  };
  series("running", Series::kRunning);
  series("waiting", Series::kWaiting);
  series("c1", Series::kC1);
  series("c2", Series::kC2);
  series("other_code", Series::kOtherCode);
  series("classes", Series::kClasses);
  series("gc", Series::kGc);
  json.List("collections", timeline.collections(), [&](const Timeline::Collection& collection) {
    json.BeginArray();
    json.Int(collection.begin);
    json.Int(collection.end);
    json.Text(collection.what);
    json.EndArray();
  });
  json.Int("collections_left_out", timeline.collections_left_out());
  json.EndObject();
}

}  // namespace jtrace::postproc
