//! Updates the planner's statistics of tables, with the best statement that the server accepts.

use crate::connection::Connection;
use crate::driver::Driver;
use crate::value::Discard;
use dyno_model::failure::OperationFailure;

/// A statement that the server rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RejectedStatement {
    /// The statement.
    pub statement: String,
    /// The server's error.
    pub failure: OperationFailure,
}

/// Updates the statistics of these tables, given by their names in SQL. A statement that the server
/// rejects is returned and not repeated for other tables; the next best one takes its place.
///
/// # Errors
/// When the connection is lost, and for errors that do not concern the statement itself.
pub async fn update_statistics(
    connection: &mut Connection,
    tables: &[String],
) -> Result<Vec<RejectedStatement>, OperationFailure> {
    let mut rejected = Vec::new();
    let mut statements = connection.identity().product.analyze();
    for table in tables {
        while let [best, others @ ..] = statements {
            let statement = format!("{best} {table}");
            match connection.query(&statement, &mut Discard).await {
                Ok(_) => break,
                Err(failure) if failure.is_refusal() => {
                    statements = others;
                    rejected.push(RejectedStatement { statement, failure });
                }
                Err(failure) => return Err(failure),
            }
        }
    }
    Ok(rejected)
}
