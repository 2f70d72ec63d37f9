package programs;

import java.util.Scanner;

/** Loads a library and runs until its input says so. Argument: the library. */
public final class LibraryHost {
  private LibraryHost() {}

  public static void main(String[] args) {
    System.load(args[0]);
    System.out.println("ready");
    Scanner input = new Scanner(System.in);
    while (!input.nextLine().equals("end")) System.out.println("unknown");
    System.out.println("ended");
    System.exit(0);
  }
}
