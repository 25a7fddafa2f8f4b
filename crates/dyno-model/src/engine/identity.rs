//! Identification of a server's product from the version that it reports, once per connection. An
//! address determines only the protocol.

use super::{Engine, Product};
use std::fmt;
use std::str::FromStr;

/// Identity that a server reports on connecting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Product.
    pub product: Product,
    /// Its version as shown in reports, e.g. `10.11.11-MariaDB`, `15.12`, `3.50.4`; empty when the
    /// server reported none.
    pub version: String,
}

impl Identity {
    /// From a version as a server reports it on connecting.
    #[must_use]
    pub fn reported(engine: Engine, version: &str) -> Self {
        Self::new(Product::recognised(engine, version, &[]), version)
    }

    /// With what the server answers when it is asked: its own version with comments, and the names
    /// of its settings.
    #[must_use]
    pub fn with_answers(self, versions: &str, settings: &[&str]) -> Self {
        let engine = self.product.engine();
        // The version in the greeting is always known. Behind a proxy only the answers to queries
        // name the product.
        let all = format!("{} {versions}", self.version);
        match Product::recognised(engine, &all, settings) {
            other @ Product::Other(..) => Self { product: other, ..self },
            _ => self,
        }
    }

    /// Product and version as shown in reports: the name of a compatible product precedes its
    /// version; others are known from the kind of the system.
    #[must_use]
    pub fn shown(&self) -> String {
        match self.product.compatible() {
            Some(it) if !self.version.starts_with(it.title) => {
                format!("{} {}", it.title, self.version).trim_end().to_owned()
            }
            _ => self.version.clone(),
        }
    }

    /// The version of a known product without additions by its servers or packagers.
    #[must_use]
    pub fn new(product: Product, reported: &str) -> Self {
        let version = match product {
            // Sent before version 11, so that replicas do not consider 10 to be older than 5.
            Product::Mariadb => reported.strip_prefix("5.5.5-").unwrap_or(reported),
            // `15.12 (Debian 15.12-0+deb12u2)`, `CockroachDB CCL v25.2.0 (x86_64-pc-linux-gnu)`
            _ if product.engine() == Engine::Postgres => {
                reported.split(" (").next().unwrap_or_default()
            }
            _ => reported,
        };
        Self { product, version: version.to_owned() }
    }
}

/// The components of a version, compared numerically: 9.7 comes before 10.1.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(Vec<u32>);

impl Version {
    /// The first version in a text: `10.11.19` in
    /// `10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu`.
    #[must_use]
    pub fn found_in(text: &str) -> Option<Self> {
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '.');
        words.filter(|word| word.contains('.')).find_map(|word| {
            let end = word.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(word.len());
            word[..end].trim_end_matches('.').parse().ok()
        })
    }
}

impl FromStr for Version {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.split('.').map(str::parse).collect::<Result<_, _>>().map(Self)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.0.iter().map(u32::to_string).collect();
        f.write_str(&numbers.join("."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_is_recognised_from_the_version_that_it_reports() {
        let rows = [
            (Engine::Mysql, "9.7.0", Product::Mysql, "9.7.0"),
            (Engine::Mysql, "8.0.36-28", Product::Mysql, "8.0.36-28"),
            (Engine::Mysql, "5.5.5-10.11.11-MariaDB", Product::Mariadb, "10.11.11-MariaDB"),
            (Engine::Mysql, "11.8.2-MariaDB-log", Product::Mariadb, "11.8.2-MariaDB-log"),
            (Engine::Mysql, "5.5.5-m3", Product::Mysql, "5.5.5-m3"),
            (
                Engine::Mysql,
                "8.0.11-TiDB-v7.5.0",
                Product::Other(Engine::Mysql, "tidb"),
                "8.0.11-TiDB-v7.5.0",
            ),
            (Engine::Postgres, "15.18 (Debian 15.18-0+deb12u1)", Product::Postgres, "15.18"),
            (
                Engine::Postgres,
                "CockroachDB CCL v25.2.0 (x86_64-pc-linux-gnu, built 2025/05/09)",
                Product::Other(Engine::Postgres, "cockroachdb"),
                "CockroachDB CCL v25.2.0",
            ),
            (Engine::Postgres, "", Product::Postgres, ""),
            (Engine::Sqlite, "3.50.4", Product::Sqlite, "3.50.4"),
        ];
        for (engine, reported, product, version) in rows {
            let found = Identity::reported(engine, reported);
            assert_eq!((found.product, found.version.as_str()), (product, version), "{reported}");
            assert_eq!(product.engine(), engine);
        }
    }

    #[test]
    fn every_engine_has_a_product_of_its_own() {
        for engine in Engine::ALL {
            assert_eq!(Product::recognised(engine, "", &[]).engine(), engine);
        }
    }

    #[test]
    fn reports_name_a_compatible_product_once() {
        let shown = |engine, reported: &str, answer: &str, settings: &[&str]| {
            Identity::reported(engine, reported).with_answers(answer, settings).shown()
        };
        let rows = [
            (shown(Engine::Postgres, "15.18 (Debian)", "PostgreSQL 15.18 on x86_64", &[]), "15.18"),
            (
                shown(Engine::Postgres, "16.4", "PostgreSQL 16.4", &["rds.a"]),
                "Amazon RDS for PostgreSQL 16.4",
            ),
            (
                shown(Engine::Postgres, "CockroachDB CCL v25.2.0 (x)", "", &[]),
                "CockroachDB CCL v25.2.0",
            ),
            (shown(Engine::Mysql, "8.0.30-Vitess", "", &[]), "Vitess 8.0.30-Vitess"),
            (
                shown(Engine::Mysql, "8.0.36-28", "Percona Server (GPL)", &[]),
                "Percona Server 8.0.36-28",
            ),
            (shown(Engine::Mysql, "11.8.2-MariaDB", "Debian", &[]), "11.8.2-MariaDB"),
        ];
        for (shown, expected) in rows {
            assert_eq!(shown, expected);
        }
    }

    #[test]
    fn versions_are_found_in_sentences_and_compared_by_number() {
        let rows = [
            (
                "10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)",
                Some("10.11.19"),
            ),
            ("9.7.4-2 for Linux on x86_64 ((Debian))", Some("9.7.4")),
            ("postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)", Some("15.18")),
            ("8.4.0rc1", Some("8.4.0")),
            ("postgres (PostgreSQL) 17beta1", None),
            ("nothing.here", None),
        ];
        for (text, version) in rows {
            assert_eq!(
                Version::found_in(text).map(|it| it.to_string()).as_deref(),
                version,
                "{text}"
            );
        }
        let version = |text: &str| text.parse::<Version>().unwrap();
        assert!(version("9.7") < version("10.1") && version("9") < version("9.7"));
        assert!("notes".parse::<Version>().is_err());
    }
}
