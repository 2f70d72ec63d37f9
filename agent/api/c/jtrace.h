/*
 * The jtrace agent's metrics, asked from native code of the program that it runs in. C11 and C++11;
 * nothing to link with: jtrace_find.h finds the agent, one function gives a table of all others.
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
 * What the numbers mean: agent/metrics/README.md. A value comes through a pointer, never as a
 * result: results are JTRACE_OK or one of the codes below, which are negative. On an error nothing
 * is promised about what the pointer shows.
 *
 * Contexts. "Any": any thread, in signal handlers too; no lock, no allocation, errno stays.
 * "Thread": any thread, native ones that the JVM does not know included, but no signal handler, no
 * JNI critical section and no callback of JVMTI; may lock, allocate and wait for the agent.
 *
 * Units are those of the metric (jtrace_metric.unit). Totals begin when the thread did, or when the
 * agent came if that was later.
 */
#ifndef JTRACE_H_
#define JTRACE_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes only if something that is here changes; what is added goes to the tables' ends, and their
   struct_size tells whether it is there. */
#define JTRACE_ABI 1u

enum {
  JTRACE_OK = 0,
  JTRACE_E_NOT_RUNNING = -1, /* the library is loaded, the agent has not begun */
  JTRACE_E_ENDED = -2,       /* the JVM ends or has ended: nothing can be asked any more */
  JTRACE_E_ARGUMENT = -3,    /* a null pointer, a number out of range, a wrong struct_size */
  JTRACE_E_METRIC = -4,      /* no metric has this name or number */
  JTRACE_E_NOT_COUNTED = -5, /* nobody counts it: begin a recording with metrics=NAME */
  JTRACE_E_UNSUPPORTED =
      -6,                 /* this version, JVM or kernel does not tell, or not of virtual threads */
  JTRACE_E_REACH = -7,    /* not known of threads: ask for the process, or for methods */
  JTRACE_E_HANDLER = -8,  /* takes a file to read: ask totals() outside of signal handlers */
  JTRACE_E_THREAD = -9,   /* not met yet (thread_attach does that), not started, or ended */
  JTRACE_E_NAME = -10,    /* cannot name a counter: letters, digits, '.', '_' and '-', 64 at most */
  JTRACE_E_FULL = -11,    /* no counter or reader is left, or too many call paths */
  JTRACE_E_KIND = -12,    /* the counter of that name counts in the other way */
  JTRACE_E_PATTERN = -13, /* names no method: write com.acme.Cache::load, java.sql.*::execute* */
  JTRACE_E_STATE = -14,   /* no recording runs, one runs already, or it keeps no call trees */
  JTRACE_E_HANDLE = -15,  /* this reader or window is not open */
  JTRACE_E_FAILED = -16,  /* the command failed; the sink was told why */
  JTRACE_E_MEMORY = -17,  /* no memory */
  JTRACE_E_INTERNAL = -18 /* an error of jtrace's own */
};

/* Where a metric is known. */
enum {
  JTRACE_REACH_PATH = 0,   /* by method, call path, thread and process */
  JTRACE_REACH_THREAD = 1, /* by thread and process */
  JTRACE_REACH_PROCESS = 2 /* as one total */
};

/* Whose totals. */
enum {
  JTRACE_OF_PROCESS = 0,     /* all threads, ended ones included; `thread` is not looked at */
  JTRACE_OF_OWN_THREAD = 1,  /* the calling thread, or the virtual thread on it; the same */
  JTRACE_OF_JAVA_THREAD = 2, /* `thread`: Thread.threadId(), of a thread that may have ended */
  JTRACE_OF_OS_THREAD = 3    /* `thread`: gettid(), of a thread that runs */
};

/* Flags of a counter. By processor: additions from many threads cost no more than from one, but
   only the process's total is known. Without it: by thread, and charged to call paths with
   metrics=user.NAME. */
#define JTRACE_COUNTER_PER_CPU 1u

typedef struct jtrace_metric {
  uint32_t struct_size; /* set by the caller: sizeof(jtrace_metric) */
  uint32_t id;
  uint32_t reach;        /* JTRACE_REACH_... */
  int32_t available;     /* JTRACE_OK: can be asked for now; else why not */
  const char* name;      /* "alloc.bytes", "user.orders"; as all texts here it stays for ever */
  const char* unit;      /* "B", "ns"; "" for numbers of things */
  const char* exactness; /* for people */
  const char* cost;      /* for people */
  const char* meaning;   /* for people */
} jtrace_metric;

typedef struct jtrace_method_query {
  uint32_t struct_size; /* set by the caller: sizeof(jtrace_method_query) */
  uint32_t metric;      /* of base and cum: "calls", or one that call paths are charged with */
  uint64_t window;      /* what was counted in it; 0: since the recording began */
  uint32_t of;          /* JTRACE_OF_...; not looked at with a window */
  uint32_t reserved;    /* 0 */
  uint64_t thread;      /* see JTRACE_OF_...; a thread that runs */
  const char* pattern;  /* "com.acme.Cache::load", "com.acme.**::get*(String)" */
} jtrace_method_query;

/* Several methods that match are taken as one: an activation below another one is nested. */
typedef struct jtrace_method_stats {
  uint32_t struct_size; /* set by the caller: sizeof(jtrace_method_stats) */
  uint32_t reserved;
  int64_t calls;
  int64_t outermost_calls; /* those that are not nested */
  int64_t base;            /* the metric without callees */
  int64_t cum;             /* with callees, nested activations once */
} jtrace_method_stats;

/* Told of each line that a command answers, on the calling thread; `is_error`: why it failed. Must
   return, and throw nothing. */
