import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.util.concurrent.CountDownLatch;

/**
 * A class that takes long to load: its own loader waits while the JVM requests the superclass.
 * "begin" begins to load it and answers when the JVM has the class file; "finish" lets the loader
 * go on; "call N" calls the class N times; "end" ends.
 */
public final class HeldBack {
  static final CountDownLatch waits = new CountDownLatch(1);
  static final CountDownLatch mayContinue = new CountDownLatch(1);
  static Runnable slow;

  private HeldBack() {}

  /** Loaded by the program's own loader, which does not wait. */
  public static class Above {}

  public static final class Slow extends Above implements Runnable {
    static int calls;

    @Override
    public void run() {
      calls++;
    }
  }

  private static final class Slowly extends ClassLoader {
    Slowly() {
      super(HeldBack.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (name.equals("HeldBack$Above")) {
        waits.countDown();
        try {
          mayContinue.await();
        } catch (InterruptedException e) {
          throw new ClassNotFoundException(name, e);
        }
      }
      return name.equals("HeldBack$Slow") ? define(name) : super.loadClass(name, resolve);
    }

    private Class<?> define(String name) throws ClassNotFoundException {
      try (InputStream file = getResourceAsStream(name + ".class")) {
        byte[] bytes = file.readAllBytes();
        return defineClass(name, bytes, 0, bytes.length);
      } catch (IOException e) {
        throw new ClassNotFoundException(name, e);
      }
    }
  }

  static void load() {
    try {
      slow =
          (Runnable)
              new Slowly().loadClass("HeldBack$Slow").getDeclaredConstructor().newInstance();
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  public static void main(String[] args) throws Exception {
    Thread loading = new Thread(HeldBack::load, "loading");
    loading.setDaemon(true);
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    System.out.println("ready");
    for (String line; (line = in.readLine()) != null && !line.equals("end"); ) {
      String[] command = line.split(" ");
      switch (command[0]) {
        case "begin":
          loading.start();
          waits.await();
          break;
        case "finish":
          mayContinue.countDown();
          loading.join();
          break;
        case "call":
          for (long i = Long.parseLong(command[1]); i > 0; i--) slow.run();
          break;
        default:
          throw new IllegalArgumentException(line);
      }
      System.out.println("done");
    }
    System.out.println("ended");
  }
}
