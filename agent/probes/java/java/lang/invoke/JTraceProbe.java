package java.lang.invoke;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Stable;

/**
 * The probes that rewritten methods call, and their slow paths.
 *
 * <p>Defined into java.base by the agent at VMInit. Every thread has a calling-context tree of its
 * own in off-heap memory; {@link #enter} moves the thread's current node to the child for the
 * method and counts, {@link #exit} moves it back. Only the owning thread writes to its tree; the
 * agent's writer thread and the sampling signal handler read it at any time (agent/hot/layout.h is
 * the same layout for C++, agent/probes/README.md says why it is as it is).
 *
 * <p>A reference to a node, state, table or chunk is its offset from the arena in granules of 64
 * bytes. Slow paths may be cut off by a StackOverflowError at any call, so every store leaves the
 * structures consistent: at worst memory is leaked or a node exists twice.
 */
public final class JTraceProbe {
  /** Address of the arena. */
  static final long ARENA;
  /** record=flat, else trees. */
  private static final boolean FLAT;
  /** record=log: calls go to the thread's log, and into its tree when that has no room. */
  static final boolean LOG;
  /** What is read at entry and exit (JTraceClock); 0: nothing. */
  static final int CLOCK;
  /** Offset of spare bytes in java.lang.Thread that hold the state's address; 0: there are none. */
  private static final long THREAD_SPARE;

  static {
    // The agent overwrites these literals in the constant pool before it defines the class
    // (probe_class.h). Assigned here, so that javac does not fold them into other constants.
    ARENA = 0x4A54524143450001L;
    long flat = 0x4A54524143450002L;
    FLAT = flat != 0;
    THREAD_SPARE = 0x4A54524143450003L;
    long log = 0x4A54524143450004L;
    LOG = log != 0;
    long clock = 0x4A54524143450005L;
    CLOCK = (int) clock;
  }

  private static final int GRANULE_SHIFT = 6;
  /** Routine ids are below this, so that {@code slot >>> 26} is the child's offset in bytes. */
  private static final int ID_BITS = 26;

  private static final int NODE_ROUTINE = 0;
  private static final int NODE_PARENT = 4;
  private static final int NODE_TABLE = 8;
  private static final int NODE_NEXT = 12;
  private static final int NODE_INTERPRETED = 16;
  private static final int NODE_JITTED = 24;
  private static final int NODE_DEPTH = 36;
  private static final int NODE_SLOTS = 64;
  private static final int SLOT_COUNT = 32;
  private static final int NODE_SIZE = 320;
  private static final int NODE_TIMES_SIZE = 64;

  private static final int STATE_CURRENT = 0;
  private static final int STATE_TID = 8;
  private static final int STATE_NEXT = 16;
  private static final int STATE_ROOT = 24;
  private static final int STATE_LAST = 28;
  private static final int STATE_CHUNKS = 32;
  private static final int STATE_CHUNK_CLASS = 36;
  private static final int STATE_BUMP = 40;
  private static final int STATE_LIMIT = 48;
  private static final int STATE_VIRTUAL = 56;
  private static final int STATE_CHUNK_BYTES = 72;
  private static final int STATE_SIZE = 192;

  private static final int CHUNK_NEXT = 0;
  private static final int CHUNK_CLASS = 4;
  private static final int CHUNK_HEADER = 64;
  private static final int CHUNK_BASE_SHIFT = 11;
  private static final int USUAL_CLASSES = 4;
  private static final int CHUNK_CLASSES = 8;
  private static final int FLAT_CLASS = 6;
  /** Of 2 MB and 32 KB. */
  private static final int RING_CLASS = 5;
  private static final int VIRTUAL_RING_CLASS = 2;

  private static final int TABLE_MASK = 0;
  private static final int TABLE_COUNT = 4;
  private static final int TABLE_SLOTS = 8;
  private static final int TABLE_FIRST_CAPACITY = 16;
  /** 2^32 / golden ratio: spreads consecutive ids. */
  private static final int HASH = 0x9E3779B1;

  private static final int ARENA_NEXT = 192;
  private static final int ARENA_LIMIT = 200;
  private static final int ARENA_FREES = 216;
  private static final int ARENA_FREE = 256;
  private static final int ARENA_LOST_NODE = 320;
  private static final int ARENA_BUCKETS = 4096;
  private static final int BUCKET_COUNT = 16384;
  private static final int ARENA_COMPILED = 69632;
  private static final int COMPILED_COUNT = 4194304;
  private static final int ARENA_SHARED = 4263936;