typedef void (*jtrace_sink)(void* context, int32_t is_error, const char* line);

typedef struct jtrace_api {
  uint32_t struct_size; /* the agent's: what lies beyond it is not there */
  uint32_t abi;         /* JTRACE_ABI */
  const char* version;  /* "0.1.0" */

  /* Any. A sentence for people about a code; never null. */
  const char* (*error_text)(int32_t code);

  /* Any. JTRACE_OK, JTRACE_E_NOT_RUNNING or JTRACE_E_ENDED; each other function answers the same.
   */
  int32_t (*state)(void);

  /* ---- Metrics ---- */

  /* Any. Numbers of all metrics, as many as fit; *count: how many there are. `ids` may be null if
     `capacity` is 0. Errors: ARGUMENT. */
  int32_t (*metric_ids)(uint32_t* ids, size_t capacity, size_t* count);

  /* Any. The number of a metric, which it keeps for ever. Errors: ARGUMENT, METRIC. */
  int32_t (*metric_id)(const char* name, uint32_t* id);

  /* Any. Errors: ARGUMENT, METRIC. */
  int32_t (*metric_info)(uint32_t id, jtrace_metric* info);

  /* ---- Totals ---- */

  /* Thread. The calling thread is known from here on; costs nothing when it is. Java threads that
     begin while the agent records are known already; other threads are counted from here on. The
     end of a thread is noticed by itself. A native thread that attaches to the JVM goes on
     counting; when it detaches it has ended, and what it counts after that is a new thread's.
     Errors: MEMORY. */
  int32_t (*thread_attach)(void);

  /* Any. Totals of the calling thread, `count` of them, in the order of `ids`. In a handler
     alloc.bytes may be off by a TLAB if the handler interrupted the JVM's own allocation. Errors:
     ARGUMENT, METRIC, NOT_COUNTED, UNSUPPORTED, REACH, HANDLER, THREAD (thread_attach was not
     called). */
  int32_t (*own_totals)(const uint32_t* ids, size_t count, int64_t* values);

  /* Thread. The same of any thread, or of the process. Exact of threads that stand still or have
     ended. UNSUPPORTED: io.read.bytes and io.write.bytes of threads that ended, too. THREAD: has
     not started, or ended before 16,384 others (a native one: has ended). */
  int32_t (*totals)(uint32_t of, uint64_t thread, const uint32_t* ids, size_t count,
                    int64_t* values);

  /* ---- Readers: each has a cursor of its own ---- */

  /* Thread. From here on. JTRACE_OF_OWN_THREAD stays the thread that opens it. At most 65,536 are
     open. Errors: those of totals; FULL. */
  int32_t (*reader_open)(uint32_t of, uint64_t thread, const uint32_t* ids, size_t count,
                         uint64_t* reader);

  /* Thread. `totals` as they are now, and `deltas` since the reader's last reading, at first since
     it was opened; `count` numbers each, or null for what is not wanted. After an error the cursor
     stands where it stood. Errors: those of totals; HANDLE. */
  int32_t (*reader_read)(uint64_t reader, int64_t* totals, int64_t* deltas);

  /* Thread. Errors: HANDLE. */
  int32_t (*reader_close)(uint64_t reader);

  /* ---- Counters of the program's own ---- */

  /* Thread. Finds or makes the counter user.NAME and returns its number as a metric. `unit`: "B",
     "ns", or null, letters as of names, with / and %; the first one stays. `flags`: 0 or
     JTRACE_COUNTER_PER_CPU. Errors: ARGUMENT, NAME, KIND, FULL (there are 16). */
  int32_t (*counter)(const char* name, const char* unit, uint32_t flags, uint32_t* id);

  /* Any. Additions to it wrap. Nothing is lost if a handler interrupts an addition, but for one
     that Java code makes to the same counter in the same thread. Errors: METRIC (no counter has
     this number); THREAD: nothing was added, because this thread, which counts by thread, was not
     attached, or ends. */
  int32_t (*add)(uint32_t id, int64_t delta);

  /* ---- Methods: need a recording with call trees (record=tree) ---- */

  /* Thread. Counts from here on, for the process or the own thread, a Java thread. Until it is
     closed or the recording ends. Errors: ARGUMENT, STATE, THREAD, FULL. */
  int32_t (*window_open)(uint32_t of, uint64_t* window);

  /* Thread. A window of a recording that has ended is closed. Errors: HANDLE. */
  int32_t (*window_close)(uint64_t window);

  /* Thread. Exact of methods that have returned. Errors: ARGUMENT, METRIC, NOT_COUNTED (call paths
     are not charged with it), PATTERN, STATE, THREAD, HANDLE, FULL (more than 1,048,576 call
     paths). */
  int32_t (*method)(const jtrace_method_query* query, jtrace_method_stats* stats);

  /* ---- Commands ---- */

  /* Thread. What `jtrace VERB PID ARGUMENT` does: start with the agent's options, stop, resume,
     dump, flush, mark with a text, status, metrics. `argument` and `sink` may be null. On a thread
     that is no Java thread it runs on another one. Errors: ARGUMENT, STATE, FAILED. */
  int32_t (*command)(const char* verb, const char* argument, jtrace_sink sink, void* context);
} jtrace_api;

/* Any. What libjtrace.so exports: its table for this ABI, which stays for ever; null: it has none.
 */
typedef const jtrace_api* (*jtrace_get_api_function)(uint32_t abi);
#define JTRACE_GET_API "jtrace_get_api"

#ifdef __cplusplus
}
#endif

#endif /* JTRACE_H_ */
