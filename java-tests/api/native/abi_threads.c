/* Native threads that query and count. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "java-tests/api/native/abi_client.h"

static void Note(void* context, int32_t is_error, const char* line) {
  struct command* const command = context;
  const size_t before = command->text != NULL ? strlen(command->text) : 0;
  command->text = realloc(command->text, before + strlen(line) + 3);
  sprintf(command->text + before, "%s%s\n", is_error ? "!" : "", line);
}

static void* Run(void* context) {
  struct command* const command = context;
  command->code = the_api->command(command->verb, command->argument, Note, command);
  if (command->text == NULL) command->text = calloc(1, 1);
  return NULL;
}

void RunCommand(struct command* command, int on_native_thread) {
  pthread_t thread;
  if (!on_native_thread) {
    Run(command);
  } else if (pthread_create(&thread, NULL, Run, command) == 0) {
    pthread_join(thread, NULL);
  }
}

struct work {
  uint32_t id;
  int lives, each, attach;
  int64_t added;
  int errors;
};

static void* Live(void* context) {
  struct work* const work = context;
  if (work->attach && the_api->thread_attach() != JTRACE_OK) ++work->errors;
  for (int i = 0; i < work->each; ++i) {
    if (the_api->add(work->id, i & 7) != JTRACE_OK) ++work->errors;
    work->added += i & 7;
  }
  return NULL;
}

static void* Lives(void* context) {
  struct work* const work = context;
  for (int i = 0; i < work->lives; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, Live, work) != 0) ++work->errors;
    pthread_join(thread, NULL);
  }
  return NULL;
}

int64_t CountInThreads(uint32_t id, int threads, int lives, int each, int attach) {
  enum { kMost = 64 };
  struct work work[kMost];
  pthread_t ids[kMost];
  int64_t sum = 0;
  for (int i = 0; i < threads; ++i) {
    work[i] = (struct work){.id = id, .lives = lives, .each = each, .attach = attach};
    if (pthread_create(&ids[i], NULL, Lives, &work[i]) != 0) return -1;
  }
  for (int i = 0; i < threads; ++i) {
    pthread_join(ids[i], NULL);
    if (work[i].errors != 0) return -work[i].errors;
    sum += work[i].added;
  }
  return sum;
}

struct asked {
  uint32_t id;
  char* text;
  size_t size;
};

static void* Ask(void* context) {
  struct asked* const asked = context;
  int64_t before = 0, after = 0;
  const int code = the_api->own_totals(&asked->id, 1, &before);
  const int add = the_api->add(asked->id, 1);
  const int attached = the_api->thread_attach();
  const int add_again = the_api->add(asked->id, 3);
  const int code_again = the_api->own_totals(&asked->id, 1, &after);
  snprintf(asked->text, asked->size, "%d %d; %d %d %d %lld", code, add, attached, add_again,
           code_again, (long long)after);
  return NULL;
}

void AskUnattached(uint32_t id, char* text, size_t size) {
  struct asked asked = {.id = id, .text = text, .size = size};
  pthread_t thread;
  if (pthread_create(&thread, NULL, Ask, &asked) == 0) pthread_join(thread, NULL);
}

struct segments {
  int count, errors;
};

static void* Segments(void* context) {
  struct segments* const work = context;
  uint32_t outer = 0, inner = 0;
  if (the_api->segment("native", &outer) != JTRACE_OK) ++work->errors;
  if (the_api->segment("native inner", &inner) != JTRACE_OK) ++work->errors;
  for (int i = 0; i < work->count; ++i) {
    if (the_api->segment_begin(outer) != JTRACE_OK) ++work->errors;
    if (the_api->segment_begin(inner) != JTRACE_OK) ++work->errors;
    /* The first ends with the one around it. */
    if (i > 0 && the_api->segment_end(inner) != JTRACE_OK) ++work->errors;
    if (the_api->segment_end(outer) != JTRACE_OK) ++work->errors;
  }
  if (the_api->segment_end(inner) != JTRACE_E_HANDLE) ++work->errors;
  return NULL;
}

int RunSegments(int count, int on_native_thread) {
  struct segments work = {.count = count};
  pthread_t thread;
  if (!on_native_thread) {
    Segments(&work);
  } else if (pthread_create(&thread, NULL, Segments, &work) == 0) {
    pthread_join(thread, NULL);
  }
  return work.errors;
}
