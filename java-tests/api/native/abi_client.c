/* The calls of programs.Abi to jtrace through jtrace.h, one call a function. */
#include "java-tests/api/native/abi_client.h"

#include <jni.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/api/c/jtrace_find.h"

const jtrace_api* the_api;
/* Of the last call. */
static int32_t last_code;

#define NATIVE(type, name) JNIEXPORT type JNICALL Java_programs_Abi_##name

static const char* Chars(JNIEnv* jni, jstring text, char* into, size_t size) {
  if (text == NULL) return NULL;
  const char* const chars = (*jni)->GetStringUTFChars(jni, text, NULL);
  snprintf(into, size, "%s", chars);
  (*jni)->ReleaseStringUTFChars(jni, text, chars);
  return into;
}

/* After the end of the JVM every call still returns. */
static void AtExit(void) {
  const uint32_t id = 5;
  int64_t value = 0;
  size_t count = 0;
  if (getenv("ABI_AT_EXIT") == NULL || the_api == NULL) return;
  printf("after the end=%d %d %d %d %d %d %d\n", the_api->state(),
         the_api->own_totals(&id, 1, &value), the_api->totals(JTRACE_OF_PROCESS, 0, &id, 1, &value),
         the_api->add(24, 1), the_api->metric_ids(NULL, 0, &count), the_api->thread_attach(),
         the_api->command("status", NULL, NULL, NULL));
  fflush(stdout);
}

NATIVE(jboolean, find)(JNIEnv* jni, jclass self) {
  static int registered;
  (void)jni, (void)self;
  if (!registered) atexit(AtExit);
  registered = 1;
  the_api = jtrace_find();
  return the_api != NULL;
}

/* Loads the library, but not as an agent. */
NATIVE(jstring, loadOnly)(JNIEnv* jni, jclass self, jstring path) {
  char buffer[4096];
  (void)self;
  if (dlopen(Chars(jni, path, buffer, sizeof(buffer)), RTLD_NOW | RTLD_LOCAL) == NULL) {
    return (*jni)->NewStringUTF(jni, dlerror());
  }
  const jtrace_api* const api = jtrace_find();
  if (api == NULL) return (*jni)->NewStringUTF(jni, "not found");
  uint32_t id = 0;
  snprintf(buffer, sizeof(buffer), "%d %d %d: %s", api->state(), api->metric_id("cpu.ns", &id),
           api->thread_attach(), api->error_text(api->state()));
  return (*jni)->NewStringUTF(jni, buffer);
}

NATIVE(jstring, version)(JNIEnv* jni, jclass self) {
  (void)self;
  return (*jni)->NewStringUTF(jni, the_api->version);
}

NATIVE(jint, code)(JNIEnv* jni, jclass self) {
  (void)jni, (void)self;
  return last_code;
}

NATIVE(jstring, errorText)(JNIEnv* jni, jclass self, jint code) {
  (void)self;
  return (*jni)->NewStringUTF(jni, the_api->error_text(code));
}

NATIVE(jlong, osTid)(JNIEnv* jni, jclass self) {
  (void)jni, (void)self;
  return gettid();
}

NATIVE(jint, id)(JNIEnv* jni, jclass self, jstring name) {
  char buffer[256];
  uint32_t id = 0;
  (void)self;
  last_code = the_api->metric_id(Chars(jni, name, buffer, sizeof(buffer)), &id);
  return (jint)id;
}

/* "alloc.bytes B 0 0" */
NATIVE(jstring, describe)(JNIEnv* jni, jclass self, jint id) {
  char buffer[512];
  jtrace_metric info = {.struct_size = sizeof(info)};
  (void)self;
  last_code = the_api->metric_info((uint32_t)id, &info);
  if (last_code != JTRACE_OK) return NULL;
  snprintf(buffer, sizeof(buffer), "%s|%s|%u|%d", info.name, info.unit, info.reach, info.available);
  return (*jni)->NewStringUTF(jni, buffer);
}

NATIVE(jint, metrics)(JNIEnv* jni, jclass self) {
  size_t count = 0;
  (void)jni, (void)self;
  last_code = the_api->metric_ids(NULL, 0, &count);
  return (jint)count;
}

NATIVE(jint, attach)(JNIEnv* jni, jclass self) {
  (void)jni, (void)self;
  return the_api->thread_attach();
}

NATIVE(jlong, own)(JNIEnv* jni, jclass self, jint metric) {
  const uint32_t id = (uint32_t)metric;
  int64_t value = 0;
  (void)jni, (void)self;
  last_code = the_api->own_totals(&id, 1, &value);
  return value;
}

NATIVE(jlong, total)(JNIEnv* jni, jclass self, jint of, jlong thread, jint metric) {
  const uint32_t id = (uint32_t)metric;
  int64_t value = 0;
  (void)jni, (void)self;
  last_code = the_api->totals((uint32_t)of, (uint64_t)thread, &id, 1, &value);
  return value;
}

