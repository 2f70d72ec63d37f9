import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * The call structure of S1's tables and of FIG. 18B: every stack of the figure lasts equally long,
 * in slices and in an order that no timer can be in step with. Arguments: loop iterations of a
 * slice, rounds.
 */
public class CallStacks {
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
    List<Integer> stacks = new ArrayList<>();
    for (int stack = 0; stack < 16; stack++) stacks.add(stack);
    Random random = new Random(42);
    for (int rounds = Integer.parseInt(args[1]); rounds > 0; rounds--) {
      Collections.shuffle(stacks, random);
      for (int stack : stacks) {
        if (stack < 6) {
          a1(stack);
        } else {
          c(stack - 6);
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
