/** Does nothing: only JVM and agent start up. */
public final class Empty {
  public static void main(String[] args) {}
}