  private static final int FLAT_COUNTERS = 192;
  private static final int FLAT_IDS = 262144;

  private static final Unsafe U = Unsafe.getUnsafe();
  private static final long TID = U.objectFieldOffset(Thread.class, "tid");
  private static final long EETOP = U.objectFieldOffset(Thread.class, "eetop");

  /**
   * Thread id to state: low 32 bits of the id, reference of its state. One long, so that entries
   * are replaced atomically when ids collide; on the heap, so that the JIT knows that stores to the
   * trees do not change it.
   */
  private static final long[] STATES = new long[4096];

  static {
    // Zero would be a valid entry of thread id 0, which threads have until their constructor ran.
    STATES[0] = 1L << 32;
  }

  /** An element is a compile-time constant exactly if its index is. */
  @Stable private static final Object[] CONSTANT = {"", ""};

  private JTraceProbe() {}

  /** Method entry. Returns the token: the node that was current before, and in a log, jitted. */
  @ForceInline
  public static long enter(int id) {
    long state = state();
    long current = U.getLong(state + STATE_CURRENT);
    if (LOG) {
      long child = child(state, current, id);
      boolean jitted = jitted(id);
      if (child != ARENA + ARENA_LOST_NODE) {
        JTraceLog.enter(state, current, child, id, jitted);
      } else {
        count(child, jitted);
      }
      U.putLong(state + STATE_CURRENT, child);
      return current | (jitted ? 1 : 0);
    }
    if (CLOCK != 0) {
      JTraceClock.charge(state, current);
    }
    long child = child(state, current, id);
    count(child, jitted(id));
    U.putLong(state + STATE_CURRENT, child);
    return current;
  }

  /** Method exit: also heals activations above that were left unseen. */
  @ForceInline
  public static void exit(long token) {
    long state = state();
    if (!LOG && CLOCK == 0) {
      U.putLong(state + STATE_CURRENT, token);
      return;
    }
    long current = U.getLong(state + STATE_CURRENT);
    long to = LOG ? token & ~1L : token;
    if (!LOG) {
      JTraceClock.charge(state, current);
    }
    U.putLong(state + STATE_CURRENT, to);
    long routineAndParent = U.getLong(current + NODE_ROUTINE);
    if (routineAndParent >>> 32 != (to - ARENA) >>> GRANULE_SHIFT) {
      leave(state, current, to);
    } else if (LOG) {
      JTraceLog.exit(state, current, to, (int) routineAndParent, (int) token & 1);
    } else {
      JTraceClock.close(current);
    }
  }

  /** At a catch handler: the method that got {@code token} runs again. Counts nothing. */
  public static void resume(long token, int id) {
    long state = state();
    long current = U.getLong(state + STATE_CURRENT);
    if (CLOCK != 0 && !LOG) {
      JTraceClock.charge(state, current);
    }
    long target = child(state, LOG ? token & ~1L : token, id);
    U.putLong(state + STATE_CURRENT, target);
    if (LOG || CLOCK != 0) {
      leave(state, current, target);
    }
  }

  /** Instead of enter and exit in methods that call nothing. */
  @ForceInline
  public static void leaf(int id) {
    if (LOG || CLOCK != 0) {
      exit(enter(id));
      return;
    }
    long state = state();
    long current = U.getLong(state + STATE_CURRENT);
    count(child(state, current, id), jitted(id));
  }

  /** record=flat: the only probe. */
  @ForceInline
  public static void count(int id) {
    long state = state();
    if (id >= FLAT_IDS || state == ARENA + ARENA_SHARED) {
      countShared(id);
      return;
    }
    long counter = state + FLAT_COUNTERS + ((long) id << 4) + (jitted(id) ? 8 : 0);
    U.putLong(counter, U.getLong(counter) + 1);
  }

  @ForceInline
  private static long state() {
    Thread thread = Thread.currentThread();
    if (THREAD_SPARE != 0) {
      long state = U.getLong(thread, THREAD_SPARE);
      return state != 0 ? state : findState(U.getLong(thread, TID));
    }
    long tid = U.getLong(thread, TID);
    // Its upper half is 0 exactly if the entry is this thread's.
    long entry = STATES[(int) tid & (STATES.length - 1)] - (tid << 32);
    return (entry >>> 32) == 0 ? ARENA + (entry << GRANULE_SHIFT) : findState(tid);
  }

  @ForceInline
  private static long child(long state, long node, int id) {
    long slot = U.getLong(node + NODE_SLOTS + ((long) (id & (SLOT_COUNT - 1)) << 3));
    return (int) slot == id ? ARENA + (slot >>> ID_BITS) : findChild(state, node, id);
  }

