// The native part of OwnLibraries: another user of the libraries that jtrace contains.
#include <google/protobuf/wrappers.pb.h>
#include <jni.h>

#include <stdexcept>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"

namespace {

absl::Mutex mutex;

// A message there and back; throws its text.
void Throw(int round) {
  google::protobuf::StringValue message;
  message.set_value(absl::StrCat("round ", round));
  google::protobuf::StringValue copy;
  if (!copy.ParseFromString(message.SerializeAsString())) throw 0;
  absl::flat_hash_map<std::string, int> rounds;
  rounds[copy.value()] = round;
  absl::MutexLock lock(&mutex);
  throw std::runtime_error(rounds.begin()->first);
}

}  // namespace

extern "C" JNIEXPORT jint JNICALL Java_OwnLibraries_use(JNIEnv*, jclass, jint rounds) {
  jint caught = 0;
  for (jint i = 0; i < rounds; ++i) {
    try {
      Throw(i);
    } catch (const std::exception& failure) {
      caught += failure.what() == absl::StrCat("round ", i) ? 1 : 0;
    }
  }
  return caught;
}
