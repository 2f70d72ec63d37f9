/** A call for each reason for which C2 does not inline one. */
public final class InlineReasons {
  private interface Shape {
    int area(int n);
  }

  private static final class Square implements Shape {
    @Override
    public int area(int n) {
      return n * n;
    }
  }

  private static final class Line implements Shape {
    @Override
    public int area(int n) {
      return n ^ 1;
    }
  }

  private static final class Circle implements Shape {
    @Override
    public int area(int n) {
      return n * 3;
    }
  }

  private static int receivers(Shape[] shapes, int n) {
    int sum = 0;
    for (Shape shape : shapes) sum += shape.area(n);
    return sum;
  }

  // More than FreqInlineSize.
  private static int big(int n) {
    int x = n;
    x = x * 31 + (x >>> 1);
    x = x * 32 + (x >>> 2);
    x = x * 33 + (x >>> 3);
    x = x * 34 + (x >>> 4);
    x = x * 35 + (x >>> 5);
    x = x * 36 + (x >>> 6);
    x = x * 37 + (x >>> 7);
    x = x * 38 + (x >>> 8);
    x = x * 39 + (x >>> 9);
    x = x * 40 + (x >>> 10);
    x = x * 41 + (x >>> 11);
    x = x * 42 + (x >>> 12);
    x = x * 43 + (x >>> 13);
    x = x * 44 + (x >>> 1);
    x = x * 45 + (x >>> 2);
    x = x * 46 + (x >>> 3);
    x = x * 47 + (x >>> 4);
    x = x * 48 + (x >>> 5);
    x = x * 49 + (x >>> 6);
    x = x * 50 + (x >>> 7);
    x = x * 51 + (x >>> 8);
    x = x * 52 + (x >>> 9);
    x = x * 53 + (x >>> 10);
    x = x * 54 + (x >>> 11);
    x = x * 55 + (x >>> 12);
    x = x * 56 + (x >>> 13);
    x = x * 57 + (x >>> 1);
    x = x * 58 + (x >>> 2);
    x = x * 59 + (x >>> 3);
    x = x * 60 + (x >>> 4);
    x = x * 61 + (x >>> 5);
    x = x * 62 + (x >>> 6);
    x = x * 63 + (x >>> 7);
    x = x * 64 + (x >>> 8);
    x = x * 65 + (x >>> 9);
    x = x * 66 + (x >>> 10);
    x = x * 67 + (x >>> 11);
    x = x * 68 + (x >>> 12);
    x = x * 69 + (x >>> 13);
    x = x * 70 + (x >>> 1);
    return x;
  }

  private static int callsBig(int n) {
    return big(n) + 1;
  }

  // More than MaxInlineSize, and not in each call of its caller.
  private static int medium(int n) {
    int x = n;
    x = x * 32 + (x >>> 1);
    x = x * 33 + (x >>> 2);
    x = x * 34 + (x >>> 3);
    x = x * 35 + (x >>> 4);
    x = x * 36 + (x >>> 5);
    x = x * 37 + (x >>> 6);
    x = x * 38 + (x >>> 7);
    x = x * 39 + (x >>> 8);
    return x;
  }

  private static int seldomMedium(int n) {
    return n % 5 == 0 ? medium(n) : n;
  }

  private static int rare(int n) {
    return n * 7 + (n >>> 3);
  }

  private static int rarely(int n) {
    return n % 400 == 0 ? rare(n) : n;
  }

  private static int factorial(int n) {
    return n < 2 ? 1 : n * factorial(n - 1);
  }

  private static int part(int n) {
    int x = n;
    x = x * 33 + (x >>> 1);
    x = x * 34 + (x >>> 2);
    x = x * 35 + (x >>> 3);
    x = x * 36 + (x >>> 4);
    x = x * 37 + (x >>> 5);
    x = x * 38 + (x >>> 6);
    x = x * 39 + (x >>> 7);
    x = x * 40 + (x >>> 8);
    x = x * 41 + (x >>> 9);
    x = x * 42 + (x >>> 10);
    x = x * 43 + (x >>> 11);
    x = x * 44 + (x >>> 12);
    x = x * 45 + (x >>> 13);
    x = x * 46 + (x >>> 1);
    x = x * 47 + (x >>> 2);
    x = x * 48 + (x >>> 3);
    x = x * 49 + (x >>> 4);
    x = x * 50 + (x >>> 5);
    x = x * 51 + (x >>> 6);
    x = x * 52 + (x >>> 7);
    x = x * 53 + (x >>> 8);
    x = x * 54 + (x >>> 9);
    return x;
  }

