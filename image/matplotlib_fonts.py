"""Fonts that matplotlib draws with where the chosen one has no glyph. Part of Cloche's image, not of matplotlib.

font_manager asks this for every text. matplotlib itself falls back only along the list in font.family, which
seaborn's themes, most styles and many scripts replace. The fonts are named by file: finding forty families by
their names would cost a third of a second for every new size.
"""
NOTO = "/usr/share/fonts/truetype/noto/"
CJK = "/usr/share/fonts/opentype/noto/NotoSansCJK-"
EMOJI = "/usr/local/share/fonts/cloche/NotoEmoji-Regular.ttf"
SANS = "/usr/share/fonts/truetype/dejavu/DejaVuSans"
SCRIPTS = """Sans SansArabic SansHebrew SansDevanagari SansBengali SansGurmukhi SansGujarati SansOriya SansTamil SansTelugu
SansKannada SansMalayalam SansSinhala SansThai SansLao SansKhmer SansMyanmar SerifTibetan SansGeorgian SansArmenian
SansEthiopic SansCherokee SansCanadianAboriginal SansThaana SansJavanese SansBalinese SansSymbols""".split()
REGULAR_ONLY = "SansMongolian SansSyriac SansNKo SansTifinagh SansYi SansRunic SansGothic SansSymbols2 SansMath".split()


def fallback(is_bold):
    """Paths in the order in which they are asked."""
    weight = "Bold" if is_bold else "Regular"
    files = [SANS + ("-Bold.ttf" if is_bold else ".ttf")]
    files += [f"{NOTO}Noto{name}-{weight}.ttf" for name in SCRIPTS]
    files += [f"{CJK}{weight}.ttc", EMOJI]
    return files + [f"{NOTO}Noto{name}-Regular.ttf" for name in REGULAR_ONLY]