  @ForceInline
  static void count(long node, boolean jitted) {
    long counter = node + (jitted ? NODE_JITTED : NODE_INTERPRETED);
    U.putLong(counter, U.getLong(counter) + 1);
  }

  /**
   * Whether the method that pushed the constant {@code id} runs compiled. C2 answers at compile
   * time; a probe compiled on its own and called by the interpreter has no constant id. C1 code
   * cannot tell: what the agent knows of the method decides.
   */
  @ForceInline
  private static boolean jitted(int id) {
    return MethodHandleImpl.isCompileConstant(CONSTANT[id >>> 31])
        || U.getByte(ARENA + ARENA_COMPILED + (id & (COMPILED_COUNT - 1))) != 0;
  }

  private static void countShared(int id) {
    long counter = ARENA + ARENA_SHARED + FLAT_COUNTERS + ((long) (id & (COMPILED_COUNT - 1)) << 4);
    U.getAndAddLong(null, counter + (jitted(id) ? 8 : 0), 1);
  }

  // ---- Slow paths -------------------------------------------------------------------------------

  static long parent(long node) {
    return at(U.getInt(node + NODE_PARENT));
  }

  static int routine(long node) {
    return U.getInt(node + NODE_ROUTINE);
  }

  /**
   * The thread went on from an activation of {@code from} in the one of {@code to}: those in between
   * ended, usually without a probe at their exit.
   */
  private static void leave(long state, long from, long to) {
    if (!isBelow(from, to)) {
      return;
    }
    for (long node = from; node != to; node = parent(node)) {
      if (LOG) {
        JTraceLog.exit(state, node, parent(node), routine(node), 0);
      } else {
        JTraceClock.close(node);
      }
    }
  }

  private static boolean isBelow(long node, long ancestor) {
    while (node != ancestor && U.getInt(node + NODE_PARENT) != 0) {
      node = parent(node);
    }
    return node == ancestor;
  }

  private static int nodeBytes() {
    return CLOCK == 0 ? NODE_SIZE : NODE_SIZE + NODE_TIMES_SIZE;
  }

  static long at(int reference) {
    return ARENA + (((long) reference & 0xFFFFFFFFL) << GRANULE_SHIFT);
  }

  private static int reference(long address) {
    return (int) ((address - ARENA) >>> GRANULE_SHIFT);
  }

  /** The thread's state, made if there is none; the lost state if there is no memory. */
  private static long findState(long tid) {
    long bucket = ARENA + ARENA_BUCKETS + ((tid & (BUCKET_COUNT - 1)) << 2);
    long state = search(bucket, tid);
    if (state == 0) {
      if (tid == 0) {
        return FLAT ? ARENA + ARENA_SHARED : ARENA;
      }
      state = FLAT ? newFlatState(tid) : newTreeState(tid);
      if (state == 0) {
        return ARENA;
      }
      if (state != ARENA + ARENA_SHARED) {
        publish(state, bucket);
      }
    }
    if (THREAD_SPARE != 0) {
      U.putLong(Thread.currentThread(), THREAD_SPARE, state);
    } else {
      STATES[(int) tid & (STATES.length - 1)] = (tid << 32) | reference(state) & 0xFFFFFFFFL;
    }
    return state;
  }

  /**
   * The state in the bucket; 0: there is none. A search may stand on a state while the writer thread
   * gives its memory back and its link leads elsewhere: then it starts again.
   */
  private static long search(long bucket, long tid) {
    for (long frees = -1; ; ) {
      long now = U.getLongVolatile(null, ARENA + ARENA_FREES);
      if (now == frees) {
        return 0;
      }
      frees = now;
      for (int r = U.getIntAcquire(null, bucket); r != 0; r = U.getIntAcquire(null, at(r) + STATE_NEXT)) {
        if (U.getLong(at(r) + STATE_TID) == tid) {
          return at(r);
        }
      }
    }
  }

  private static void publish(long state, long bucket) {
    int head;
    do {
      head = U.getIntVolatile(null, bucket);
      U.putInt(state + STATE_NEXT, head);
    } while (!U.compareAndSetInt(null, bucket, head, reference(state)));
  }

