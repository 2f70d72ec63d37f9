package cases;

/** Recursion, mutual recursion and overloads that call one another. */
public final class Recursion {
  static int fib(int n) {
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
  }

  static boolean even(int n) {
    return n == 0 || odd(n - 1);
  }

  static boolean odd(int n) {
    return n != 0 && even(n - 1);
  }

  static int over(int n) {
    return n == 0 ? 0 : over((long) n);
  }

  static int over(long n) {
    return over(Integer.toString((int) n));
  }

  static int over(String n) {
    return over(Integer.parseInt(n) - 1);
  }

  public static void main(String[] args) {
    int sum = fib(20);
    for (int i = 0; i < 1000; i++) {
      sum += even(41) ? 1 : 0;
      sum += over(10);
    }
    System.out.println("sum " + sum);
    System.out.println("EXPECT 21891 cases.Recursion.fib(int)");
    System.out.println("EXPECT 21000 cases.Recursion.even(int)");
    System.out.println("EXPECT 21000 cases.Recursion.odd(int)");
    System.out.println("EXPECT 11000 cases.Recursion.over(int)");
    System.out.println("EXPECT 10000 cases.Recursion.over(long)");
    System.out.println("EXPECT 10000 cases.Recursion.over(String)");
    System.out.println("EXPECT 1 cases.Recursion.main(String[])");
  }
}
