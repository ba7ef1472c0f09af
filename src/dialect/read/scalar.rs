use std::{borrow::Cow, fmt, ops::Deref, sync::Arc};

use bytes::Bytes;
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, Error, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

use super::{At, InPlace};
use crate::{
    dialect::MAX_ELEMENTS,
    error::Error as CallError,
    types::{InlineBytes, Json, JsonObject},
};

/// A string, borrowed where it has no escapes.
#[derive(Clone, Debug, Default)]
pub(in crate::dialect) struct Text<'de>(Cow<'de, str>);

impl<'de> Text<'de> {
    pub(in crate::dialect) fn into_string(self) -> String {
        self.0.into_owned()
    }

    pub(in crate::dialect) fn to_arc(&self) -> Arc<str> {
        Arc::from(&*self.0)
    }

    /// Base64, as a slice of the parameters that this text was read from.
    pub(in crate::dialect) fn into_inline(self, params: &Bytes, at: &At<'_>) -> Result<InlineBytes, CallError> {
        let inline = InlineBytes::checked_base64(match self.0 {
            // What was borrowed was borrowed from the parameters.
            Cow::Borrowed(text) => params.slice_ref(text.as_bytes()),
            Cow::Owned(text) => Bytes::from(text),
        });
        inline.ok_or_else(|| at.invalid("must be base64"))
    }
}

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;

        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }

        deserializer.deserialize_str(TextVisitor)
    }
}

/// An `int32` of ProtoJSON: a number, or its digits in a string.
#[derive(Clone, Copy)]
pub(in crate::dialect) struct Int32(pub(in crate::dialect) i32);

/// A whole number of plain JSON.
#[derive(Clone, Copy)]
pub(in crate::dialect) struct Whole(pub(in crate::dialect) i32);

struct Int32Visitor {
    in_strings: bool,
}

impl Visitor<'_> for Int32Visitor {
    type Value = i32;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a 32-bit integer")
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<i32, E> {
        number.try_into().map_err(|_| E::custom(NO_INT32))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<i32, E> {
        number.try_into().map_err(|_| E::custom(NO_INT32))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<i32, E> {
        let whole = number as i32;
        if f64::from(whole) == number { Ok(whole) } else { Err(E::custom(NO_INT32)) }
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<i32, E> {
        let number = if self.in_strings { text.parse().ok() } else { None };
        number.ok_or_else(|| E::custom(NO_INT32))
    }
}

const NO_INT32: &str = "must be a 32-bit integer";

impl<'de> Deserialize<'de> for Int32 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Int32Visitor { in_strings: true }).map(Self)
    }
}

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Int32Visitor { in_strings: false }).map(Self)
    }
}

/// An enum of ProtoJSON: its name or its number.
pub(in crate::dialect) enum EnumValue<'de> {
    Name(Text<'de>),
    Number(i64),
}

impl<'de> Deserialize<'de> for EnumValue<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EnumVisitor;

        impl<'de> Visitor<'de> for EnumVisitor {
            type Value = EnumValue<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of an enum value")
            }

            fn visit_borrowed_str<E: Error>(self, name: &'de str) -> Result<EnumValue<'de>, E> {
                Ok(EnumValue::Name(Text(Cow::Borrowed(name))))
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<EnumValue<'de>, E> {
                Ok(EnumValue::Name(Text(Cow::Owned(name.to_owned()))))
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<EnumValue<'de>, E> {
                Ok(EnumValue::Number(number))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<EnumValue<'de>, E> {
                Ok(EnumValue::Number(i64::try_from(number).unwrap_or(i64::MAX)))
            }
        }

        deserializer.deserialize_any(EnumVisitor)
    }
}

/// An array.
pub(in crate::dialect) struct List<T>(pub(in crate::dialect) Vec<T>);

impl<'de, T: InPlace<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ListVisitor<T>(Vec<T>);

        impl<'de, T: InPlace<'de>> Visitor<'de> for ListVisitor<T> {
            type Value = List<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<List<T>, A::Error> {
                let mut items = self.0;
                while seq.next_element_seed(Element(&mut items))?.is_some() {
                    if items.len() > MAX_ELEMENTS {
                        return Err(A::Error::custom(format_args!("must have at most {MAX_ELEMENTS} elements")));
                    }
                }
                Ok(List(items))
            }
        }

        deserializer.deserialize_seq(ListVisitor(Vec::new()))
    }
}

/// The next element of a list.
struct Element<'a, T>(&'a mut Vec<T>);

impl<'de, T: InPlace<'de>> DeserializeSeed<'de> for Element<'_, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        // Nearly all lists have one element, and some of those are large.
        if self.0.capacity() == 0 {
            self.0.reserve_exact(1);
        }
        T::read_element(self.0, deserializer)
    }
}

impl<'de> InPlace<'de> for Text<'de> {}
impl<'de> InPlace<'de> for EnumValue<'de> {}
impl<'de> InPlace<'de> for Int32 {}
impl<'de> InPlace<'de> for Whole {}
impl<'de> InPlace<'de> for Struct {}
impl<'de, T: InPlace<'de>> InPlace<'de> for List<T> {}

impl List<Text<'_>> {
    pub(in crate::dialect) fn into_strings(self) -> Vec<String> {
        self.0.into_iter().map(Text::into_string).collect()
    }
}

/// An object whose members are nobody's business here.
pub(in crate::dialect) struct Struct(pub(in crate::dialect) JsonObject);

impl<'de> Deserialize<'de> for Struct {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?;
        if !raw.get().starts_with('{') {
            return Err(D::Error::custom("must be an object"));
        }
        Json::from_raw(raw).and_then(Json::into_object).map(Self).map_err(D::Error::custom)
    }
}
