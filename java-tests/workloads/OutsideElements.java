import java.util.Arrays;

/** Known numbers of calls out of scope, of known numbers of elements. */
public final class OutsideElements {
  private OutsideElements() {}

  /** 100 calls, 4,950 elements. */
  private static void copies() {
    int[] from = new int[100];
    int[] to = new int[100];
    for (int i = 0; i < 100; i++) {
      System.arraycopy(from, 0, to, 0, i);
    }
  }

  /** 7 calls of 4 elements, 5 of none: the number is not one of elements. */
  private static String appends() {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 7; i++) {
      text.append("four");
    }
    for (int i = 0; i < 5; i++) {
      text.append(1_000_000);
    }
    return text.toString();
  }

  /** 3 calls of 10 elements, and one of null. */
  private static int hashes() {
    int hash = Arrays.hashCode((int[]) null);
    for (int i = 0; i < 3; i++) {
      hash += Arrays.hashCode(new int[10]);
    }
    return hash;
  }

  /** 9 calls of the same cost each time. */
  private static int fixed() {
    int most = 0;
    for (int i = 0; i < 9; i++) {
      most = Math.max(most, i);
    }
    return most;
  }

  public static void main(String[] args) {
    copies();
    if (appends().length() + hashes() + fixed() == 42) {
      throw new AssertionError();
    }
  }
}
