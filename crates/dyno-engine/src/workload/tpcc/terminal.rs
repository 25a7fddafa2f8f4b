//! A terminal: one client, and the transactions that it executes (clauses 2.4 to 2.8), statement by
//! statement or by calling a procedure.

use super::decimal::{Decimal, cents};
use super::inputs::{Customer, Input, Line, NewOrder, OrderStatus, Payment, last_name};
use super::procedures::Call;
use super::progress::Effect;
use super::size::{DISTRICTS, Size};
use super::statements::{Kind, stock_for};
use super::transaction::Deck;
use crate::session::Session;
use dyno_drivers::{Outcome, Row, RowSink, Value};
use dyno_model::failure::{FailureKind, OperationFailure};
use std::fmt::Write;

/// Longest data of a customer; what is longer is cut off.
const DATA_MAX: usize = 500;
/// Orders that a stock level looks at.
const RECENT: i64 = 20;

/// State of a client.
pub struct Terminal {
    /// Its warehouse and its district, if it has them: a free terminal draws another warehouse for
    /// each transaction.
    pub(super) home: Option<i64>,
    pub(super) district: i64,
    pub(super) deck: Deck,
    /// Room for texts.
    pub(super) text: String,
}

type Result<T> = std::result::Result<T, OperationFailure>;

/// Passes each row to a function.
struct RowVisitor<F>(F);

impl<F: FnMut(&dyn Row)> RowSink for RowVisitor<F> {
    fn row(&mut self, row: &dyn Row) {
        (self.0)(row);
    }
}

