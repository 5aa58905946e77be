//! Values of the libraries' enums by their names.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use strum::{EnumMessage, VariantArray};

/// Returns a parser of the names of an enum's values. Help lists them with their documentation.
pub(super) fn named<T>() -> impl TypedValueParser<Value = T>
where
    T: VariantArray + EnumMessage + Into<&'static str> + Copy + Send + Sync + 'static,
{
    let names = T::VARIANTS.iter().map(|value| {
        let name: &'static str = (*value).into();
        let what = value.get_documentation().unwrap_or_default();
        PossibleValue::new(name).help(what.trim_end_matches('.'))
    });
    PossibleValuesParser::new(names).map(|name| {
        let mut values = T::VARIANTS.iter().copied();
        let found = values.find(|&value| Into::<&'static str>::into(value) == name);
        found.expect("the parser accepts only these names")
    })
}
