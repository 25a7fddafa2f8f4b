//! Parameters of statements: creates, sets and binds them.

use super::parameter::{Parameter, ParameterType, type_name};
use super::{Done, Sql, open};
use crate::random::Draws;
use dyno_drivers::placeholder;
use dyno_model::engine::Backslash;

const NO_PARAMETER: &str = "no such parameter";

impl Sql {
    /// Creates a parameter of a statement; returns its handle.
    pub(crate) fn parameter(&mut self, statement: f64, kind: f64, length_max: Option<f64>) -> Done {
        let name = type_name(kind);
        let kind =
            ParameterType::of(kind).ok_or_else(|| format!("Unsupported argument type: {kind}"))?;
        let prepared = open(self.statements.get_mut(statement))?;
        let length_max = length_max.map(|length| length.max(0.0) as usize);
        let number = self.parameters.insert(Parameter::new(kind, name, length_max));
        prepared.own.push(number);
        Ok(number)
    }

    /// Sets the parameters of a statement's placeholders, in order.
    pub(crate) fn bind(&mut self, statement: f64, parameters: &[f64]) -> Done {
        if let Some(at) =
            parameters.iter().position(|number| self.parameters.get(*number).is_none())
        {
            return Err(format!("bind_param: argument {} is not a parameter", at + 1).into());
        }
        let prepared = open(self.statements.get_mut(statement))?;
        prepared.bound.clear();
        prepared.bound.extend_from_slice(parameters);
        if prepared.awaits_types {
            prepared.awaits_types = false;
            let types = parameters.iter().filter_map(|number| self.parameters.get(*number));
            let types: Vec<&str> = types.map(|parameter| parameter.type_name).collect();
            prepared.sql = placeholder::parse(&prepared.sql, Backslash::EscapesWhereMarked)
                .typed(&types)
                .into();
        }
        Ok(0.0)
    }

    #[inline]
    fn parameter_mut(&mut self, handle: f64) -> Done<&mut Parameter> {
        Ok(self.parameters.get_mut(handle).ok_or(NO_PARAMETER)?)
    }

    /// Sets a parameter to a number: returns 0, or 1 when it is a text and Lua must format the
    /// number, or an error.
    #[inline]
    pub(crate) fn set_number(&mut self, handle: f64, value: f64) -> Done {
        Ok((!self.parameter_mut(handle)?.set_number(value)).into())
    }

    /// Sets a parameter to a 64-bit number; see [`Self::set_number`].
    pub(crate) fn set_integer(&mut self, handle: f64, value: i64) -> Done {
        Ok((!self.parameter_mut(handle)?.set_integer(value)).into())
    }

    /// Sets a parameter to NULL.
    pub(crate) fn set_null(&mut self, handle: f64) -> Done {
        self.parameter_mut(handle)?.set_null();
        Ok(0.0)
    }

    /// Sets a parameter to a text.
    pub(crate) fn set_text(&mut self, handle: f64, value: &[u8]) -> Done {
        let parameter = self.parameter_mut(handle)?;
        if parameter.kind == ParameterType::Text {
            parameter.fill(|text| text.extend_from_slice(value));
            return Ok(0.0);
        }
        // More lenient than sysbench, which rejects all texts here.
        let text = String::from_utf8_lossy(value);
        let value = text.trim().parse::<f64>();
        let value = value.map_err(|_| format!("a number is required, got the text '{text}'"))?;
        Ok((!parameter.set_number(value)).into())
    }

    /// Assigns a number to a pattern of random strings.
    pub(crate) fn pattern(&mut self, pattern: &[u8]) -> f64 {
        self.patterns.push(pattern.into());
        (self.patterns.len() - 1) as f64
    }

    /// A random string for a known pattern.
    #[inline]
    pub(crate) fn random_text(&mut self, pattern: f64, draws: &mut Draws) -> &[u8] {
        let Self { patterns, text, .. } = self;
        text.clear();
        if let Some(pattern) = patterns.get(pattern as usize) {
            draws.fill(pattern, text);
        }
        text
    }

    /// Sets a parameter to a random string.
    #[inline]
    pub(crate) fn set_random(&mut self, handle: f64, pattern: f64, draws: &mut Draws) -> Done {
        let Self { parameters, patterns, .. } = self;
        match (parameters.get_mut(handle), patterns.get(pattern as usize)) {
            (Some(parameter), Some(pattern)) if parameter.kind == ParameterType::Text => {
                parameter.fill(|text| draws.fill(pattern, text));
                Ok(0.0)
            }
            (Some(_), Some(_)) => {
                Err("set_rand_str needs a parameter of type CHAR or VARCHAR".into())
            }
            _ => Err(NO_PARAMETER.into()),
        }
    }
}