  private static int last(int n) {
    int x = n;
    x = x * 34 + (x >>> 1);
    x = x * 35 + (x >>> 2);
    x = x * 36 + (x >>> 3);
    x = x * 37 + (x >>> 4);
    x = x * 38 + (x >>> 5);
    x = x * 39 + (x >>> 6);
    x = x * 40 + (x >>> 7);
    x = x * 41 + (x >>> 8);
    x = x * 42 + (x >>> 9);
    x = x * 43 + (x >>> 10);
    x = x * 44 + (x >>> 11);
    x = x * 45 + (x >>> 12);
    x = x * 46 + (x >>> 13);
    x = x * 47 + (x >>> 1);
    x = x * 48 + (x >>> 2);
    x = x * 49 + (x >>> 3);
    x = x * 50 + (x >>> 4);
    x = x * 51 + (x >>> 5);
    x = x * 52 + (x >>> 6);
    x = x * 53 + (x >>> 7);
    x = x * 54 + (x >>> 8);
    x = x * 55 + (x >>> 9);
    x = x * 56 + (x >>> 10);
    x = x * 57 + (x >>> 11);
    return x;
  }

  // All calls together are more than C2 puts into one method.
  private static int full(int n) {
    int x = n;
    x = part(x);
    x = part(x);
    x = part(x);
    x = part(x);
    x = part(x);
    x = part(x);
    x = part(x);
    x = part(x);
    x = part(x);
    x = part(x);
    x = part(x);
    x = part(x);
    x = part(x);
    x = part(x);
    x = part(x);
    x = part(x);
    x = part(x);
    x = part(x);
    x = part(x);
    x = part(x);
    x = part(x);
    x = part(x);
    x = part(x);
    x = part(x);
    x = part(x);
    x = part(x);
    x = part(x);
    x = part(x);
    x = part(x);
    x = part(x);
    x = part(x);
    x = part(x);
    x = part(x);
    x = part(x);
    x = part(x);
    x = part(x);
    x = part(x);
    x = part(x);
    x = part(x);
    x = part(x);
    x = part(x);
    x = part(x);
    return last(x);
  }

  private static int deep0(int n) {
    return deep1(n + 0) ^ n;
  }

  private static int deep1(int n) {
    return deep2(n + 1) ^ n;
  }

  private static int deep2(int n) {
    return deep3(n + 2) ^ n;
  }

  private static int deep3(int n) {
    return deep4(n + 3) ^ n;
  }

  private static int deep4(int n) {
    return deep5(n + 4) ^ n;
  }

  private static int deep5(int n) {
    return deep6(n + 5) ^ n;
  }

  private static int deep6(int n) {
    return deep7(n + 6) ^ n;
  }

  private static int deep7(int n) {
    return deep8(n + 7) ^ n;
  }

  private static int deep8(int n) {
    return deep9(n + 8) ^ n;
  }

  private static int deep9(int n) {
    return deep10(n + 9) ^ n;
  }

  private static int deep10(int n) {
    return deep11(n + 10) ^ n;
  }

  private static int deep11(int n) {
    return deep12(n + 11) ^ n;
  }

  private static int deep12(int n) {
    return deep13(n + 12) ^ n;
  }

  private static int deep13(int n) {
    return deep14(n + 13) ^ n;
  }

  private static int deep14(int n) {
    return deep15(n + 14) ^ n;
  }

  private static int deep15(int n) {
    return deep16(n + 15) ^ n;
  }

  private static int deep16(int n) {
    return deep17(n + 16) ^ n;
  }

  private static int deep17(int n) {
    return deep18(n + 17) ^ n;
  }

  private static int deep18(int n) {
    return deep19(n + 18) ^ n;
  }

  private static int deep19(int n) {
    return deep20(n + 19) ^ n;
  }

  private static int deep20(int n) {
    return n * 5;
  }

  private static int small(int n) {
    return n + 1;
  }

  private static int run(Shape[] shapes, int n) {
    return receivers(shapes, n) + callsBig(n) + seldomMedium(n) + rarely(n) + factorial(12) + full(n)
        + deep0(n) + small(n);
  }

  public static void main(String[] args) {
    Shape[] shapes = {new Square(), new Line(), new Circle()};
    int sum = 0;
    for (int i = 0; i < 60_000; i++) sum += run(shapes, i);
    System.out.println(sum);
  }
}
