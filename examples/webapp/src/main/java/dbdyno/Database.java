package dbdyno;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletContextEvent;
import jakarta.servlet.ServletContextListener;
import jakarta.servlet.annotation.WebListener;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;

/**
 * The pool of connections to the database, open for as long as the application runs.
 *
 * <p>Parameters of the context: {@code url}, {@code user}, {@code password}, {@code connections} (the size of the pool).
 */
@WebListener
public final class Database implements ServletContextListener {
    private static final String POOL = "pool";

    /** A request waits for a connection as long as its client does. */
    private static final long PATIENCE = TimeUnit.HOURS.toMillis(1);

    static DataSource of(ServletContext context) {
        return (DataSource) context.getAttribute(POOL);
    }

    @Override
    public void contextInitialized(ServletContextEvent event) {
        ServletContext context = event.getServletContext();
        HikariConfig config = new HikariConfig();
        config.setDriverClassName("org.mariadb.jdbc.Driver");
        config.setJdbcUrl(context.getInitParameter("url"));
        config.setUsername(context.getInitParameter("user"));
        config.setPassword(context.getInitParameter("password"));
        int connections = Integer.parseInt(context.getInitParameter("connections"));
        config.setMaximumPoolSize(connections);
        // All connections are there before the first request.
        config.setMinimumIdle(connections);
        config.setConnectionTimeout(PATIENCE);
        context.setAttribute(POOL, new HikariDataSource(config));
    }

    @Override
    public void contextDestroyed(ServletContextEvent event) {
        ((HikariDataSource) of(event.getServletContext())).close();
    }
}
