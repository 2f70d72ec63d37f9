package java.lang.invoke;

/**
 * Offsets, sizes and counts of agent/signal_safe/arena.h and what it includes. The agent compares them
 * when it starts (java_layout.cc). They are compile-time constants: no class refers to this one.
 */
final class JTraceLayout {
  static final int GRANULE_SHIFT = 6;

  static final int NODE_ROUTINE = 0;
  static final int NODE_PARENT = 4;
  static final int NODE_SLOTS = 8;
  static final int NODE_INTERPRETED = 16;
  static final int NODE_JITTED = 24;
  static final int NODE_NEXT = 32;
  static final int NODE_CALL_SITE = 46;
  static final int NODE_MASK = 48;
  static final int NODE_DEPTH = 50;
  static final int NODE_FLAGS = 52;
  static final int NODE_SIZE = 64;
  static final int NODE_TIMES_SIZE = 64;
  static final int NODE_METRICS_SIZE = 128;
  static final int NODE_BLOCKS_SIZE = 64;
  static final int PATH_METRICS = 7;
  static final int THREAD_METRICS_SIZE = 64;

  static final int STATE_CURRENT = 0;
  static final int STATE_JAVA_TID = 8;
  static final int STATE_NEXT = 16;
  static final int STATE_ROOT = 24;
  static final int STATE_LAST = 28;
  static final int STATE_CHUNKS = 32;
  static final int STATE_CHUNK_CLASS = 36;
  static final int STATE_BUMP = 40;
  static final int STATE_LIMIT = 48;
  static final int STATE_VIRTUAL = 56;
  static final int STATE_MISSES = 68;
  static final int STATE_CHUNK_BYTES = 72;
  static final int STATE_SMALL_SLOTS = 136;
  static final int STATE_SMALL_SLOTS_FREE = 144;
  static final int STATE_VICTIMS = 176;
  static final int STATE_POOL = 184;
  static final int STATE_FREED = 188;
  static final int STATE_DROPPED = 192;
  static final int STATE_PRUNED = 196;
  static final int STATE_POSITION_IS_PRUNED = 200;
  static final int STATE_FOLD_WAYS = 204;
  static final int STATE_COUNTERS = 208;
  static final int STATE_METRICS = 216;
  static final int STATE_CHANGES = 224;
  static final int STATE_BLOCKS = 232;
  static final int STATE_CALL_START = 168;
  static final int STATE_SIZE = 256;

  static final int VICTIMS_FOLD_WAYS = 0;
  static final int VICTIMS_COUNT = 4;
  static final int VICTIMS_NODES = 8;

  /** NODE_FLAGS: cut off from the tree for good; above the current node; calls fold from here. */
  static final int NODE_CUT_OFF = 1;
  static final int NODE_ON_PATH = 2;
  static final int NODE_FOLDS = 4;

  /** The routine of nodes that count calls without their own node. */
  static final int PRUNED_ROUTINE = 33554431;

  /**
   * sites=on: NODE_ROUTINE has the number of a call site above the id, for ids below CALL_SITE_IDS.
   * NODE_CALL_SITE: such a number with this bit; 0: none.
   */
  static final int CALL_SITE_SHIFT = 20;
  static final int CALL_SITE_IDS = 1048576;
  static final int HAS_CALL_SITE = 2048;
  /** In an id that a probe pushes: the JVM itself may have made the call. */
  static final int WITHOUT_CALL_SITE = 1073741824;

  static final int CHUNK_NEXT = 0;
  static final int CHUNK_CLASS = 4;
  static final int CHUNK_HEADER = 64;
  static final int CHUNK_BASE_SHIFT = 11;
  static final int USUAL_CLASSES = 4;
  static final int CHUNK_CLASSES = 8;
  static final int FLAT_CLASS = 6;

  /** NODE_MASK of slots that take a granule, and of the most, followed by a table. */
  static final int WHOLE_MASK = 7 << 3;
  static final int MOST_MASK = 8191 << 3;
  /** In NODE_MASK: the slots may be newer. A slot's offset has no such bit. */
  static final int MASK_MOVES = 1;

  static final int TABLE_MASK = 0;
  static final int TABLE_COUNT = 4;
  static final int TABLE_SLOTS = 8;
  static final int TABLE_FIRST_CAPACITY = 16;
  /** Where a child was: no routine has this id. */
  static final long TABLE_TOMBSTONE = 0xFFFFFFFFL;
  /** 2^32 / golden ratio: spreads consecutive ids. */
  static final int HASH = 0x9E3779B1;

  static final int ARENA_NEXT = 256;
  static final int ARENA_LIMIT = 264;
  static final int ARENA_FREES = 280;
  static final int ARENA_RESERVE_LIMIT = 288;
  static final int ARENA_MAX_DEPTH = 296;
  static final int ARENA_LOST = 300;
  static final int ARENA_STATE_LIMIT = 304;
  static final int ARENA_RECORDING_START = 312;
  static final int ARENA_FREE = 320;
  static final int ARENA_SINK_NODE = 384;
  static final int ARENA_NO_SLOT = 704;
  static final int ARENA_TOMBSTONE = 712;
  static final int ARENA_COUNTS = 720;
  static final int ARENA_BUCKETS = 4096;
  static final int BUCKET_COUNT = 16384;
  static final int ARENA_COMPILED = 69632;
  static final int COMPILED_COUNT = 33554432;
  static final int ARENA_SHARED = 33624064;

  static final int FLAT_COUNTERS = 256;
  static final int FLAT_IDS = 262144;
  static final int FLAT_BLOCKS = 4194560;

  /** signal_safe::MetricCounts. */
  static final int COUNTS = 0;

  /** The counters of blocks that a thread has of its own, and those that all share. */
  static final int BLOCK_IDS = 262144;
  static final int BLOCKS_SIZE = 2097152;
  static final int SHARED_BLOCK_IDS = 16777216;
  /** From the shared ones. */
  static final int BLOCKS_NEXT = -64;
  static final int BLOCKS_LIMIT = -56;
  static final int BLOCKS_FREE = -48;
  static final int BLOCKS_RECORDING = -40;
  static final int BLOCKS_OUT_OF_MEMORY = -32;

  /** BlockSet, of which a node has the first one; counters directly after it. */
  static final int SET_RANGE = 0;
  static final int SET_COUNTS = 8;
  static final int SET_MORE = 16;
  static final int SET_OUT_OF_MEMORY = 20;
  static final int SET_SIZE = 24;
  static final int NODE_OWN_BLOCKS = 32;
  static final int NODE_BLOCKS = 4;

  private JTraceLayout() {}
}
