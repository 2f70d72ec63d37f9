/*
 * The jtrace agent's metrics for native code of the program that it runs in. C11 and C++11; no
 * library to link with: jtrace_find.h finds the agent, one function returns a table of all others.
 *
 *   const jtrace_api* jtrace = jtrace_find();        // null: no agent in this process
 *   uint32_t bytes;
 *   int64_t before, after;
 *   if (jtrace != NULL && jtrace->metric_id("alloc.bytes", &bytes) == JTRACE_OK &&
 *       jtrace->thread_attach() == JTRACE_OK) {
 *     jtrace->own_totals(&bytes, 1, &before);
 *     work();
 *     jtrace->own_totals(&bytes, 1, &after);
 *   }
 *
 * The meaning of the numbers: agent/metrics/README.md. Values are returned through pointers;
 * results are JTRACE_OK or one of the codes below, which are negative. After an error the memory
 * that a pointer refers to is unspecified.
 *
 * Contexts. "Any": any thread, also in signal handlers; no lock, no allocation, errno is preserved.
 * "Thread": any thread, including native ones that the JVM does not know, but not in a signal
 * handler, JNI critical section or callback of JVMTI; may lock, allocate and wait for the agent.
 *
 * Units are those of the metric (jtrace_metric.unit). Totals begin with the thread, or when the
 * agent was attached if that was later.
 */
#ifndef JTRACE_H_
#define JTRACE_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes only if an existing declaration changes. Additions are appended to the tables, and their
   struct_size shows whether they are present. */
#define JTRACE_ABI 1u

enum {
  JTRACE_OK = 0,
  JTRACE_E_NOT_RUNNING = -1, /* the library is loaded, the agent has not started */
  JTRACE_E_ENDED = -2,       /* the JVM ends or has ended: no more queries are possible */
  JTRACE_E_ARGUMENT = -3,    /* a null pointer, a number out of range, a wrong struct_size */
  JTRACE_E_METRIC = -4,      /* no metric has this name or number */
  JTRACE_E_NOT_COUNTED = -5, /* not counted: begin a recording with metrics=NAME */
  JTRACE_E_UNSUPPORTED =
      -6,                 /* unavailable in this version, JVM or kernel, or for virtual threads */
  JTRACE_E_REACH = -7,    /* not known for threads: ask for the process, or for methods */
  JTRACE_E_HANDLER = -8,  /* reading it needs a file: use totals() outside of signal handlers */
  JTRACE_E_THREAD = -9,   /* not attached (see thread_attach), not started, or ended */
  JTRACE_E_NAME = -10,    /* cannot name a counter: letters, digits, '.', '_' and '-', 64 at most */
  JTRACE_E_FULL = -11,    /* no counter, reader or segment is left, or too many call paths */
  JTRACE_E_KIND = -12,    /* that counter exists with the other kind: by thread, by processor */
  JTRACE_E_PATTERN = -13, /* names no method: write com.acme.Cache::load, java.sql.*::execute* */
  JTRACE_E_STATE = -14,   /* no recording runs, one runs already, or it keeps no call trees */
  JTRACE_E_HANDLE = -15,  /* this reader, window or segment is not open */
  JTRACE_E_FAILED = -16,  /* the command failed; the sink received the reason */
  JTRACE_E_MEMORY = -17,  /* no memory */
  JTRACE_E_INTERNAL = -18 /* an internal error of jtrace */
};

/* The levels at which a metric is known. */
enum {
  JTRACE_REACH_PATH = 0,   /* by method, call path, thread and process */
  JTRACE_REACH_THREAD = 1, /* by thread and process */
  JTRACE_REACH_PROCESS = 2 /* as one total */
};

/* Whose totals. */
enum {
  JTRACE_OF_PROCESS = 0,     /* all threads, including ended ones; `thread` is ignored */
  JTRACE_OF_OWN_THREAD = 1,  /* the calling thread, or the virtual one on it; `thread` ignored */
  JTRACE_OF_JAVA_THREAD = 2, /* `thread`: Thread.threadId(); the thread may have ended */
  JTRACE_OF_OS_THREAD = 3    /* `thread`: gettid() of a running thread */
};

/* Flag of a counter: it counts by processor. Additions from many threads then cost no more than
   from one, but only the process's total is known. Without the flag it counts by thread, and
   metrics=user.NAME charges it to call paths. */
