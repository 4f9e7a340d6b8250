"""Find the encoding of a text file: UTF-8, UTF-16, or another one where only one reading is possible.

No byte of a file tells which of the many encodings with one byte for each character it is in, so its words
decide. A reading is plausible if its letters belong to the alphabet of one language, no capital follows a
small letter, and no symbol stands within a word. If all plausible readings are the same, it is certain. This
holds for files of one language: words of two languages together may have the letters of a third one. A note
therefore shows a word as it was read. The encodings of East Asia, with two bytes for each letter, are tried
where none of these is plausible.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from linkwise.errors import DataError
from linkwise.text_files import ENCODINGS, decode, normalize_encoding
from linkwise.wording import count_noun, join_names

WINDOWS = ENCODINGS["cp1252"]  # all letters and symbols of Latin-1 are the same in it
_CATCH_ALL = {"macintosh", "cp850"}  # in which the words of many other encodings are plausible
_ALPHABETS = tuple(
    map(
        frozenset,
        (
            "äöüß",  # German
            "àâæçéèêëîïôœùûüÿ",  # French
            "áéíñóúü",  # Spanish
            "àçèéíïòóúü",  # Catalan
            "àáâãçéêíóôõúü",  # Portuguese
            "àèéìíîòóùú",  # Italian
            "áèéëíïóöúü",  # Dutch
            "âåæéèêóòôø",  # Danish, Norwegian
            "åäöéü",  # Swedish, Finnish
            "áæéðíóöúýþ",  # Icelandic
            "ąćęłńóśźż",  # Polish
            "áčďéěíňóřšťúůýž",  # Czech
            "áäčďéíĺľňóôŕšťúýž",  # Slovak
            "áéíóöúüőű",  # Hungarian
            "âîăşţ",  # Romanian
            "ćčđšž",  # Croatian, Slovene
            "âçîöûüğışi\u0307",  # Turkish
            "äõöüšž",  # Estonian
            "āčēģīķļņšūž",  # Latvian
            "ąčėęįšūųž",  # Lithuanian
            "абвгдежзийклмнопрстуфхцчшщъыьэюяё",  # Russian, Bulgarian
            "абвгдежзийклмнопрстуфхцчшщьюяєіїґ",  # Ukrainian
            "абвгдежзиклмнопрстуфхцчшђјљњћџ",  # Serbian
            "αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώϊϋΐΰ",  # Greek
        ),
    )
)
_SYMBOLS = frozenset("\u00a0€£¥¢§°«»¡¿©®™…•·†‰±×÷µ¹²³¼½¾ªº‘’“”‚„‹›–—")
_BEFORE_WORDS = frozenset("\u00a0€£¥µ§©«»¡¿…‘’“”‚„‹›–—")
_WITHIN_WORDS = frozenset("’–—")
_RAISED = frozenset("¹²³")
_UNIT = re.compile("[a-z]{1,2}")  # such as m and km, which are squared and cubed
_REST = re.compile(rb"[\x80-\xff][A-Za-z\x80-\xff]{0,30}")  # of a word, from its first letter beyond ASCII
_BEGINNING = re.compile(rb"[A-Za-z]{0,30}\Z")
_MARKS = frozenset("€£¥\u00a0")  # beside numbers
_ALONE = re.compile(rb"(?<![A-Za-z\x80-\xff])[\x80-\xff](?![A-Za-z\x80-\xff])")
_REPLACED = "\ufffd"
_WHOLE_PER_DAMAGED = 3  # a word or two of another encoding may look like UTF-8
_LOOK = 2000  # bytes that show UTF-16 without a mark


_EVERYDAY = 0.95  # share of the letters of a text
_LEAST_LETTERS = 4
_MANY_HANGUL = 12  # so many letters are not all from the half of the Chinese ones that has these bytes
_EAST_ASIAN_WORD = re.compile(r"[^\W\d_a-zA-Z]+")
_EAST_ASIAN: dict[str, tuple[Callable[[bytes], bool], set[str]]] = {  # everyday letters by bytes, and scripts
    "gb18030": (lambda mark: len(mark) == 2 and 0xB0 <= mark[0] <= 0xD7 and mark[1] > 0xA0, {"han"}),
    "big5": (lambda mark: 0xA4 <= mark[0] <= 0xC6, {"han"}),
    "shift_jis": (lambda mark: mark[0] in (0x82, 0x83) or 0x88 <= mark[0] <= 0x97, {"kana", "han"}),
    "euc-jp": (lambda mark: mark[0] in (0xA4, 0xA5) or 0xB0 <= mark[0] <= 0xCF, {"kana", "han"}),
    "euc-kr": (lambda mark: 0xB0 <= mark[0] <= 0xC8, {"hangul"}),
}


class Utf8(NamedTuple):
    """The text of a file in UTF-8, and the encoding that the file is in.

    None for UTF-8 that was not named.
    """

    raw: bytes
    encoding: str | None
    notes: list[str]


def to_utf8(raw: bytes, encoding: str | None = None) -> Utf8:
    """Turn the contents of a text file into UTF-8.

    The encoding is by default UTF-8, also if a few characters are damaged, else UTF-16 or another one where
    that is certain.
    """
    if encoding is not None:
        name = normalize_encoding(encoding)
        return Utf8(_decode_as(raw, name).encode(), name, [])
    wide = _find_wide(raw)
    if wide is not None:
        note = f"The file is read as {wide.upper()}. Add --encoding NAME if it has another encoding."
        return Utf8(_decode_as(raw, wide).encode(), wide, [note])
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as error:
        if (mended := _replace_damage(raw)) is not None:
            return mended
        if raw.startswith(codecs.BOM_UTF8):
            decode(raw)  # its mark says UTF-8, so this raises the error that names the wrong byte
        return _read_bytes_as_letters(raw, error)
    return Utf8(raw, None, [])


def _replace_damage(raw: bytes) -> Utf8 | None:
    """Read UTF-8 in which a few characters are damaged, such as the last one that fitted into a field.

    Letters of another encoding hardly ever form a character of UTF-8. So a file with more whole characters
    beyond ASCII than damaged places is in UTF-8.
    """
    text = raw.decode("utf-8", errors="replace")
    damaged = text.count(_REPLACED) - raw.count(_REPLACED.encode())
    whole = sum(not mark.isascii() for mark in text) - text.count(_REPLACED)
    if whole < _WHOLE_PER_DAMAGED * damaged:
        return None
    lines = [n for n, line in enumerate(raw.split(b"\n"), 1) if not _is_utf8(line)]
    note = (
        f"{count_noun(damaged, 'damaged character')} in line{'s' * (len(lines) > 1)}"
        f" {join_names(map(str, lines), 5)} read as {_REPLACED!r}: the file is UTF-8 everywhere else."
    )
    return Utf8(text.encode(), None, [note])


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _decode_as(raw: bytes, name: str) -> str:
    """Decode a file in an encoding that is named or certain."""
    try:
        text = raw.decode(name).removeprefix("\ufeff")
        text.encode()
    except UnicodeError as error:
        at = f" at byte {error.start} (counted from 0)" if isinstance(error, UnicodeDecodeError) else ""
        raise DataError(f"The file is not {name}{at}. Set the right encoding: --encoding NAME") from None
    return text


def _find_wide(raw: bytes) -> str | None:
    """UTF-16 or UTF-32 by its mark, or UTF-16 by the zeros beside nearly all letters; else None."""
    if raw.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "utf-32"
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    start = raw[:_LOOK]
    first, second = start[::2], start[1::2]
    for name, letters, zeros in (("utf-16-le", first, second), ("utf-16-be", second, first)):
        if len(raw) % 2 == 0 and 0 not in letters and 10 * zeros.count(0) >= 9 * len(zeros) > 0:
            return name
    return None


def _read_bytes_as_letters(raw: bytes, error: UnicodeDecodeError) -> Utf8:
    """Read a file that is not UTF-8 in another encoding, if no other reading is plausible."""
    words = sorted(_find_words(raw), key=lambda word: (-len(word), word))
    read = {name: found for codec, name in ENCODINGS.items() if (found := _read_words(words, codec))}
    read = _prefer_marks(raw, read or _read_languages(words))
    if len(set(map(tuple, read.values()))) == 1 and not read.keys() <= _CATCH_ALL:
        name = WINDOWS if WINDOWS in read else next(iter(read))
        example = max(read[name], key=lambda word: sum(map(str.isalpha, word)))
        return Utf8(raw.decode(name).encode(), name, [_describe_encoding(name, example)])
    wide = {} if read else _read_east_asian(raw)
    if len(wide) == 1:
        ((name, text),) = wide.items()
        return Utf8(text.encode(), name, [_describe_encoding(name, _find_example(text))])
    read |= {name: [_find_example(text)] for name, text in wide.items()}
    raise DataError(
        f"The file is not UTF-8: byte {error.start} (counted from 0) is 0x{raw[error.start]:02x}, and its"
        f' encoding is not certain. {_describe_readings(read)} (in Python, encoding="...").'
    )


def _describe_encoding(name: str, example: str) -> str:
    named = name.replace("windows", "Windows")
    return (
        f"The file is not UTF-8. It is read as {named}, with words such as {example!r}."
        " Add --encoding NAME if they are wrong."
    )


def _read_east_asian(raw: bytes) -> dict[str, str]:
    """Read a file in the encodings of China, Japan and Korea in which nearly all letters are everyday ones.

    Each of these sorts its letters by use, so that a wrong encoding gives many rare ones.
    """
    read = {}
    for codec, (everyday, scripts) in _EAST_ASIAN.items():
        try:
            text = raw.decode(codec)
        except UnicodeDecodeError:
            continue
        letters = [mark for mark in text if mark > "\x7f" and mark.isalpha() and not _is_neutral(mark)]
        n_everyday = sum(everyday(mark.encode(codec)) for mark in letters)
        is_written = set(map(_script_of, letters)) <= scripts
        if len(letters) >= _LEAST_LETTERS and n_everyday >= _EVERYDAY * len(letters) and is_written:
            read[codec] = text
    n_hangul = sum(_script_of(mark) == "hangul" for mark in read.get("euc-kr", ""))
    return {"euc-kr": read["euc-kr"]} if n_hangul >= _MANY_HANGUL else read


def _script_of(letter: str) -> str:
    if "\u3040" <= letter <= "\u30ff":
        return "kana"
    return (
        "hangul" if "\uac00" <= letter <= "\ud7a3" else "han" if "\u4e00" <= letter <= "\u9fff" else "other"
    )


def _is_neutral(letter: str) -> bool:
    """Whether a letter is a wide Latin one, or repeats the one before."""
    return letter == "々" or "\uff21" <= letter <= "\uff5a"


def _find_example(text: str) -> str:
    """The longest of the first words beyond ASCII."""
    words: list[str] = _EAST_ASIAN_WORD.findall(text)[:100]
    return max(words, key=len)[:30]


def _prefer_marks(raw: bytes, read: dict[str, list[str]]) -> dict[str, list[str]]:
    """Leave out readings of signs beside numbers, if others make currencies or blanks of them.

    Such a sign may stand in brackets, too, as in a header.
    """
    codecs_of = {name: codec for codec, name in ENCODINGS.items()}
    for sign, n in Counter(_ALONE.findall(raw)).items():
        form = re.escape(sign)
        beside = re.compile(rb"\d ?" + form + rb"|" + form + rb" ?-?\d|[\[(]" + form + rb"[\])]")
        if raw.count(sign) > n or 2 * len(beside.findall(raw)) < n:
            continue
        fits = {name for name in read if sign.decode(codecs_of[name], errors="replace") in _MARKS}
        read = {name: words for name, words in read.items() if not fits or name in fits}
    return read


def _find_words(raw: bytes) -> set[bytes]:
    """The words that have a letter beyond ASCII; long ones in part."""
    found = set()
    for match in _REST.finditer(raw):
        before = raw[max(0, match.start() - 30) : match.start()]
        beginning = _BEGINNING.search(before)
        found.add((beginning[0] if beginning else b"") + match[0])
    return found


def _describe_readings(read: dict[str, list[str]]) -> str:
    """Describe readings that are possible, by the first word that they read in different ways."""
    if not read:
        return f"Add --encoding NAME, such as --encoding {WINDOWS} or --encoding shift_jis"
    columns = list(zip(*read.values(), strict=True))
    at = next((i for i, column in enumerate(columns) if len(set(column)) > 1), 0)
    ways: dict[str, str] = {}
    for name, words in read.items():
        ways.setdefault(words[at], name)
    shown = join_names((f"{word!r} in {name}" for word, name in ways.items()), 4)
    return f"It holds {shown}. Add --encoding NAME, such as --encoding {next(iter(ways.values()))}"


def _read_words(words: list[bytes], codec: str) -> list[str] | None:
    """Read words in an encoding; None if the reading is not plausible."""
    read, letters = [], set()
    for word in words:
        try:
            text = word.decode(codec)
        except UnicodeDecodeError:
            return None
        found = _unusual_letters(text)
        if found is None:
            return None
        letters |= found
        read.append(text)
    return read if any(letters <= alphabet for alphabet in _ALPHABETS) else None


def _read_languages(words: list[bytes]) -> dict[str, list[str]]:
    """Read words of several languages, each by itself, in the encodings in which all are plausible."""
    read = {name: [_read_words([word], codec) for word in words] for codec, name in ENCODINGS.items()}
    return {name: [one[0] for one in found if one] for name, found in read.items() if all(found)}


def _unusual_letters(word: str) -> set[str] | None:
    """The letters of a word that are not ASCII, in lower case; None if the word is not plausible."""
    letters: set[str] = set()
    for at, mark in enumerate(word):
        before, after = word[at - 1 : at], word[at + 1 : at + 2]
        if mark.isascii():
            continue
        if mark in _SYMBOLS:
            if before.isalpha() and after.isalpha() and mark not in _WITHIN_WORDS:
                return None
            if after.isalpha() and mark not in _BEFORE_WORDS:
                return None
            if mark in _RAISED and before.isalpha() and not _UNIT.fullmatch(word[:at]):
                return None
        elif not mark.isalpha() or (
            mark.isupper() and (before.islower() or (before.isupper() and after.islower()))
        ):
            return None
        else:
            letters.update(mark.lower())
    other_script = any(letter > "\u0370" for letter in letters)
    return None if other_script and re.search("[A-Za-z]", word) else letters
