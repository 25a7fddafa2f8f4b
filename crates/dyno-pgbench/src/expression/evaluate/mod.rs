//! Evaluates expressions.

use super::variables::{Names, Variables};
use super::{Expression, Function, Value};
use crate::random::{Generator, distribution, scramble};

/// Data that an expression may read and change.
pub(crate) struct Environment<'a> {
    /// The client's variables.
    pub(crate) variables: &'a Variables,
    /// Their names, for messages.
    pub(crate) names: &'a Names,
    /// The client's random numbers.
    pub(crate) random: &'a mut Generator,
    /// Receives the output of `debug()`.
    pub(crate) debug: &'a mut dyn FnMut(Value),
}

/// Errors have pgbench's words.
type Evaluated = Result<Value, String>;

/// Minimum parameter of `random_gaussian`.
const GAUSSIAN_MIN: f64 = 2.0;
/// Limits of the parameter of `random_zipfian`.
const ZIPFIAN_MIN: f64 = 1.001;
const ZIPFIAN_MAX: f64 = 1000.0;

impl Expression {
    /// Evaluates the expression.
    ///
    /// # Errors
    /// When a variable is not set, types do not match or numbers overflow, in pgbench's words.
    pub(crate) fn evaluate(&self, environment: &mut Environment<'_>) -> Evaluated {
        match self {
            Self::Constant(value) => Ok(*value),
            Self::Variable(slot) => environment.variables.value(*slot, environment.names),
            Self::Chain(first, steps) => {
                let mut value = first.evaluate(environment)?;
                for (function, right) in steps {
                    value = match function {
                        Function::And | Function::Or => {
                            let decisive = *function == Function::Or;
                            junction(value, right, decisive, environment)?
                        }
                        _ => {
                            let right = right.evaluate(environment)?;
                            apply(*function, &[value, right], environment)?
                        }
                    };
                }
                Ok(value)
            }
            Self::Call(Function::Case, parts) => {
                let (otherwise, pairs) = parts.split_last().expect("CASE always has an ELSE");
                for pair in pairs.chunks_exact(2) {
                    if pair[0].evaluate(environment)?.is_true() {
                        return pair[1].evaluate(environment);
                    }
                }
                otherwise.evaluate(environment)
            }
            Self::Call(function @ (Function::Least | Function::Greatest), arguments) => {
                let values: Vec<Value> = arguments
                    .iter()
                    .map(|argument| argument.evaluate(environment))
                    .collect::<Result<_, _>>()?;
                if values.contains(&Value::Null) {
                    Ok(Value::Null)
                } else {
                    extreme(*function, &values)
                }
            }
            Self::Call(function, arguments) => {
                let mut values = [Value::Null; 3];
                for (value, argument) in values.iter_mut().zip(arguments) {
                    *value = argument.evaluate(environment)?;
                }
                apply(*function, &values[..arguments.len()], environment)
            }
        }
    }
}

/// AND and OR: `decisive` is the value of the left side that determines the result. As in pgbench,
/// and unlike in SQL, NULL on the left also does.
fn junction(
    left: Value,
    right: &Expression,
    decisive: bool,
    environment: &mut Environment<'_>,
) -> Evaluated {
    if left == Value::Null || left.boolean()? == decisive {
        return Ok(left);
    }
    let right = right.evaluate(environment)?;
    if right != Value::Null {
        right.boolean()?;
    }
    Ok(right)
}

fn extreme(function: Function, values: &[Value]) -> Evaluated {
    let is_least = function == Function::Least;
    if values.iter().any(|value| matches!(value, Value::Double(_))) {
        let mut best = values[0].double()?;
        for value in &values[1..] {
            let value = value.double()?;
            if if is_least { value < best } else { value > best } {
                best = value;
            }
        }
        return Ok(Value::Double(best));
    }
    let mut best = values[0].integer()?;
    for value in &values[1..] {
        let value = value.integer()?;
        best = if is_least { best.min(value) } else { best.max(value) };
    }
    Ok(Value::Integer(best))
}

fn apply(function: Function, values: &[Value], environment: &mut Environment<'_>) -> Evaluated {
    match function {
        Function::Is => Ok(Value::Boolean(values[0] == values[1])),
        Function::Debug => {
            (environment.debug)(values[0]);
            Ok(values[0])
        }
        _ if values.contains(&Value::Null) => Ok(Value::Null),
        Function::Not => Ok(Value::Boolean(!values[0].boolean()?)),
        Function::Absolute => match values[0] {
            Value::Integer(value) => Ok(Value::Integer(value.wrapping_abs())),
            other => Ok(Value::Double(other.double()?.abs())),
        },
        Function::Integer => values[0].integer().map(Value::Integer),
        Function::Double => values[0].double().map(Value::Double),
        Function::SquareRoot => values[0].double().map(|value| Value::Double(value.sqrt())),
        Function::Logarithm => values[0].double().map(|value| Value::Double(value.ln())),
        Function::Exponential => values[0].double().map(|value| Value::Double(value.exp())),
        Function::Pi => Ok(Value::Double(std::f64::consts::PI)),
        Function::Power => Ok(Value::Double(values[0].double()?.powf(values[1].double()?))),
        Function::Murmur2 => {
            Ok(Value::Integer(scramble::murmur2(values[0].integer()?, values[1].integer()?)))
        }
        Function::Fnv1a => {
            Ok(Value::Integer(scramble::fnv1a(values[0].integer()?, values[1].integer()?)))
        }
        Function::Permute => {
            let (value, size, seed) =
                (values[0].integer()?, values[1].integer()?, values[2].integer()?);
            if size <= 0 {
                return Err("permute size parameter must be greater than zero".to_owned());
            }
            Ok(Value::Integer(scramble::permute(value, size, seed)))
        }
        Function::Random
        | Function::RandomGaussian
        | Function::RandomExponential
        | Function::RandomZipfian => random(function, values, environment.random),
        // Functions evaluated above do not get here.
        operator => operate(operator, values[0], values[1]),
    }
}

