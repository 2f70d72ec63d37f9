package shop;

import org.apache.catalina.Context;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;

/** Tomcat with ten workers. It prints its port, and stops when its input ends. */
public final class Server {
  private Server() {}

  public static void main(String[] args) throws Exception {
    Tomcat tomcat = new Tomcat();
    tomcat.setBaseDir(args[0]);
    tomcat.setPort(0);
    Connector connector = tomcat.getConnector();
    connector.setProperty("address", "127.0.0.1");
    connector.setProperty("maxThreads", "10");
    connector.setProperty("minSpareThreads", "10");
    Context context = tomcat.addContext("", null);
    Tomcat.addServlet(context, "search", new SearchServlet());
    context.addServletMappingDecoded("/search", "search");
    tomcat.start();
    System.out.println("port " + connector.getLocalPort());
    System.in.transferTo(System.out);
    tomcat.stop();
    tomcat.destroy();
  }
}
