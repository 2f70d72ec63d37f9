import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32;

/**
 * Code that is loaded and unloaded: the same class under ever new loaders, method handle chains,
 * lambdas, intrinsics and garbage collections. Best with a small code cache. Argument: seconds.
 */
public class CodeChurn {
  public static volatile long sink;

  /** Loaded repeatedly. */
  public static class Payload implements Runnable {
    interface Shape {
      double area();
    }

    record Square(double side) implements Shape {
      public double area() {
        return side * side;
      }
    }

    record Circle(double radius) implements Shape {
      public double area() {
        return Math.PI * radius * radius;
      }
    }

    @Override
    public void run() {
      double total = 0;
      Shape[] shapes = {new Square(2), new Circle(1)};
      for (int i = 0; i < 30_000; i++) total += shapes[i & 1].area() + Math.sin(i);
      sink += (long) total;
    }
  }

  static void handles() throws Throwable {
    MethodHandle chain = MethodHandles.identity(long.class);
    MethodHandle add =
        MethodHandles.lookup()
            .findStatic(CodeChurn.class, "add", MethodType.methodType(long.class, long.class));
    for (int i = 0; i < 12; i++) chain = MethodHandles.filterReturnValue(chain, add);
    for (int i = 0; i < 3_000; i++) sink += (long) chain.invokeExact((long) i);
  }

  static long add(long x) {
    return x * 3 + 1;
  }

  static void intrinsics(byte[] data) {
    CRC32 crc = new CRC32();
    crc.update(data);
    sink += crc.getValue();
    byte[] copy = Arrays.copyOf(data, data.length - 3);
    sink += Arrays.equals(copy, data) ? 1 : 2;
    String text = new String(copy, java.nio.charset.StandardCharsets.ISO_8859_1);
    sink += text.indexOf("zzzz") + text.compareTo(text.substring(1)) + text.hashCode();
    sink += new java.math.BigInteger(1, copy).multiply(new java.math.BigInteger(1, data)).bitCount();
  }

  public static void main(String[] args) throws Throwable {
    long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000L;
    byte[] data = new byte[4096];
    new java.util.Random(7).nextBytes(data);
    List<int[]> garbage = new ArrayList<>();
    while (System.nanoTime() < end) {
      Class<?> type = new FreshLoader("CodeChurn$Payload").loadClass("CodeChurn$Payload");
      for (int i = 0; i < 3; i++) ((Runnable) type.getDeclaredConstructor().newInstance()).run();
      handles();
      for (int i = 0; i < 100; i++) intrinsics(data);
      for (int i = 0; i < 200; i++) garbage.add(new int[1000]);
      garbage.clear();
      List<Integer> numbers = new ArrayList<>();
      for (int i = 0; i < 5_000; i++) numbers.add((i * 7919) % 5_000);
      sink += numbers.stream().filter(n -> n % 3 == 0).mapToLong(n -> n).sum();
      numbers.sort((x, y) -> Integer.compare(y, x));
    }
    System.out.println("CodeChurn done " + (sink != 0));
  }
}
