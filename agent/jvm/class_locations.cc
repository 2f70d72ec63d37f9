#include "agent/jvm/class_locations.h"

#include <algorithm>
#include <utility>

#include "absl/hash/hash.h"
#include "agent/jvm/jvmti_calls.h"

namespace jtrace::jvm {
namespace {

jfieldID FieldOf(JNIEnv* jni, const char* type, const char* name, const char* descriptor) {
  const LocalRef<jclass> owner(jni, jni->FindClass(type));
  const jfieldID field =
      owner.get() != nullptr ? jni->GetFieldID(owner.get(), name, descriptor) : nullptr;
  if (jni->ExceptionCheck() == JNI_TRUE) jni->ExceptionClear();
  return field;
}

// Returns "" for null and for a text that is too long.
std::string TextOf(JNIEnv* jni, jobject object, jfieldID field) {
  const LocalRef<jobject> value(jni, jni->GetObjectField(object, field));
  const auto text = static_cast<jstring>(value.get());
  if (text == nullptr) return "";
  const auto bytes = static_cast<size_t>(jni->GetStringUTFLength(text));
  if (bytes > ClassLocations::kLongest) return "";
  std::string copied(bytes + 1, '\0');  // JNI may append a zero
  jni->GetStringUTFRegion(text, 0, jni->GetStringLength(text), copied.data());
  copied.resize(bytes);
  return copied;
}

}  // namespace

void ClassLocations::FindFields(JNIEnv* jni) {
  constexpr char kText[] = "Ljava/lang/String;";
  {
    const absl::MutexLock lock(&mutex_);
    waiting_.clear();
  }
  code_source_.store(
      FieldOf(jni, "java/security/ProtectionDomain", "codesource", "Ljava/security/CodeSource;"));
  location_.store(FieldOf(jni, "java/security/CodeSource", "location", "Ljava/net/URL;"));
  protocol_.store(FieldOf(jni, "java/net/URL", "protocol", kText));
  file_.store(FieldOf(jni, "java/net/URL", "file", kText));
}

std::string ClassLocations::LocationOf(JNIEnv* jni, jobject domain) const {
  const jfieldID code_source = code_source_.load();
  const jfieldID location = location_.load();
  const jfieldID protocol = protocol_.load();
  const jfieldID file = file_.load();
  if (code_source == nullptr || location == nullptr || protocol == nullptr || file == nullptr) {
    return "";
  }
  const LocalRef<jobject> source(jni, jni->GetObjectField(domain, code_source));
  if (source.get() == nullptr) return "";
  const LocalRef<jobject> url(jni, jni->GetObjectField(source.get(), location));
  if (url.get() == nullptr) return "";
  const std::string kind = TextOf(jni, url.get(), protocol);
  std::string text = TextOf(jni, url.get(), file);
  if (kind == "file" || kind == "jar" || text.empty()) return text;
  // The query of a URL may contain a secret.
  text.resize(std::min(text.find('?'), text.size()));
  return kind + ":" + text;
}

void ClassLocations::Add(JNIEnv* jni, absl::string_view binary_name, uint32_t loader,
                         jobject domain) {
  if (domain == nullptr) return;
  std::string location = LocationOf(jni, domain);
  if (location.empty()) return;
  const absl::MutexLock lock(&mutex_);
  if (waiting_.size() >= kMaxWaiting) waiting_.clear();
  waiting_[absl::HashOf(binary_name, loader)] = std::move(location);
}

std::string ClassLocations::Remove(absl::string_view binary_name, uint32_t loader) {
  const absl::MutexLock lock(&mutex_);
  const auto found = waiting_.find(absl::HashOf(binary_name, loader));
  if (found == waiting_.end()) return "";
  std::string location = std::move(found->second);
  waiting_.erase(found);
  return location;
}

}  // namespace jtrace::jvm