#define JTRACE_COUNTER_PER_CPU 1u

/* NOLINTBEGIN(modernize-use-using): C has none. */
typedef struct jtrace_metric {
  uint32_t struct_size; /* set by the caller: sizeof(jtrace_metric) */
  uint32_t id;
  uint32_t reach;        /* JTRACE_REACH_... */
  int32_t available;     /* JTRACE_OK: available now; else why not */
  const char* name;      /* "alloc.bytes", "user.orders"; like all texts here it is never freed */
  const char* unit;      /* "B", "ns"; "" for numbers of things */
  const char* exactness; /* for people */
  const char* cost;      /* for people */
  const char* meaning;   /* for people */
} jtrace_metric;

typedef struct jtrace_method_query {
  uint32_t struct_size; /* set by the caller: sizeof(jtrace_method_query) */
  uint32_t metric;      /* of base and cum: "calls", or a metric that is charged to call paths */
  uint64_t window;      /* counts of this window; 0: since the recording began */
  uint32_t of;          /* JTRACE_OF_...; ignored with a window */
  uint32_t reserved;    /* 0 */
  uint64_t thread;      /* see JTRACE_OF_...; a running thread */
  const char* pattern;  /* "com.acme.Cache::load", "com.acme.**::get*(String)" */
} jtrace_method_query;

/* Several matching methods are treated as one: an activation below another one is nested. */
typedef struct jtrace_method_stats {
  uint32_t struct_size; /* set by the caller: sizeof(jtrace_method_stats) */
  uint32_t reserved;
  int64_t calls;
  int64_t outermost_calls; /* those that are not nested */
  int64_t base;            /* the metric without callees */
  int64_t cum;             /* with callees, nested activations once */
} jtrace_method_stats;

/* Called with each line of a command's answer, on the calling thread. `is_error` is 1 if the line
   says why the command failed. Must return, and must not throw. */
typedef void (*jtrace_sink)(void* context, int32_t is_error, const char* line);