/// The failure of a transaction that does not find a row it needs.
#[cold]
fn missing_row(kind: &str, parameters: &[Value<'_>]) -> OperationFailure {
    let values: Vec<_> = parameters.iter().filter_map(Value::to_text).collect();
    FailureKind::BadStatement
        .failure(format!("`{kind}` found no usable row for ({})", values.join(", ")))
}

/// Without row locks, another order may have taken the number that was read: the transaction is
/// repeated.
fn number_taken(failure: OperationFailure) -> OperationFailure {
    match failure.kind {
        FailureKind::DuplicateKey => FailureKind::Conflict.failure(failure.message),
        _ => failure,
    }
}

/// Executes a statement, and takes something out of its only row.
async fn query_one<T>(
    session: &mut Session,
    (index, kind): (usize, Kind),
    parameters: &[Value<'_>],
    take: impl Fn(&dyn Row) -> Option<T>,
) -> Result<T> {
    let mut value = None;
    session.execute(index, parameters, &mut RowVisitor(|row: &dyn Row| value = take(row))).await?;
    value.ok_or_else(|| missing_row(kind.name(), parameters))
}

/// The same for a statement that is the only one of its kind.
async fn get<T>(
    session: &mut Session,
    kind: Kind,
    parameters: &[Value<'_>],
    take: impl Fn(&dyn Row) -> Option<T>,
) -> Result<T> {
    query_one(session, (kind as usize, kind), parameters, take).await
}

/// The number that a procedure returns.
async fn result(session: &mut Session, call: Call, parameters: &[Value<'_>]) -> Result<i64> {
    let mut result = None;
    let mut take = RowVisitor(|row: &dyn Row| result = integer(row, 0));
    session.execute(call as usize, parameters, &mut take).await?;
    result.ok_or_else(|| missing_row(call.name(), parameters))
}

async fn run(session: &mut Session, kind: Kind, parameters: &[Value<'_>]) -> Result<Outcome> {
    session.run(kind as usize, parameters).await
}

fn integer(row: &dyn Row, column: usize) -> Option<i64> {
    row.get(column).as_integer()
}

fn text(row: &dyn Row, column: usize) -> Option<String> {
    row.get(column).to_text()
}

impl Terminal {
    /// A transaction up to its end; `None` when an item does not exist, so that it has to be rolled
    /// back.
    pub(super) async fn execute(
        &mut self,
        session: &mut Session,
        input: &Input,
    ) -> Result<Option<Effect>> {
        let done = match input {
            Input::NewOrder(order) => {
                if !self.new_order(session, order).await? {
                    return Ok(None);
                }
                Effect::NewOrder(order.warehouse, order.district)
            }
            Input::Payment(payment) => {
                self.payment(session, payment).await?;
                Effect::Payment
            }
            Input::OrderStatus(warehouse, status) => {
                self.order_status(session, *warehouse, status).await?;
                Effect::Nothing
            }
            Input::Delivery(warehouse, carrier) => {
                Effect::Delivery(self.delivery(session, *warehouse, *carrier).await?)
            }
            Input::StockLevel(warehouse, district, threshold) => {
                self.stock_level(session, *warehouse, *district, *threshold).await?;
                Effect::Nothing
            }
        };
        Ok(Some(done))
    }

    /// The same transaction as a stored procedure, which also ends it.
    pub(super) async fn call(
        &mut self,
        session: &mut Session,
        input: &Input,
        size: &Size,
    ) -> Result<Effect> {
        use Value::Integer;
        let done = match input {
            Input::NewOrder(order) => return self.call_new_order(session, order, size).await,
            Input::Payment(payment) => {
                let amount = Decimal::cents(payment.amount);
                let (number, name) = self.given(payment.customer);
                let Payment { warehouse, district, customer_warehouse, customer_district, .. } =
                    *payment;
                let [w, d, c_w, c_d] =
                    [warehouse, district, customer_warehouse, customer_district].map(Integer);
                let values = [w, d, c_w, c_d, number, name, amount.value()];
                session.run(Call::Payment as usize, &values).await?;
                Effect::Payment
            }
            Input::OrderStatus(warehouse, status) => {
                let (number, name) = self.given(status.customer);
                let values = [Integer(*warehouse), Integer(status.district), number, name];
                session.run(Call::OrderStatus as usize, &values).await?;
                Effect::Nothing
            }
            Input::Delivery(warehouse, carrier) => {
                let values = [*warehouse, *carrier].map(Integer);
                Effect::Delivery(result(session, Call::Delivery, &values).await?.unsigned_abs())
            }
            Input::StockLevel(warehouse, district, threshold) => {
                let values = [*warehouse, *district, *threshold].map(Integer);
                session.run(Call::StockLevel as usize, &values).await?;
                Effect::Nothing
            }
        };
        Ok(done)
    }

    /// Lines are fifteen digits each: item, supplying warehouse and quantity.
    async fn call_new_order(
        &mut self,
        session: &mut Session,
        order: &NewOrder,
        size: &Size,
    ) -> Result<Effect> {
        use Value::Integer;
        let NewOrder { warehouse, district, customer, .. } = *order;
        let lines = order.lines();
        let is_local = lines.iter().all(|line| line.supply == warehouse);
        let is_mistyped = lines.iter().any(|line| line.item > size.items);
        let (call, expected) = match is_mistyped {
            true => (Call::RolledBack, 0),
            false => (Call::NewOrder, 1),
        };
        self.text.clear();
        for Line { item, supply, quantity } in lines {
            let _ = write!(self.text, "{item:07}{supply:06}{quantity:02}");
        }
        let [w, d, c] = [warehouse, district, customer].map(Integer);
        let values = [w, d, c, Integer(is_local.into()), Value::Text(&self.text)];
        match result(session, call, &values).await.map_err(number_taken)? {
            found if found != expected => Err(missing_row(call.name(), &values)),
            0 => Ok(Effect::Nothing),
            _ => Ok(Effect::NewOrder(warehouse, district)),
        }
    }

    /// Number and name of a customer, one of which is NULL.
    fn given(&mut self, customer: Customer) -> (Value<'static>, Value<'_>) {
        match customer {
            Customer::Number(number) => (Value::Integer(number), Value::Null),
            Customer::Name(name) => {
                last_name(name, &mut self.text);
                (Value::Null, Value::Text(&self.text))
            }
        }
    }

    /// A new order up to its end: false when an item does not exist.
    async fn new_order(&self, session: &mut Session, order: &NewOrder) -> Result<bool> {
        use Value::Integer;
        let NewOrder { warehouse, district, customer, .. } = *order;
        let [w, d] = [warehouse, district].map(Integer);
        run(session, Kind::WarehouseTax, &[w]).await?;
        run(session, Kind::CustomerDiscount, &[w, d, Integer(customer)]).await?;
        let id = get(session, Kind::NextOrder, &[w, d], |row| integer(row, 0)).await?;
        let lines = order.lines();
        run(session, Kind::AdvanceOrder, &[Integer(id + 1), w, d]).await?;
        let is_local = lines.iter().all(|line| line.supply == warehouse);
        let (count, is_local) = (Integer(lines.len() as i64), Integer(is_local.into()));
        let row = [Integer(id), d, w, Integer(customer), count, is_local];
        run(session, Kind::InsertOrder, &row).await.map_err(number_taken)?;
        run(session, Kind::InsertNewOrder, &[Integer(id), d, w]).await?;
        for (number, line) in (1..).zip(lines) {
            if !self.order(session, (warehouse, district, id), number, line).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A line of an order: false when its item does not exist.
    async fn order(
        &self,
        session: &mut Session,
        (warehouse, district, id): (i64, i64, i64),
        line_number: i64,
        line: &Line,
    ) -> Result<bool> {
        use Value::Integer;
        let Line { item, supply, quantity } = *line;
        let mut price = None;
        let mut found = RowVisitor(|row: &dyn Row| price = cents(&row.get(0)));
        session.execute(Kind::Item as usize, &[Integer(item)], &mut found).await?;
        let Some(price) = price else { return Ok(false) };
        let key = [Integer(supply), Integer(item)];
        let stock = |row: &dyn Row| Some((integer(row, 0)?, text(row, 1)?));
        let (stocked, info) =
            query_one(session, (stock_for(district), Kind::Stock), &key, stock).await?;
        let refill = if stocked >= quantity + 10 { 0 } else { 91 };
        let (left, is_remote) = (stocked - quantity + refill, supply != warehouse);
        let [s, i] = key;
        let update = [Integer(left), Integer(quantity), Integer(is_remote.into()), s, i];
        run(session, Kind::UpdateStock, &update).await?;
        let amount = Decimal::cents(price * quantity);
        let key = [id, district, warehouse, line_number, item, supply, quantity].map(Integer);
        let [o, d, w, n, i, s, q] = key;
        let row = [o, d, w, n, i, s, q, amount.value(), Value::Text(&info)];
        run(session, Kind::InsertLine, &row).await?;
        Ok(true)
    }

    async fn payment(&mut self, session: &mut Session, payment: &Payment) -> Result<()> {
        use Value::Integer;
        let [w, d] = [payment.warehouse, payment.district].map(Integer);
        let amount = Decimal::cents(payment.amount);
        run(session, Kind::PayWarehouse, &[amount.value(), w]).await?;
        let warehouse = get(session, Kind::Warehouse, &[w], |row| text(row, 0)).await?;
        run(session, Kind::PayDistrict, &[amount.value(), w, d]).await?;
        let district = get(session, Kind::District, &[w, d], |row| text(row, 0)).await?;
        let district_key = [payment.customer_warehouse, payment.customer_district];
        let customer = self.customer(session, district_key, payment.customer).await?;
        self.pay(session, payment, customer).await?;
        let data = format!("{warehouse}    {district}");
        let [c_w, c_d] = district_key.map(Integer);
        let row = [Integer(customer), c_d, c_w, d, w, amount.value(), Value::Text(&data)];
        run(session, Kind::InsertHistory, &row).await?;
        Ok(())
    }

    /// The customer's own row.
    async fn pay(&mut self, session: &mut Session, payment: &Payment, customer: i64) -> Result<()> {
        let key = [payment.customer_warehouse, payment.customer_district, customer];
        let [w, d, c] = key.map(Value::Integer);
        let found = |row: &dyn Row| {
            let has_bad_credit = matches!(row.get(3), Value::Text("BC"));
            Some((cents(&row.get(0))?, cents(&row.get(1))?, integer(row, 2)?, has_bad_credit))
        };
        let (balance, paid, payments, has_bad_credit) =
            get(session, Kind::PayingCustomer, &[w, d, c], found).await?;
        let balance = Decimal::cents(balance - payment.amount);
        let paid = Decimal::cents(paid + payment.amount);
        let (balance, paid, payments) = (balance.value(), paid.value(), payments + 1);
        let payments = Value::Integer(payments);
        if !has_bad_credit {
            run(session, Kind::PayCustomer, &[balance, paid, payments, w, d, c]).await?;
            return Ok(());
        }
        let data = get(session, Kind::CustomerData, &[w, d, c], |row| text(row, 0)).await?;
        self.text.clear();
        let [warehouse, district, customer] = key;
        let amount = Decimal::cents(payment.amount);
        let _ = write!(
            self.text,
            "{customer} {district} {warehouse} {} {} {} {data}",
            payment.district,
            payment.warehouse,
            amount.as_str()
        );
        let end = self.text.floor_char_boundary(DATA_MAX);
        let data = Value::Text(&self.text[..end]);
        run(session, Kind::PayBadCustomer, &[balance, paid, payments, data, w, d, c]).await?;
        Ok(())
    }

    /// The number of a customer of a district; of several of the same name the one in the middle.
    async fn customer(
        &mut self,
        session: &mut Session,
        district_key: [i64; 2],
        customer: Customer,
    ) -> Result<i64> {
        let name = match customer {
            Customer::Number(number) => return Ok(number),
            Customer::Name(name) => name,
        };
        last_name(name, &mut self.text);
        let [w, d] = district_key.map(Value::Integer);
        let parameters = [w, d, Value::Text(&self.text)];
        let mut numbers = Vec::new();
        let mut all = RowVisitor(|row: &dyn Row| numbers.extend(integer(row, 0)));
        session.execute(Kind::CustomersByName as usize, &parameters, &mut all).await?;
        let middle = numbers.get(numbers.len().saturating_sub(1) / 2);
        middle.copied().ok_or_else(|| missing_row(Kind::CustomersByName.name(), &parameters))
    }

    async fn order_status(
        &mut self,
        session: &mut Session,
        warehouse: i64,
        status: &OrderStatus,
    ) -> Result<()> {
        let district_key = [warehouse, status.district];
        let customer = self.customer(session, district_key, status.customer).await?;
        let [w, d] = district_key.map(Value::Integer);
        let key = [w, d, Value::Integer(customer)];
        run(session, Kind::CustomerBalance, &key).await?;
        let order = get(session, Kind::LastOrder, &key, |row| integer(row, 0)).await?;
        run(session, Kind::OrderLines, &[w, d, Value::Integer(order)]).await?;
        Ok(())
    }

    /// Delivers the oldest order of each district. Returns how many there were.
    async fn delivery(&self, session: &mut Session, warehouse: i64, carrier: i64) -> Result<u64> {
        use Value::Integer;
        let w = Integer(warehouse);
        let mut delivered = 0;
        for d in (1..=DISTRICTS).map(Integer) {
            let mut oldest = None;
            let mut found = RowVisitor(|row: &dyn Row| oldest = integer(row, 0));
            session.execute(Kind::OldestOrder as usize, &[w, d], &mut found).await?;
            // A district without open orders is left out (clause 2.7.4.2).
            let Some(oldest) = oldest.map(Integer) else { continue };
            let key = [w, d, oldest];
            if run(session, Kind::DeleteNewOrder, &key).await?.affected == 0 {
                let message = "another delivery has taken the order";
                return Err(FailureKind::Conflict.failure(message));
            }
            let customer = get(session, Kind::OrderCustomer, &key, |row| integer(row, 0)).await?;
            run(session, Kind::DeliverOrder, &[Integer(carrier), w, d, oldest]).await?;
            run(session, Kind::DeliverLines, &key).await?;
            let amount = get(session, Kind::OrderAmount, &key, |row| cents(&row.get(0))).await?;
            let amount = Decimal::cents(amount);
            let row = [amount.value(), w, d, Integer(customer)];
            run(session, Kind::DeliverCustomer, &row).await?;
            delivered += 1;
        }
        Ok(delivered)
    }

    async fn stock_level(
        &self,
        session: &mut Session,
        warehouse: i64,
        district: i64,
        threshold: i64,
    ) -> Result<()> {
        let [w, d] = [warehouse, district].map(Value::Integer);
        let next = get(session, Kind::RecentOrders, &[w, d], |row| integer(row, 0)).await?;
        let [to, from, threshold] = [next, next - RECENT, threshold].map(Value::Integer);
        run(session, Kind::LowStock, &[w, d, to, from, w, threshold]).await?;
        Ok(())
    }
}
