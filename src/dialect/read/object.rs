use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, Error, MapAccess, Visitor},
};
use serde_json::value::RawValue;

use super::Text;

pub(super) const TWICE: &str = "must be given only once";

/// Defines an object that borrows from the text it is read from. Every member is optional, `null` is as good as absent,
/// members of other names are skipped, and nothing but an object will do. A member may have several names. Of those
/// behind `nullable`, `null` is a value.
macro_rules! object {
    (
        $vis:vis struct $name:ident<$life:lifetime> {
            $($field:ident: $type:ty = $($key:literal)|+,)*
        }
        $(nullable { $($null_field:ident: $null_type:ty = $($null_key:literal)|+,)* })?
    ) => {
        #[derive(Default)]
        $vis struct $name<$life> {
            $($field: Option<$type>,)*
            $($($null_field: Option<$null_type>,)*)?
            borrowed: std::marker::PhantomData<&$life ()>,
        }

        impl<$life> $crate::dialect::read::Members<$life> for $name<$life> {
            fn member<A: serde::de::MapAccess<$life>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
                match name {
                    $($($key)|+ => $crate::dialect::read::member(&mut self.$field, name, map),)*
                    $($($($null_key)|+ => $crate::dialect::read::nullable_member(&mut self.$null_field, name, map),)*)?
                    _ => map.next_value::<serde::de::IgnoredAny>().map(|_| ()),
                }
            }
        }

        impl<$life> $crate::dialect::read::InPlace<$life> for $name<$life> {
            fn read_member<A: serde::de::MapAccess<$life>>(slot: &mut Option<Self>, map: &mut A) -> Result<(), A::Error> {
                map.next_value_seed($crate::dialect::read::Member(slot))
            }

            fn read_element<D: serde::Deserializer<$life>>(list: &mut Vec<Self>, element: D) -> Result<(), D::Error> {
                let at = list.len();
                list.push(Self::default());
                $crate::dialect::read::fill(&mut list[at], element)
            }
        }

        impl<$life> serde::Deserialize<$life> for $name<$life> {
            fn deserialize<D: serde::Deserializer<$life>>(deserializer: D) -> Result<Self, D::Error> {
                let mut object = Self::default();
                $crate::dialect::read::fill(&mut object, deserializer).map(|()| object)
            }
        }
    };
}
pub(in crate::dialect) use object;

/// An object's members; see [`object!`].
pub(in crate::dialect) trait Members<'de>: Default + Deserialize<'de> {
    /// Reads the value of the member of this name.
    fn member<A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error>;
}

/// What can be a member or an element. An object is read right where it stays: out of each reader it would be moved by
/// way of several results, and a message in its parameters lies three readers deep.
pub(in crate::dialect) trait InPlace<'de>: Deserialize<'de> {
    fn read_member<A: MapAccess<'de>>(slot: &mut Option<Self>, map: &mut A) -> Result<(), A::Error> {
        *slot = map.next_value()?;
        Ok(())
    }

    fn read_element<D: Deserializer<'de>>(list: &mut Vec<Self>, element: D) -> Result<(), D::Error> {
        list.push(Self::deserialize(element)?);
        Ok(())
    }
}

impl<'de, T: Deserialize<'de>> InPlace<'de> for Box<T> {}
impl<'de> InPlace<'de> for bool {}
impl<'de> InPlace<'de> for &'de RawValue {}

/// Reads an object's members into it.
pub(in crate::dialect) fn fill<'de, T: Members<'de>, D: Deserializer<'de>>(
    object: &mut T,
    deserializer: D,
) -> Result<(), D::Error> {
    deserializer.deserialize_map(Object(object))
}

struct Object<'a, T>(&'a mut T);

impl<'de, T: Members<'de>> Visitor<'de> for Object<'_, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<Text<'de>>()? {
            self.0.member(&name, &mut map)?;
        }
        Ok(())
    }
}

/// An object that may be absent.
pub(in crate::dialect) struct Member<'a, T>(pub(in crate::dialect) &'a mut Option<T>);

impl<'de, T: Members<'de>> DeserializeSeed<'de> for Member<'_, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_option(self)
    }
}

impl<'de, T: Members<'de>> Visitor<'de> for Member<'_, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_none<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        fill(self.0.insert(T::default()), deserializer)
    }
}

pub(in crate::dialect) fn member<'de, T: InPlace<'de>, A: MapAccess<'de>>(
    slot: &mut Option<T>,
    name: &str,
    map: &mut A,
) -> Result<(), A::Error> {
    once(slot, name)?;
    T::read_member(slot, map)
}

pub(in crate::dialect) fn nullable_member<'de, T: Deserialize<'de>, A: MapAccess<'de>>(
    slot: &mut Option<T>,
    name: &str,
    map: &mut A,
) -> Result<(), A::Error> {
    once(slot, name)?;
    *slot = Some(map.next_value()?);
    Ok(())
}

/// Of two members of one name it is anybody's guess which one counts, so neither does.
fn once<T, E: Error>(slot: &Option<T>, name: &str) -> Result<(), E> {
    if slot.is_some() { Err(E::custom(format_args!(".{name} {TWICE}"))) } else { Ok(()) }
}
