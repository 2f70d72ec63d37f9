package programs;

import jtrace.api.JTrace;

/** Calls methods of an interface and of an abstract class, and queries them by these names. */
public final class Shapes {
  interface Shape {
    int area();

    default int twice() {
      return 2 * area();
    }
  }

  abstract static class Named implements Shape {
    abstract String name();
  }

  static final class Square extends Named {
    @Override
    public int area() {
      return 4;
    }

    @Override
    String name() {
      return "square";
    }
  }

  static class Circle extends Named {
    @Override
    public int area() {
      return 3;
    }

    @Override
    String name() {
      return "circle";
    }
  }

  static final class Disc extends Circle {
    @Override
    public int area() {
      return super.area() + 1;
    }
  }

  private Shapes() {}

  private static void print(String pattern) {
    System.out.println(
        pattern
            + " "
            + JTrace.method("programs.Shapes$" + pattern).calls()
            + " "
            + JTrace.method("programs.Shapes$" + pattern).outermostCalls());
  }

  public static void main(String[] args) {
    Named square = new Square();
    Named circle = new Circle();
    Named disc = new Disc();
    int sum = 0;
    for (int i = 0; i < 10; i++) sum += square.area();
    for (int i = 0; i < 20; i++) sum += circle.area() + circle.name().length();
    for (int i = 0; i < 5; i++) sum += disc.area() + square.twice();
    System.out.println("sum " + sum);
    print("Shape::area");
    print("Named::name()");
    print("Shape::t*");
    print("Circle::area");
    print("Disc::area");
  }
}
