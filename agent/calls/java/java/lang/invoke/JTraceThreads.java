package java.lang.invoke;

import static java.lang.invoke.JTraceLayout.*;
import static java.lang.invoke.JTraceMemory.at;
import static java.lang.invoke.JTraceMemory.reference;

import jdk.internal.misc.Unsafe;

/** The states of threads: found by thread id, made when a thread runs its first probe. */
final class JTraceThreads {
  private static final long ARENA = JTraceProbe.ARENA;
  private static final Unsafe U = Unsafe.getUnsafe();
  private static final long EETOP = U.objectFieldOffset(Thread.class, "eetop");

  private JTraceThreads() {}

  /** The thread's state, made if there is none; the lost state if there is no memory. */
  static long find(long tid) {
    boolean flat = JTraceProbe.FLAT;
    long bucket = ARENA + ARENA_BUCKETS + ((tid & (BUCKET_COUNT - 1)) << 2);
    long state = search(bucket, tid);
    if (state != 0) {
      return state;
    }
    if (tid == 0) {
      return flat ? ARENA + ARENA_SHARED : ARENA;
    }
    state = flat ? newFlatState(tid) : newTreeState(tid);
    if (state == 0) {
      return ARENA;
    }
    if (state != ARENA + ARENA_SHARED) {
      publish(state, bucket);
    }
    return state;
  }

  /**
   * The state in the bucket; 0: there is none. A search may be at a state while the writer thread
   * releases its memory and its link leads elsewhere: then it starts again.
   */
  private static long search(long bucket, long tid) {
    for (long frees = -1; ; ) {
      long now = U.getLongVolatile(null, ARENA + ARENA_FREES);
      if (now == frees) {
        return 0;
      }
      frees = now;
      for (int r = U.getIntAcquire(null, bucket); r != 0; ) {
        if (U.getLong(at(r) + STATE_JAVA_TID) == tid) {
          return at(r);
        }
        r = U.getIntAcquire(null, at(r) + STATE_NEXT);
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
    long chunk = JTraceMemory.newChunk(0, ARENA_STATE_LIMIT);
    if (chunk == 0) {
      return 0;
    }
    long state = chunk + CHUNK_HEADER;
    long root = state + STATE_SIZE;
    boolean virtual = isVirtual();
    if (virtual) {
      U.putInt(state + STATE_VIRTUAL, 1);
      // There may be very many: they get a second small chunk before bigger ones.
      U.putInt(state + STATE_CHUNK_CLASS, -1);
    }
    U.putLong(state + STATE_CHUNK_BYTES, JTraceMemory.chunkBytes(0));
    U.putLong(state + STATE_JAVA_TID, tid);
    U.putLong(root + NODE_SLOTS, ARENA + ARENA_NO_SLOT);
    U.putLong(state + STATE_CURRENT, root);
    U.putInt(state + STATE_ROOT, reference(root));
    U.putInt(state + STATE_LAST, reference(root));
    U.putInt(state + STATE_CHUNKS, reference(chunk));
    long end = root + JTraceTree.nodeBytes();
    if (JTraceProbe.METRICS != 0) {
      JTraceCharges.begin(state, end, tid, virtual);
      end += THREAD_METRICS_SIZE;
    }
    U.putLong(state + STATE_BUMP, end);
    U.putLong(state + STATE_LIMIT, chunk + (1L << CHUNK_BASE_SHIFT));
    if (!virtual) {
      JTracePruner.prunedNodeOfRoot(state);
    }
    if (JTraceProbe.BLOCKS != 0) {
      JTraceBlocks.begin(state, virtual);
    }
    if (JTraceProbe.CLOCK != 0) {
      JTraceClock.begin(state);
      if (JTraceExits.ON) {
        JTraceExits.begin(state, root);
      }
    }
    if (JTraceProbe.LOG) {
      JTraceLog.begin(state);
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
    long chunk = JTraceMemory.newChunk(FLAT_CLASS, ARENA_STATE_LIMIT);
    if (chunk == 0) {
      return ARENA + ARENA_SHARED;
    }
    long state = chunk + CHUNK_HEADER;
    U.putLong(state + STATE_JAVA_TID, tid);
    U.putInt(state + STATE_CHUNKS, reference(chunk));
    U.putLong(state + STATE_BLOCKS, state + FLAT_BLOCKS);
    return state;
  }
}