  private static long newTreeState(long tid) {
    long chunk = newChunk(0);
    if (chunk == 0) {
      return 0;
    }
    long state = chunk + CHUNK_HEADER;
    long root = state + STATE_SIZE;
    if (isVirtual()) {
      U.putInt(state + STATE_VIRTUAL, 1);
      // There may be very many: they get a second small chunk before bigger ones.
      U.putInt(state + STATE_CHUNK_CLASS, -1);
    }
    U.putLong(state + STATE_CHUNK_BYTES, chunkBytes(0));
    U.putLong(state + STATE_TID, tid);
    U.putLong(state + STATE_CURRENT, root);
    U.putInt(state + STATE_ROOT, reference(root));
    U.putInt(state + STATE_LAST, reference(root));
    U.putInt(state + STATE_CHUNKS, reference(chunk));
    U.putLong(state + STATE_BUMP, root + nodeBytes());
    U.putLong(state + STATE_LIMIT, chunk + (1L << CHUNK_BASE_SHIFT));
    if (CLOCK != 0) {
      JTraceClock.begin(state);
    }
    if (LOG) {
      // After the state's own chunk, which stays the last of the list.
      long ring = newChunk(isVirtual() ? VIRTUAL_RING_CLASS : RING_CLASS);
      if (ring != 0) {
        U.putInt(ring + CHUNK_NEXT, reference(chunk));
        U.putInt(state + STATE_CHUNKS, reference(ring));
        long bytes = chunkBytes(U.getInt(ring + CHUNK_CLASS));
        U.putLong(state + STATE_CHUNK_BYTES, chunkBytes(0) + bytes);
        JTraceLog.begin(state, ring + CHUNK_HEADER, bytes - CHUNK_HEADER);
      }
    }
    return state;
  }

  /** A virtual thread has no eetop, the address of the JVM's structure for a platform thread. */
  private static boolean isVirtual() {
    return U.getLong(Thread.currentThread(), EETOP) == 0;
  }

  /** Virtual threads share one set of counters, changed atomically. */
  private static long newFlatState(long tid) {
    if (isVirtual()) {
      return ARENA + ARENA_SHARED;
    }
    long chunk = newChunk(FLAT_CLASS);
    if (chunk == 0) {
      return ARENA + ARENA_SHARED;
    }
    long state = chunk + CHUNK_HEADER;
    U.putLong(state + STATE_TID, tid);
    U.putInt(state + STATE_CHUNKS, reference(chunk));
    return state;
  }

  /** The child that is not in its direct slot, made if there is none. */
  private static long findChild(long state, long node, int id) {
    if (node == ARENA + ARENA_LOST_NODE) {
      return node;
    }
    int table = U.getInt(node + NODE_TABLE);
    if (table != 0) {
      long slot = U.getLong(tableSlot(at(table), id));
      if (slot != 0) {
        return ARENA + (slot >>> ID_BITS);
      }
    }
    return newChild(state, node, id);
  }

  /** Address of the slot that holds id, or of the free one where it belongs. */
  private static long tableSlot(long table, int id) {
    int mask = U.getInt(table + TABLE_MASK);
    for (int i = (id * HASH >>> 8) & mask; ; i = (i + 1) & mask) {
      long address = table + TABLE_SLOTS + ((long) i << 3);
      long slot = U.getLong(address);
      if (slot == 0 || (int) slot == id) {
        return address;
      }
    }
  }

  private static long newChild(long state, long parent, int id) {
    long direct = parent + NODE_SLOTS + ((long) (id & (SLOT_COUNT - 1)) << 3);
    long slotAddress = U.getLong(direct) == 0 ? direct : freeTableSlot(state, parent, id);
    long node = slotAddress == 0 ? 0 : allocate(state, nodeBytes());
    if (node == 0) {
      return ARENA + ARENA_LOST_NODE;
    }
    U.putInt(node + NODE_ROUTINE, id);
    U.putInt(node + NODE_PARENT, reference(parent));
    U.putShort(node + NODE_DEPTH, (short) Math.min((U.getShort(parent + NODE_DEPTH) & 0xFFFF) + 1, 0xFFFF));
    long last = at(U.getInt(state + STATE_LAST));
    // The order of creation is the order in which the writer thread meets the nodes.
    U.putIntRelease(null, last + NODE_NEXT, reference(node));
    U.putInt(state + STATE_LAST, reference(node));
    U.putLong(slotAddress, ((long) reference(node) << 32) | id);
    if (slotAddress != direct) {
      long count = at(U.getInt(parent + NODE_TABLE)) + TABLE_COUNT;
      U.putInt(count, U.getInt(count) + 1);
    }
    return node;
  }

