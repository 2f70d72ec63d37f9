import java.io.InputStream;

/**
 * The same class of two loaders, whose methods call a class of a third: a child that defines {@link
 * Caller} itself, and the loader of everything else.
 */
public final class Loaders {
  private Loaders() {}

  /** Defined twice. */
  public static final class Caller implements Runnable {
    @Override
    public void run() {
      Callee.work();
    }
  }

  /** Out of scope; its loader is the parent. */
  public static final class Callee {
    static int sum;

    private Callee() {}

    public static void work() {
      for (int i = 0; i < 1000; i++) sum += i ^ sum;
    }
  }

  private static final class Child extends ClassLoader {
    Child() {
      super(Loaders.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (!name.equals(Caller.class.getName())) return super.loadClass(name, resolve);
      try (InputStream file = getResourceAsStream(name.replace('.', '/') + ".class")) {
        byte[] bytes = file.readAllBytes();
        return defineClass(name, bytes, 0, bytes.length);
      } catch (java.io.IOException e) {
        throw new ClassNotFoundException(name, e);
      }
    }
  }

  public static void main(String[] args) throws Exception {
    Callee.work(); // loaded before its callers
    Runnable here = new Caller();
    Runnable there =
        (Runnable)
            new Child().loadClass(Caller.class.getName()).getDeclaredConstructor().newInstance();
    for (int i = 0; i < 300; i++) here.run();
    for (int i = 0; i < 700; i++) there.run();
  }
}
