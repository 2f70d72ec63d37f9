package shop;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/** Answers how many items have the word that is asked for. */
public final class SearchServlet extends HttpServlet {
  private static final long serialVersionUID = 1;
  private final transient Catalog catalog = new Catalog();

  @Override
  protected void doGet(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    response.setContentType("text/plain");
    response.getWriter().println("found " + catalog.count(request.getQueryString()));
  }
}
