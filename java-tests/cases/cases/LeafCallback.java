package cases;

import java.util.Arrays;
import java.util.function.IntUnaryOperator;

/** A leaf method called by the JDK: it is counted below the method that called the JDK. */
public final class LeafCallback {
  private static final int LENGTH = 1_000;
  private static final int ROUNDS = 100;

  private static final class Churn implements IntUnaryOperator {
    private int called;

    @Override
    public int applyAsInt(int x) {
      called++;
      for (int i = 0; i < 300; i++) x = x * 31 ^ x >>> 7;
      return x;
    }
  }

  private static void fill(int[] numbers, Churn churn) {
    Arrays.setAll(numbers, churn);
  }

  public static void main(String[] arguments) {
    Churn churn = new Churn();
    int[] numbers = new int[LENGTH];
    int rounds = arguments.length > 0 ? Integer.parseInt(arguments[0]) : ROUNDS;
    for (int i = 0; i < rounds; i++) fill(numbers, churn);
    System.out.println(Arrays.hashCode(numbers));
    System.out.println("EXPECT " + churn.called + " cases.LeafCallback$Churn.applyAsInt(int)");
    System.out.println("EXPECT " + rounds + " cases.LeafCallback.fill(int[],LeafCallback$Churn)");
  }
}
