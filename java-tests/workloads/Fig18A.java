import java.lang.reflect.Method;

/** The calls of FIG. 18A, a microsecond apart by clock=manual. */
public final class Fig18A {
  private static Method advance;

  private static void tick() {
    try {
      advance.invoke(null, 1000L);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  private Fig18A() {}

  /** Runs a routine: letters call routines, brackets contain what the callee runs. */
  private static int run(String script, int at) {
    tick();
    while (script.charAt(at) != ')') {
      char routine = script.charAt(at);
      at = call(routine, script, at + 2) + 1;
      tick();
    }
    return at;
  }

  private static int call(char routine, String script, int at) {
    switch (routine) {
      case 'A': return A.a(script, at);
      case 'B': return B.b(script, at);
      case 'C': return C.c(script, at);
      default: return X.x(script, at);
    }
  }

  static final class A {
    static int a(String script, int at) {
      return run(script, at);
    }
  }

  static final class B {
    static int b(String script, int at) {
      return run(script, at);
    }
  }

  static final class C {
    static int c(String script, int at) {
      return run(script, at);
    }
  }

  static final class X {
    static int x(String script, int at) {
      return run(script, at);
    }
  }

  public static void main(String[] args) throws Exception {
    Class<?> clock = Class.forName("java.lang.invoke.JTraceClock");
    advance = clock.getMethod("advance", long.class);
    Thread thread = new Thread(() -> C.c("A(B()B(B()))B(A(B(A())X())))", 0), "pt_pidtid");
    thread.start();
    thread.join();
  }
}
