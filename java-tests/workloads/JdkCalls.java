import java.util.BitSet;
import java.util.StringTokenizer;

/** Calls methods of the JDK, which nothing else calls meanwhile, a known number of times. */
public final class JdkCalls {
  private static final int CALLS = 12_345;

  private JdkCalls() {}

  public static void main(String[] args) {
    BitSet bits = new BitSet(64);
    for (int i = 0; i < CALLS; i++) bits.flip(i & 63);
    StringTokenizer words = new StringTokenizer("a ".repeat(CALLS));
    int length = 0;
    while (words.hasMoreTokens()) length += words.nextToken().length();
    if (length != CALLS || bits.isEmpty()) throw new AssertionError();
    System.out.println("EXPECT " + CALLS + " java.util.BitSet.flip(int)");
    System.out.println("EXPECT " + CALLS + " java.util.StringTokenizer.nextToken()");
  }
}