NATIVE(jlong, readerOpen)(JNIEnv* jni, jclass self, jint of, jlong thread, jint metric) {
  const uint32_t id = (uint32_t)metric;
  uint64_t reader = 0;
  (void)jni, (void)self;
  last_code = the_api->reader_open((uint32_t)of, (uint64_t)thread, &id, 1, &reader);
  return (jlong)reader;
}

NATIVE(jlong, readerDelta)(JNIEnv* jni, jclass self, jlong reader) {
  int64_t delta = 0;
  (void)jni, (void)self;
  last_code = the_api->reader_read((uint64_t)reader, NULL, &delta);
  return delta;
}

NATIVE(jint, readerClose)(JNIEnv* jni, jclass self, jlong reader) {
  (void)jni, (void)self;
  return the_api->reader_close((uint64_t)reader);
}

NATIVE(jint, counter)(JNIEnv* jni, jclass self, jstring name, jint flags) {
  char buffer[256];
  uint32_t id = 0;
  (void)self;
  last_code =
      the_api->counter(Chars(jni, name, buffer, sizeof(buffer)), "pieces", (uint32_t)flags, &id);
  return (jint)id;
}

NATIVE(jint, add)(JNIEnv* jni, jclass self, jint id, jlong delta) {
  (void)jni, (void)self;
  return the_api->add((uint32_t)id, delta);
}

NATIVE(jlong, windowOpen)(JNIEnv* jni, jclass self, jint of) {
  uint64_t window = 0;
  (void)jni, (void)self;
  last_code = the_api->window_open((uint32_t)of, &window);
  return (jlong)window;
}

NATIVE(jint, windowClose)(JNIEnv* jni, jclass self, jlong window) {
  (void)jni, (void)self;
  return the_api->window_close((uint64_t)window);
}

/* The text of MethodStats.toString, or the code. */
NATIVE(jstring, method)
(JNIEnv* jni, jclass self, jint metric, jint of, jlong thread, jlong window, jstring pattern) {
  char buffer[256];
  jtrace_method_query query = {.struct_size = sizeof(query)};
  jtrace_method_stats stats = {.struct_size = sizeof(stats)};
  (void)self;
  query.metric = (uint32_t)metric;
  query.of = (uint32_t)of;
  query.thread = (uint64_t)thread;
  query.window = (uint64_t)window;
  query.pattern = Chars(jni, pattern, buffer, sizeof(buffer));
  last_code = the_api->method(&query, &stats);
  if (last_code != JTRACE_OK) {
    snprintf(buffer, sizeof(buffer), "%d", last_code);
  } else {
    snprintf(buffer, sizeof(buffer),
             "MethodStats[calls=%lld, outermostCalls=%lld, base=%lld, cum=%lld]",
             (long long)stats.calls, (long long)stats.outermost_calls, (long long)stats.base,
             (long long)stats.cum);
  }
  return (*jni)->NewStringUTF(jni, buffer);
}

NATIVE(jstring, command)
(JNIEnv* jni, jclass self, jstring verb, jstring argument, jboolean on_native_thread) {
  char verb_buffer[64], argument_buffer[4096];
  (void)self;
  struct command command = {
      .verb = Chars(jni, verb, verb_buffer, sizeof(verb_buffer)),
      .argument = Chars(jni, argument, argument_buffer, sizeof(argument_buffer))};
  RunCommand(&command, on_native_thread);
  last_code = command.code;
  const jstring text = (*jni)->NewStringUTF(jni, command.text);
  free(command.text);
  return text;
}

NATIVE(jlong, countInThreads)
(JNIEnv* jni, jclass self, jint id, jint threads, jint lives, jint each, jboolean attach) {
  (void)jni, (void)self;
  return CountInThreads((uint32_t)id, threads, lives, each, attach);
}

NATIVE(jstring, unattached)(JNIEnv* jni, jclass self, jint id) {
  char buffer[128];
  (void)self;
  AskUnattached((uint32_t)id, buffer, sizeof(buffer));
  return (*jni)->NewStringUTF(jni, buffer);
}

NATIVE(jint, segments)(JNIEnv* jni, jclass self, jint count, jboolean on_native_thread) {
  (void)jni, (void)self;
  return RunSegments(count, on_native_thread);
}

NATIVE(void, startHandlers)(JNIEnv* jni, jclass self, jint counter, jint every_us) {
  (void)jni, (void)self;
  StartHandlers((uint32_t)counter, every_us);
}

NATIVE(jlong, handled)(JNIEnv* jni, jclass self) {
  (void)jni, (void)self;
  return Handled();
}

NATIVE(jstring, stopHandlers)(JNIEnv* jni, jclass self) {
  char buffer[256];
  (void)self;
  StopHandlers(buffer, sizeof(buffer));
  return (*jni)->NewStringUTF(jni, buffer);
}