  /** Room for id in the node's overflow table, which grows at three quarters; 0: no memory. */
  private static long freeTableSlot(long state, long node, int id) {
    int reference = U.getInt(node + NODE_TABLE);
    long table = reference == 0 ? 0 : at(reference);
    int capacity = table == 0 ? 0 : U.getInt(table + TABLE_MASK) + 1;
    if (table == 0 || (U.getInt(table + TABLE_COUNT) + 1) * 4 > capacity * 3) {
      table = newTable(state, table, capacity);
      if (table == 0) {
        return 0;
      }
      U.putInt(node + NODE_TABLE, reference(table));
    }
    return tableSlot(table, id);
  }

  private static long newTable(long state, long old, int oldCapacity) {
    int capacity = old == 0 ? TABLE_FIRST_CAPACITY : oldCapacity * 2;
    long table = allocate(state, TABLE_SLOTS + capacity * 8L);
    if (table == 0) {
      return 0;
    }
    U.putInt(table + TABLE_MASK, capacity - 1);
    for (int i = 0; i < oldCapacity; i++) {
      long slot = U.getLong(old + TABLE_SLOTS + ((long) i << 3));
      if (slot != 0) {
        U.putLong(tableSlot(table, (int) slot), slot);
      }
    }
    U.putInt(table + TABLE_COUNT, old == 0 ? 0 : U.getInt(old + TABLE_COUNT));
    return table;
  }

  /** Zeroed memory from the thread's current chunk or a new one; 0: none left. */
  private static long allocate(long state, long bytes) {
    bytes = (bytes + 63) & ~63L;
    long address = U.getLong(state + STATE_BUMP);
    if (U.getLong(state + STATE_LIMIT) - address < bytes && !nextChunk(state, bytes)) {
      return 0;
    }
    address = U.getLong(state + STATE_BUMP);
    U.putLong(state + STATE_BUMP, address + bytes);
    return address;
  }

  private static boolean nextChunk(long state, long bytes) {
    int wanted = Math.min(U.getInt(state + STATE_CHUNK_CLASS) + 1, USUAL_CLASSES - 1);
    U.putInt(state + STATE_CHUNK_CLASS, wanted);
    while (wanted < CHUNK_CLASSES - 1 && chunkBytes(wanted) - CHUNK_HEADER < bytes) {
      wanted++;
    }
    // Smaller ones may have been given back where there is no room for a new one.
    for (int c = wanted; c >= 0 && chunkBytes(c) - CHUNK_HEADER >= bytes; c--) {
      long chunk = newChunk(c);
      if (chunk != 0) {
        useChunk(state, chunk, chunkBytes(c));
        return true;
      }
    }
    return false;
  }

  private static void useChunk(long state, long chunk, long bytes) {
    U.putInt(chunk + CHUNK_NEXT, U.getInt(state + STATE_CHUNKS));
    U.putInt(state + STATE_CHUNKS, reference(chunk));
    U.putLong(state + STATE_CHUNK_BYTES, U.getLong(state + STATE_CHUNK_BYTES) + bytes);
    // No room at all while the two bounds belong to different chunks.
    U.putLong(state + STATE_LIMIT, 0);
    U.putLong(state + STATE_BUMP, chunk + CHUNK_HEADER);
    U.putLong(state + STATE_LIMIT, chunk + bytes);
  }

  private static long chunkBytes(int sizeClass) {
    return 1L << (CHUNK_BASE_SHIFT + 2 * sizeClass);
  }

  /** A zeroed chunk, recycled or from the arena's end; 0: none left. */
  private static long newChunk(int sizeClass) {
    long free = ARENA + ARENA_FREE + sizeClass * 8L;
    for (long head; (int) (head = U.getLongVolatile(null, free)) != 0; ) {
      long chunk = at((int) head);
      // The upper half counts pops: a chunk that came back meanwhile is not taken for unchanged.
      long next = (((head >>> 32) + 1) << 32) | (U.getInt(chunk + CHUNK_NEXT) & 0xFFFFFFFFL);
      if (U.compareAndSetLong(null, free, head, next)) {
        U.putInt(chunk + CHUNK_NEXT, 0);
        return chunk;
      }
    }
    long bytes = chunkBytes(sizeClass);
    long limit = U.getLong(ARENA + ARENA_LIMIT);
    for (long offset; (offset = U.getLongVolatile(null, ARENA + ARENA_NEXT)) + bytes <= limit; ) {
      if (U.compareAndSetLong(null, ARENA + ARENA_NEXT, offset, offset + bytes)) {
        U.putInt(ARENA + offset + CHUNK_CLASS, sizeClass);
        return ARENA + offset;
      }
    }
    return 0;
  }
}
