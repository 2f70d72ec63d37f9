/** Does nothing: what is left is the start-up of JVM and agent. */
public final class Empty {
  public static void main(String[] args) {}
}
