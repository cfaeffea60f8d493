//! Spellings of the stored forms: times in whole milliseconds, because the printed form keeps only seconds, and maps over
//! places as lists of pairs, because a JSON name is one text.

/// A time.
pub(super) mod millis {
    use crate::time::Timestamp;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(in crate::history) fn serialize<S: Serializer>(at: &Timestamp, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_i64(at.millis())
    }

    pub(in crate::history) fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<Timestamp, D::Error> {
        i64::deserialize(input).map(Timestamp::from_millis)
    }
}

/// A time, or null.
pub(super) mod millis_or_none {
    use crate::time::Timestamp;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(in crate::history) fn serialize<S: Serializer>(at: &Option<Timestamp>, out: S) -> Result<S::Ok, S::Error> {
        at.map(Timestamp::millis).serialize(out)
    }

    pub(in crate::history) fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Timestamp>, D::Error> {
        Ok(Option::<i64>::deserialize(input)?.map(Timestamp::from_millis))
    }
}

/// A map.
pub(super) mod pairs {
    use crate::history::Place;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::collections::BTreeMap;

    pub(in crate::history) fn serialize<V, S>(map: &BTreeMap<Place, V>, out: S) -> Result<S::Ok, S::Error>
    where
        V: Serialize,
        S: Serializer,
    {
        out.collect_seq(map)
    }

    pub(in crate::history) fn deserialize<'de, V, D>(input: D) -> Result<BTreeMap<Place, V>, D::Error>
    where
        V: Deserialize<'de>,
        D: Deserializer<'de>,
    {
        Ok(Vec::deserialize(input)?.into_iter().collect())
    }
}
