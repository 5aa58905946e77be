//! Parameters of DSA keys: p, q and g in DER.
//!
//! They are constant, because finding primes takes seconds and varies. Keys are generated from them
//! each time. They are public and protect nothing.

/// Returns the parameters of keys of 512, 1024 or 2048 bits; `None` for other lengths.
pub(super) fn parameters(bits: u32) -> Option<Vec<u8>> {
    let text = match bits {
        512 => BITS_512,
        1024 => BITS_1024,
        2048 => BITS_2048,
        _ => return None,
    };
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => byte - b'0',
        _ => byte - b'a' + 10,
    };
    Some(text.as_bytes().chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect())
}

/// p of 512 bits, q of 160: `openssl genpkey -genparam`, OpenSSL 3.0.
const BITS_512: &str = "\
    30819c02410081d0587844d3a124c8bd5cdae83fe0b21332616610548387a974ffb0a9c1dfdb57de1b398922b484\
    45ccc5c11b2ae6e4ffb53327467f248147a6d8a6b3d5c295021500aa774fc0a0414d29c7a296c9c1bf6db4148789\
    35024025a3336beb6fe3df1979321198712050626ce3822a7a17ed3bc68ef5fe9822d43df68640b812031db4a63f\
    23f292f29aab21dae8a257fba98daf91ebca7bbb3d";

/// p of 1024 bits, q of 160: `openssl genpkey -genparam`, OpenSSL 3.0.
const BITS_1024: &str = "\
    3082011e02818100988c0da160aeec32430a7dd4401174afbfae66acbabdeedd753555f611346df0e83c89a0d453\
    ba5c10196004f8635e07f83318747f85044955b075e9807e36e48f8b7f6d71774c2e2c727970785c14838aa727aa\
    470464803471c24f36f9e6c2ae237d74be9f0f173ae4aab9b9350addccf8587da024e46cba9010f054ec05e50215\
    00a824bcbd7ed9fe208f85ddd6500788298ce212190281807acf562e142ebb47ce1cf20462292744fb538fd988f7\
    7681b862e7fa02f3435d3b6f36af6467f375045001a8dac5e7463f829eb5658f98fae776a8a67ce9f53d624cba2b\
    ca0905f65df6f87a59bb522f4c47d6ba365c1ec87d087fb414d1531e22e263b33e50bd9515f3828459c8a467038e\
    cd8ae2a5a0e26ef884d35172a4b0";

/// p of 2048 bits, q of 256: `openssl genpkey -genparam`, OpenSSL 3.0.
const BITS_2048: &str = "\
    3082022c0282010100831be21a4cf692301d9dc23d85fd0ed133b4184e92e4713992dfa0e8afdef89f1ac72c779a\
    a7c62f83b5632997eb1d26d00b28fdad185aa0ed961d0d432ab359d016f19f60c839cd8d5331240791b2e03c2395\
    60665826fa373170f70400a46e6515e03d82053b0e6e6857aaf74811d87cfb2555e68099e1a74909250d7b4dee2d\
    4ddaa58fed75f289071bac0e1252f696601e9341aab3e2aea092d9d62c482723487ef7ef27769c0b7284999550b9\
    85386390f2bc0e8a4730e119a42ae997f7c04920fa7b28153c28a974866099cd9d7fa2be67c2c761a584a85cc58d\
    5d4081c62e309da169bce3ba6df522794088da7b3edf9266884e5a9dd6067f6cc27e23022100ef8ed47deca7b9a6\
    8d56b05b8e638882656168bc88d80c614cb05115029562d3028201000e3337b8e6012ef1a1ed65ad809c23a42708\
    583c7fa4a4f09691669f58a18e66664d9b5e6240206ddd8d7a05abba69c3c0d41e1d822ac790f220e6b5c2450450\
    c318fe0be6080f2b4acbe18e8847e14e566805f5aa2fd2188da691370e60dbcc0811331303baf7c8c3a58874db4c\
    18637c2575a6d9acea494dbeb219f08b85c225ed51333612f7ce86559a0fb4e9d7391c2398bb857ae59ae11b8e9f\
    5c9f504f5582461f684ae0a6d64698aca37ec5713934308de32bc59f81b4b404f4565f296b6a38e3b2a804d505aa\
    1fedfe981ee465a95e5204b81d9c80ada26b01a614102492413c527a9a2d41032caf3d56c4c2261c35c9e18d80ec\
    575218cb8e5f5138";
