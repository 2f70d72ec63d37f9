import jtrace.api.JTrace;
import jtrace.api.Metric;

/** Asks the agent by the jar of the Maven repository. */
public final class UsesApi {
  private static Object kept;

  private static long allocates(int bytes) {
    long before = JTrace.total(Metric.ALLOC_BYTES);
    kept = new byte[bytes];
    return JTrace.total(Metric.ALLOC_BYTES) - before;
  }

  public static void main(String[] words) {
    allocates(0); // loads classes
    long bytes = allocates(100_000);
    // An array's head has 16 bytes.
    if (kept == null || bytes != 100_016) {
      System.out.println(bytes + " bytes allocated, not 100,016");
      System.exit(1);
    }
  }
}
