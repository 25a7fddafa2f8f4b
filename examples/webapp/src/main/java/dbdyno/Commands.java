package dbdyno;

import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.regex.Pattern;

/**
 * The commands of dyno's workload {@code crud}, one address each, on the table that the parameter {@code table} names.
 *
 * <p>{@code insert}, {@code select}, {@code update} and {@code delete} work on the rows from {@code first} to {@code last}. A command
 * that changes rows answers with their number, {@code select} with one line per row, {@code check} with the number of rows and
 * the sum of their values. A statement that the database refuses is answered with status 500 and the database's words.
 */
@WebServlet(
        urlPatterns = {
            "/ready", "/create-table", "/insert", "/select", "/update", "/delete", "/check", "/drop-table"
        })
public final class Commands extends HttpServlet {
    private static final long serialVersionUID = 1L;

    /** Names come into the SQL as they are. */
    private static final Pattern TABLE = Pattern.compile("crud_[0-9]+");

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        answer(request, response);
    }

    @Override
    protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
        answer(request, response);
    }

    private void answer(HttpServletRequest request, HttpServletResponse response) throws IOException {
        response.setContentType("text/plain");
        response.setCharacterEncoding("UTF-8");
        try (Connection connection = Database.of(getServletContext()).getConnection();
                Statement statement = connection.createStatement()) {
            response.getWriter().print(perform(request, statement));
        } catch (SQLException refused) {
            response.setStatus(HttpServletResponse.SC_INTERNAL_SERVER_ERROR);
            response.getWriter().println(refused.getMessage());
        } catch (IllegalArgumentException wrong) {
            response.setStatus(HttpServletResponse.SC_BAD_REQUEST);
            response.getWriter().println(wrong.getMessage());
        }
    }

    private static String perform(HttpServletRequest request, Statement statement) throws SQLException {
        String command = request.getServletPath();
        return switch (command) {
            case "/ready" -> rows(statement, "SELECT 1");
            case "/create-table" -> changed(
                    statement,
                    "CREATE TABLE " + table(request)
                            + " (id INTEGER NOT NULL PRIMARY KEY, value INTEGER NOT NULL, note VARCHAR(64) NOT NULL)");
            case "/insert" -> changed(statement, insert(request));
            case "/select" -> rows(
                    statement, "SELECT id, value, note FROM " + table(request) + between(request));
            case "/update" -> changed(
                    statement, "UPDATE " + table(request) + " SET value = value + 1" + between(request));
            case "/delete" -> changed(statement, "DELETE FROM " + table(request) + between(request));
            case "/check" -> rows(statement, "SELECT COUNT(*), SUM(value) FROM " + table(request));
            case "/drop-table" -> changed(
                    statement,
                    "DROP TABLE " + (request.getParameter("leftover") == null ? "" : "IF EXISTS ") + table(request));
            default -> throw new IllegalArgumentException("there is no command " + command);
        };
    }

    private static String insert(HttpServletRequest request) {
        String table = table(request);
        long first = number(request, "first");
        long last = number(request, "last");
        StringBuilder sql = new StringBuilder("INSERT INTO ").append(table).append(" (id, value, note) VALUES ");
        for (long id = first; id <= last; id++) {
            String separator = id == first ? "" : ", ";
            sql.append(separator).append('(').append(id).append(", ").append(id);
            sql.append(", 'row ").append(id).append(" of ").append(table).append("')");
        }
        return sql.toString();
    }

    private static String changed(Statement statement, String sql) throws SQLException {
        return statement.executeLargeUpdate(sql) + "\n";
    }

    /** One line per row, its values separated by tabs. */
    private static String rows(Statement statement, String sql) throws SQLException {
        StringBuilder lines = new StringBuilder();
        try (ResultSet rows = statement.executeQuery(sql)) {
            int columns = rows.getMetaData().getColumnCount();
            while (rows.next()) {
                for (int column = 1; column <= columns; column++) {
                    lines.append(column == 1 ? "" : "\t").append(rows.getString(column));
                }
                lines.append('\n');
            }
        }
        return lines.toString();
    }

    private static String between(HttpServletRequest request) {
        return " WHERE id BETWEEN " + number(request, "first") + " AND " + number(request, "last");
    }

    private static String table(HttpServletRequest request) {
        String name = request.getParameter("table");
        if (name == null || !TABLE.matcher(name).matches()) {
            throw new IllegalArgumentException("the parameter table must be crud_ and a number");
        }
        return name;
    }

    private static long number(HttpServletRequest request, String name) {
        String text = request.getParameter(name);
        if (text == null) {
            throw new IllegalArgumentException("the parameter " + name + " is missing");
        }
        return Long.parseLong(text);
    }
}
