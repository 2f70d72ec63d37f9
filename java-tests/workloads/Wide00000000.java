/** Defined many times under other names by {@link WideCalls}. */
public final class Wide00000000 implements Runnable {
  @Override
  public void run() {}
}