typedef struct jtrace_api {
  uint32_t struct_size; /* the agent's: later members do not exist */
  uint32_t abi;         /* JTRACE_ABI */
  const char* version;  /* "0.1.0" */

  /* Any. A sentence for people about a code; never null. */
  const char* (*error_text)(int32_t code);

  /* Any. JTRACE_OK, or JTRACE_E_NOT_RUNNING or JTRACE_E_ENDED, which every other function then
     returns, too. */
  int32_t (*state)(void);

  /* ---- Metrics ---- */

  /* Any. Numbers of all metrics, as many as fit; *count: the number of metrics. `ids` may be null
     if `capacity` is 0. Errors: ARGUMENT. */
  int32_t (*metric_ids)(uint32_t* ids, size_t capacity, size_t* count);

  /* Any. The number of a metric, which never changes. Errors: ARGUMENT, METRIC. */
  int32_t (*metric_id)(const char* name, uint32_t* id);

  /* Any. Fills in *info about a metric. Errors: ARGUMENT, METRIC. */
  int32_t (*metric_info)(uint32_t id, jtrace_metric* info);

  /* ---- Totals ---- */

  /* Thread. Counts the calling thread from here on; costs nothing if it is already counted. Java
     threads that start while the agent records are counted without this call. The end of a thread
     is detected automatically. A native thread that attaches to the JVM keeps its counts; when it
     detaches it has ended, and later counts belong to a new thread. Errors: MEMORY. */
  int32_t (*thread_attach)(void);

  /* Any. Totals of the calling thread, `count` of them, in the order of `ids`. In a handler
     alloc.bytes may be off by a TLAB if the handler interrupted the JVM's own allocation. Errors:
     ARGUMENT, METRIC, NOT_COUNTED, UNSUPPORTED, REACH, HANDLER, THREAD (thread_attach was not
     called). */
  int32_t (*own_totals)(const uint32_t* ids, size_t count, int64_t* values);

  /* Thread. The same for any thread, or for the process. Exact for threads that do not run or have
     ended.
     UNSUPPORTED: also io.read.bytes and io.write.bytes of ended threads, unless recorded. THREAD:
     has not started, or ended before 16,384 others (a native one: has ended). */
  int32_t (*totals)(uint32_t of, uint64_t thread, const uint32_t* ids, size_t count,
                    int64_t* values);

  /* ---- Readers: each has its own cursor ---- */

  /* Thread. Opens a reader of counts from here on. JTRACE_OF_OWN_THREAD always means the
     opening thread. At most 65,536 can be open. Errors: those of totals; FULL. */
  int32_t (*reader_open)(uint32_t of, uint64_t thread, const uint32_t* ids, size_t count,
                         uint64_t* reader);

  /* Thread. The current `totals`, and the `deltas` since the reader's last reading, at first since
     it was opened; `count` numbers each, or null if not needed. After an error the cursor is
     unchanged. Errors: those of totals; HANDLE. */
  int32_t (*reader_read)(uint64_t reader, int64_t* totals, int64_t* deltas);

  /* Thread. Closes a reader. Errors: HANDLE. */
  int32_t (*reader_close)(uint64_t reader);

  /* ---- The program's own counters ---- */

  /* Thread. Finds or creates the counter user.NAME and returns its number as a metric. `unit`: "B",
     "ns", or null; the letters of names and / and %; the first one is kept. `flags`: 0 or
     JTRACE_COUNTER_PER_CPU. Errors: ARGUMENT, NAME, KIND, FULL (there are 16). */
  int32_t (*counter)(const char* name, const char* unit, uint32_t flags, uint32_t* id);

  /* Any. Additions wrap. Nothing is lost if a handler interrupts an addition, unless Java code adds
     to the same counter in the same thread. Errors: METRIC (no counter has this number); THREAD:
     nothing was added, because the counter counts by thread and this thread was not attached, or is
     ending. */
  int32_t (*add)(uint32_t id, int64_t delta);

  /* ---- Methods: need a recording with call trees (record=tree) ---- */

  /* Thread. Opens a window, which counts for the process or the calling Java thread from here on,
     until it is closed or the recording ends. Errors: ARGUMENT, STATE, THREAD, FULL. */
  int32_t (*window_open)(uint32_t of, uint64_t* window);

  /* Thread. Closes a window; the end of a recording closes all. Errors: HANDLE. */
  int32_t (*window_close)(uint64_t window);

  /* Thread. Fills in *stats with the counts of the methods that match the query's pattern. Exact
     for methods that have returned. Errors: ARGUMENT, METRIC, NOT_COUNTED (not charged to call
     paths), PATTERN, STATE, THREAD, HANDLE, FULL (more than 1,048,576 call paths). */
  int32_t (*method)(const jtrace_method_query* query, jtrace_method_stats* stats);

  /* ---- Commands ---- */

  /* Thread. Runs `jtrace VERB PID ARGUMENT`: start with the agent's options, stop, resume, dump,
     flush, mark with a text, hook, status, metrics. `argument` and `sink` may be null. The command
     of a native thread runs on another thread. Errors: ARGUMENT, STATE, FAILED. */
  int32_t (*command)(const char* verb, const char* argument, jtrace_sink sink, void* context);

  /* ---- Segments: pairs of records around a named part of the code, counted and timed ---- */

  /* Thread. The number of the segments of a name, which is cut to 256 bytes. The first 1,000 names
     have one each, all others that of "[other]". Errors: ARGUMENT (also for an empty name). */
  int32_t (*segment)(const char* name, uint32_t* id);

  /* Thread. Begins a segment in the calling thread. On a virtual thread it must end in the same
     native method. Errors: ARGUMENT (no segment has this number), FULL (1,000 are open), THREAD
     (the thread is ending). */
  int32_t (*segment_begin)(uint32_t id);

  /* Thread. Ends the calling thread's innermost open segment of this number. Segments that were
     begun inside it end, too, and are counted as wrongly nested. Errors: ARGUMENT, HANDLE (none is
     open). */
  int32_t (*segment_end)(uint32_t id);
} jtrace_api;

/* Any. The export of libjtrace.so: its table for this ABI, which is never freed; null: it has none.
 */
typedef const jtrace_api* (*jtrace_get_api_function)(uint32_t abi);
/* NOLINTEND(modernize-use-using) */
#define JTRACE_GET_API "jtrace_get_api"

#ifdef __cplusplus
}
#endif

#endif /* JTRACE_H_ */
