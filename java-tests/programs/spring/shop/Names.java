package shop;

import java.util.regex.Pattern;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.stereotype.Component;

/** Looks at each bean of the shop: the planted culprit of the start. */
@Component
public final class Names implements BeanPostProcessor {
  static final int RULES = 2000;

  @Override
  public Object postProcessBeforeInitialization(Object bean, String name) {
    int fitting = 0;
    for (int rule = 0; rule < RULES; rule++) if (fits(name, rule)) fitting++;
    if (fitting != RULES) throw new IllegalStateException(name + " fits " + fitting + " rules");
    return bean;
  }

  @Override
  public Object postProcessAfterInitialization(Object bean, String name) {
    return bean;
  }

  private static boolean fits(String name, int rule) {
    return Pattern.compile("([a-z]+|" + rule + ")([0-9]{1,3}|\\b)[^x]*").matcher(name).lookingAt();
  }
}