/// An operator on two numbers: on doubles when one of them is a double and the operator supports
/// doubles.
fn operate(function: Function, left: Value, right: Value) -> Evaluated {
    use Function::{BitAnd, BitOr, BitXor, Modulo, ShiftLeft, ShiftRight};
    let is_of_integers =
        matches!(function, Modulo | BitAnd | BitOr | BitXor | ShiftLeft | ShiftRight);
    let has_double = [left, right].iter().any(|side| matches!(side, Value::Double(_)));
    if has_double && !is_of_integers {
        Ok(doubles(function, left.double()?, right.double()?))
    } else {
        integers(function, left.integer()?, right.integer()?)
    }
}

fn doubles(function: Function, left: f64, right: f64) -> Value {
    #[expect(clippy::float_cmp, reason = "scripts compare what they compare")]
    match function {
        Function::Add => Value::Double(left + right),
        Function::Subtract => Value::Double(left - right),
        Function::Multiply => Value::Double(left * right),
        Function::Divide => Value::Double(left / right),
        Function::Equal => Value::Boolean(left == right),
        Function::NotEqual => Value::Boolean(left != right),
        Function::Less => Value::Boolean(left < right),
        _ => Value::Boolean(left <= right),
    }
}

fn integers(function: Function, left: i64, right: i64) -> Evaluated {
    let checked = |value: Option<i64>, what: &str| {
        value.map(Value::Integer).ok_or_else(|| format!("bigint {what} out of range"))
    };
    match function {
        Function::Add => checked(left.checked_add(right), "add"),
        Function::Subtract => checked(left.checked_sub(right), "sub"),
        Function::Multiply => checked(left.checked_mul(right), "mul"),
        Function::Divide | Function::Modulo if right == 0 => Err("division by zero".to_owned()),
        Function::Divide => checked(left.checked_div(right), "div"),
        Function::Modulo => Ok(Value::Integer(left.wrapping_rem(right))),
        Function::Equal => Ok(Value::Boolean(left == right)),
        Function::NotEqual => Ok(Value::Boolean(left != right)),
        Function::Less => Ok(Value::Boolean(left < right)),
        Function::LessOrEqual => Ok(Value::Boolean(left <= right)),
        Function::BitAnd => Ok(Value::Integer(left & right)),
        Function::BitOr => Ok(Value::Integer(left | right)),
        Function::BitXor => Ok(Value::Integer(left ^ right)),
        // Beyond 63 bits C does not define the result; processors use the count modulo 64.
        Function::ShiftLeft => Ok(Value::Integer(left.wrapping_shl(right as u32))),
        _ => Ok(Value::Integer(left.wrapping_shr(right as u32))),
    }
}

fn random(function: Function, values: &[Value], generator: &mut Generator) -> Evaluated {
    use super::value::fixed;
    let (low, high) = (values[0].integer()?, values[1].integer()?);
    if low > high {
        return Err("empty range given to random".to_owned());
    }
    if high.checked_sub(low).and_then(|width| width.checked_add(1)).is_none() {
        return Err("random range is too large".to_owned());
    }
    if function == Function::Random {
        return Ok(Value::Integer(distribution::uniform(generator, low, high)));
    }
    let parameter = values[2].double()?;
    let drawn = match function {
        Function::RandomGaussian => {
            if parameter < GAUSSIAN_MIN {
                let (least, given) = (fixed(GAUSSIAN_MIN), fixed(parameter));
                return Err(format!("gaussian parameter must be at least {least} (not {given})"));
            }
            distribution::gaussian(generator, low, high, parameter)
        }
        Function::RandomExponential => {
            if parameter <= 0.0 {
                return Err(format!(
                    "exponential parameter must be greater than zero (not {})",
                    fixed(parameter)
                ));
            }
            distribution::exponential(generator, low, high, parameter)
        }
        _ => {
            if !(ZIPFIAN_MIN..=ZIPFIAN_MAX).contains(&parameter) {
                let range = format!("[{ZIPFIAN_MIN:.3}, {ZIPFIAN_MAX:.0}]");
                return Err(format!(
                    "zipfian parameter must be in range {range} (not {})",
                    fixed(parameter)
                ));
            }
            distribution::zipfian(generator, low, high, parameter)
        }
    };
    Ok(Value::Integer(drawn))
}

#[cfg(test)]
mod tests;
