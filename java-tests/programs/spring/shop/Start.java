package shop;

import org.springframework.context.annotation.AnnotationConfigApplicationContext;

/** Starts the context of a shop, whose classes it looks for, and ends it. */
public final class Start {
  private Start() {}

  public static void main(String[] args) {
    AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext("shop");
    System.out.println("beans " + context.getBeansOfType(Part.class).size());
    context.close();
  }
}
