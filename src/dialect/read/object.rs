use std::{fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, Visitor},
};

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

        impl<$life> serde::Deserialize<$life> for $name<$life> {
            fn deserialize<D: serde::Deserializer<$life>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::dialect::read::read_object(deserializer)
            }
        }
    };
}
pub(in crate::dialect) use object;

/// An object's members; see [`object!`].
pub(in crate::dialect) trait Members<'de>: Default {
    /// Reads the value of the member of this name.
    fn member<A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error>;
}

pub(in crate::dialect) fn read_object<'de, T: Members<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    struct ObjectVisitor<T>(PhantomData<T>);

    impl<'de, T: Members<'de>> Visitor<'de> for ObjectVisitor<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
            let mut object = T::default();
            while let Some(name) = map.next_key::<Text<'de>>()? {
                object.member(&name, &mut map)?;
            }
            Ok(object)
        }
    }

    deserializer.deserialize_map(ObjectVisitor(PhantomData))
}

pub(in crate::dialect) fn member<'de, T: Deserialize<'de>, A: MapAccess<'de>>(
    slot: &mut Option<T>,
    name: &str,
    map: &mut A,
) -> Result<(), A::Error> {
    once(slot, name)?;
    *slot = map.next_value()?;
    Ok(())
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
