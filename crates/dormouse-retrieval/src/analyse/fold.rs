//! Folds letters: removes case, accents and width.

/// Appends `character` to `word` in lower case. Accents of Latin letters are removed, and a full-width form becomes the
/// ordinary character.
pub(super) fn fold(character: char, word: &mut String) {
    if character.is_ascii() {
        word.push(character.to_ascii_lowercase());
        return;
    }
    let character = match u32::from(character) {
        full @ 0xff01..=0xff5e => char::from_u32(full - 0xfee0).unwrap_or(character),
        _ => character,
    };
    for lower in character.to_lowercase() {
        // Lower-casing `İ` leaves a combining dot, which is dropped here.
        if lower == '\u{307}' {
            continue;
        }
        match base(lower) {
            "" => word.push(lower),
            base => word.push_str(base),
        }
    }
}

/// The plain letters that replace an accented lower-case Latin letter; empty for all other letters.
fn base(lower: char) -> &'static str {
    match lower {
        'à'..='å'
        | 'ā'
        | 'ă'
        | 'ą'
        | 'ǎ'
        | 'ả'
        | 'ạ'
        | 'ấ'
        | 'ầ'
        | 'ẩ'
        | 'ẫ'
        | 'ậ'
        | 'ắ'
        | 'ằ'
        | 'ẳ'
        | 'ẵ'
        | 'ặ'
        | 'ª' => "a",
        'æ' => "ae",
        'ç' | 'ć' | 'ĉ' | 'ċ' | 'č' => "c",
        'ď' | 'đ' | 'ð' => "d",
        'è'..='ë' | 'ē' | 'ĕ' | 'ė' | 'ę' | 'ě' | 'ẻ' | 'ẽ' | 'ẹ' | 'ế' | 'ề' | 'ể' | 'ễ' | 'ệ' => {
            "e"
        }
        'ĝ' | 'ğ' | 'ġ' | 'ģ' => "g",
        'ĥ' | 'ħ' => "h",
        'ì'..='ï' | 'ĩ' | 'ī' | 'ĭ' | 'į' | 'ı' | 'ỉ' | 'ị' => "i",
        'ĵ' => "j",
        'ķ' => "k",
        'ĺ' | 'ļ' | 'ľ' | 'ŀ' | 'ł' => "l",
        'ñ' | 'ń' | 'ņ' | 'ň' => "n",
        'ò'..='ö'
        | 'ø'
        | 'ō'
        | 'ŏ'
        | 'ő'
        | 'ỏ'
        | 'ọ'
        | 'ố'
        | 'ồ'
        | 'ổ'
        | 'ỗ'
        | 'ộ'
        | 'ơ'
        | 'ớ'
        | 'ờ'
        | 'ở'
        | 'ỡ'
        | 'ợ'
        | 'º' => "o",
        'œ' => "oe",
        'ŕ' | 'ŗ' | 'ř' => "r",
        'ś' | 'ŝ' | 'ş' | 'š' | 'ș' => "s",
        'ß' => "ss",
        'ţ' | 'ť' | 'ŧ' | 'ț' => "t",
        'þ' => "th",
        'ù'..='ü'
        | 'ũ'
        | 'ū'
        | 'ŭ'
        | 'ů'
        | 'ű'
        | 'ų'
        | 'ủ'
        | 'ụ'
        | 'ư'
        | 'ứ'
        | 'ừ'
        | 'ử'
        | 'ữ'
        | 'ự' => "u",
        'ŵ' => "w",
        'ý' | 'ÿ' | 'ŷ' | 'ỳ' | 'ỷ' | 'ỹ' | 'ỵ' => "y",
        'ź' | 'ż' | 'ž' => "z",
        _ => "",
    }
}
