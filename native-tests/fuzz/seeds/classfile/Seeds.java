import java.lang.annotation.ElementType;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntSupplier;

/** What the corpus of the class-file fuzzer is compiled from: every shape the rewriter handles. */
final class Seeds {
  @Retention(RetentionPolicy.RUNTIME)
  @Target({ElementType.TYPE_USE})
  @Repeatable(Marks.class)
  @interface Mark {
    String[] value() default {"x"};

    int n() default 3;
  }

  @Retention(RetentionPolicy.RUNTIME)
  @Target({ElementType.TYPE_USE})
  @interface Marks {
    Mark[] value();
  }

  static class Empty {}

  interface Default {
    int get();

    default int twice() {
      return 2 * get();
    }
  }

  static class Switches {
    int dense(int x) {
      switch (x) {
        case 0: return 1;
        case 1: return 5;
        case 2: x++;
        default: return x;
      }
    }

    int sparse(String s) {
      switch (s) {
        case "a": return 1;
        case "bcd": return 5;
        default: return 0;
      }
    }
  }

  static class Handlers {
    int depth;

    synchronized int nested(Object lock) {
      try {
        synchronized (lock) {
          return depth / lock.hashCode();
        }
      } catch (ArithmeticException | NullPointerException e) {
        return -1;
      } finally {
        depth++;
      }
    }
  }

  static class Construction {
    final Object a;

    Construction(boolean b, long c) {
      this(b ? new Object() : new int[(int) c]);
    }

    Construction(Object a) {
      super();
      this.a = a;
      if (a == null) throw new IllegalArgumentException();
    }
  }

  static class Frames {
    double mix(int a, long b, float c, double d, Object[] e) {
      double sum = d;
      for (int i = 0; i < a; i++) {
        long l = b;
        while (l > 0) {
          Object o = i % 2 == 0 ? e[i] : new StringBuilder(l > 3 ? "x" : "y");
          if (o == null) continue;
          sum += l-- * c;
        }
      }
      return sum;
    }
  }

  static class Annotated {
    Object uses(Object o) {
      @Mark({"a", "b"}) List<@Mark(n = 4) String> list = new @Mark ArrayList<@Mark String>();
      try {
        if (o instanceof @Mark String) list.add((@Mark("c") String) o);
      } catch (@Mark RuntimeException e) {
        throw e;
      }
      return list;
    }
  }

  static class Lambdas {
    IntSupplier add(int x) {
      return () -> x + 1;
    }

    String join(int x, Object y) {
      return x + ":" + y;
    }
  }

  static class Initialised {
    static final long[] TABLE = new long[3];

    static {
      for (int i = 0; i < 3; i++) TABLE[i] = i * 0x1234567890L;
    }
  }
}
