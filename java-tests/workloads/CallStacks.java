import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * The call structure of S1's tables and of FIG. 18B: every stack of the figure takes as much of the
 * thread's processor time, in slices and in an order that no timer can be in step with. A stack that
 * was slow (the machine can be busy) gets fewer slices. Arguments: loop iterations of a slice,
 * milliseconds of a stack.
 */
public class CallStacks {
  private static final int STACKS = 16;
  /** In each, every stack gets its share of the time. */
  private static final int ROUNDS = 400;

  static int slice;
  static long sink;

  // Own time of a routine is a loop in itself: a call would put a frame below it.

  /** S1: of six stacks, one ends here. */
  static void a1(int stack) {
    switch (stack) {
      case 1 -> a2(0);
      case 2, 3 -> a2(1);
      case 4 -> a3(0);
      case 5 -> a3(1);
      default -> {
        for (int i = 0; i < slice; i++) sink = sink * 31 + i;
      }
    }
  }

  static void a2(int deeper) {
    if (deeper > 0) {
      SystemPart.s1();
    } else {
      for (int i = 0; i < slice; i++) sink = sink * 31 + i;
    }
  }

  static void a3(int deeper) {
    a2(deeper);
  }

  /** FIG. 18B: three ticks in C, three in C A B, three in C B A, one in C B A B A. */
  static void c(int stack) {
    if (stack < 3) {
      for (int i = 0; i < slice; i++) sink = sink * 31 + i;
    } else if (stack < 6) {
      a(1);
    } else {
      b(stack < 9 ? 1 : 3);
    }
  }

  static void a(int deeper) {
    if (deeper > 0) {
      b(deeper - 1);
    } else {
      for (int i = 0; i < slice; i++) sink = sink * 31 + i;
    }
  }

  static void b(int deeper) {
    if (deeper > 0) {
      a(deeper - 1);
    } else {
      for (int i = 0; i < slice; i++) sink = sink * 31 + i;
    }
  }

  public static void main(String[] args) {
    slice = Integer.parseInt(args[0]);
    long budget = Integer.parseInt(args[1]) * 1_000_000L;
    List<Integer> stacks = new ArrayList<>();
    for (int stack = 0; stack < STACKS; stack++) stacks.add(stack);
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    long[] taken = new long[STACKS];
    Random random = new Random(42);
    for (long shared = 0; shared < budget; shared += Math.max(1, budget / ROUNDS)) {
      Collections.shuffle(stacks, random);
      for (int stack : stacks) {
        while (taken[stack] <= shared) {
          long before = threads.getCurrentThreadCpuTime();
          if (stack < 6) {
            a1(stack);
          } else {
            c(stack - 6);
          }
          taken[stack] += threads.getCurrentThreadCpuTime() - before;
        }
      }
    }
  }
}

/** The part outside the application. */
final class SystemPart {
  private SystemPart() {}

  static void s1() {
    s2();
  }

  static void s2() {
    for (int i = 0; i < CallStacks.slice; i++) CallStacks.sink = CallStacks.sink * 31 + i;
  }
}
