import java.lang.reflect.Method;

/** Runs the main methods of several programs one after the other, so that they share a JVM. */
public final class InTurn {
  private InTurn() {}

  public static void main(String[] programs) throws ReflectiveOperationException {
    for (String program : programs) {
      Method main = Class.forName(program).getMethod("main", String[].class);
      main.invoke(null, (Object) new String[0]);
      System.out.println("ENDED " + program);
    }
  }
}
