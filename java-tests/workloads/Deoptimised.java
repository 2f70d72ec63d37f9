/**
 * Deoptimises all the time: each tenth call of nine inlined methods meets a null that compiled code
 * does not handle, with the flags of DeoptimisedTest also not after it is compiled again. Argument:
 * calls.
 */
public class Deoptimised {
  private static final class Box {
    int value;
  }

  public static void main(String[] arguments) {
    Box box = new Box();
    int calls = Integer.parseInt(arguments[0]);
    long sum = 0;
    for (int i = 0; i < 200_000; i++) sum += caught(box, i);
    for (int i = 0; i < calls; i++) sum += caught(i % 10 == 0 ? null : box, i);
    System.out.println(sum);
  }

  private static int caught(Box box, int x) {
    try {
      return eighth(box, x);
    } catch (NullPointerException e) {
      return -1;
    }
  }

  private static int eighth(Box box, int x) {
    return seventh(box, x * 9) ^ 7;
  }

  private static int seventh(Box box, int x) {
    return sixth(box, x + 2) + 6;
  }

  private static int sixth(Box box, int x) {
    return fifth(box, x * 7) ^ 5;
  }

  private static int fifth(Box box, int x) {
    return fourth(box, x + 2) + 4;
  }

  private static int fourth(Box box, int x) {
    return third(box, x * 5) ^ 3;
  }

  private static int third(Box box, int x) {
    return second(box, x + 2) + 1;
  }

  private static int second(Box box, int x) {
    return first(box, x * 3) ^ 1;
  }

  private static int first(Box box, int x) {
    return box.value + x;
  }
}
