//! The operations, with the options of their shares.

dyno_model::named! {
    /// The operations, which are the transactions; all but the last are also kinds of statements.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[repr(u16)]
    pub(super) enum Operation {
        Read = "read",
        Update = "update",
        Scan = "scan",
        Insert = "insert",
        ReadModifyWrite = "read-modify-write",
    }
}

impl Operation {
    /// Its share's option.
    pub(super) const fn option(self) -> &'static str {
        match self {
            Self::Read => "readproportion",
            Self::Update => "updateproportion",
            Self::Scan => "scanproportion",
            Self::Insert => "insertproportion",
            Self::ReadModifyWrite => "readmodifywriteproportion",
        }
    }

    pub(super) const fn share_help(self) -> &'static str {
        match self {
            Self::Read => "share of reads of a record",
            Self::Update => "share of updates of a record",
            Self::Scan => "share of scans: records from a key on, in the order of keys",
            Self::Insert => "share of inserts of new records",
            Self::ReadModifyWrite => "share of reads followed by an update of the same record",
        }
    }
}
