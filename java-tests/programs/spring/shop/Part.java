package shop;

/** What the generated beans are. */
public interface Part {}
