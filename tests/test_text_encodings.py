"""Encodings other than UTF-8: read where they are certain, and asked for where they are not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwise.data import read_table
from linkwise.errors import DataError
from linkwise.text_encodings import to_utf8
from linkwise.text_files import ENCODINGS, normalize_encoding

WORDS = {
    "German": "Müller Köln Größe “Straße” 20 € für März",
    "French": "élève à Orléans, « très » même ça œuvre modèle reçu août",
    "Spanish": "¿Señor Núñez? año María Bogotá pingüino",
    "Portuguese": "São João coração três à pão avó",
    "Swedish": "Åsa Öberg från Malmö, en båt är här – nöjd",
}
CENTRAL = {
    "Czech": "Přílišně žluťoučký kůň úpěl ďábelské ódy",
    "Polish": "Zażółć gęślą jaźń, Łódź i Kraków",
    "Hungarian": "Árvíztűrő tükörfúrógép",
}
OTHERS = [
    ("windows-1251", "Москва и Санкт-Петербург, Россия"),
    ("koi8-r", "Москва и Санкт-Петербург, Новгород"),
    ("windows-1253", "Αθήνα και Θεσσαλονίκη"),
    ("windows-1254", "İstanbul, Beşiktaş, ağaç, ışık"),
    ("macintosh", WORDS["German"]),
    ("macintosh", WORDS["French"]),
    ("cp850", "Müller Köln Größe Straße für März"),
    ("shift_jis", "東京と大阪、京都の町"),
    ("gb18030", "北京和上海的学校与医院"),
    *[("windows-1250", text) for text in CENTRAL.values()],
    *[("iso-8859-2", text) for text in CENTRAL.values()],
]


def as_table(text):
    return "town,size\n" + "".join(f'"{word}",{n}\n' for n, word in enumerate([*text.split(), "plain"]))


def outcome(raw):
    """The text that is read, or the error."""
    try:
        return to_utf8(raw).raw.decode()
    except DataError as error:
        return error


@pytest.mark.parametrize("language", WORDS)
def test_western_files_are_read_with_a_note(tmp_path, language):
    path = tmp_path / "rows.csv"
    path.write_bytes(as_table(WORDS[language]).encode("cp1252"))
    table = read_table(path)
    assert table.frame["town"].to_list() == [*WORDS[language].split(), "plain"]
    assert "not UTF-8. It is read as Windows-1252, with words such as" in table.notes[0]
    assert "--encoding NAME" in table.notes[0]
    assert table.choices["encoding"] == "windows-1252"
    assert read_table(path, **table.choices).frame.to_native().equals(table.frame.to_native())


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_wide_encodings_are_read_with_a_note(tmp_path, codec):
    text = as_table(" ".join(WORDS.values()))
    path = tmp_path / "rows.csv"
    path.write_bytes(text.encode(codec))
    table = read_table(path)
    assert table.frame["town"].to_list()[:2] == ["Müller", "Köln"]
    assert f"read as {codec.upper()}" in table.notes[0]
    assert read_table(path, **table.choices).frame.to_native().equals(table.frame.to_native())


def test_utf8_is_read_as_before():
    for raw in (b"a,b\n1,2\n", "a\nü\n".encode(), b"\xef\xbb\xbfa,b\n", b""):
        assert to_utf8(raw) == (raw, None, [])


@pytest.mark.parametrize(("codec", "text"), OTHERS)
def test_another_encoding_is_read_where_it_is_certain(tmp_path, codec, text):
    path = tmp_path / "rows.csv"
    path.write_bytes(as_table(text).encode(codec))
    table = read_table(path, encoding=codec)
    assert table.frame["town"].to_list()[:-1] == text.split()
    assert table.choices["encoding"] == normalize_encoding(codec)
    if codec in ("macintosh", "cp850"):  # other files may look like these
        with pytest.raises(DataError, match="not UTF-8: byte"):
            read_table(path)
        return
    found = read_table(path)
    assert found.frame["town"].to_list() == table.frame["town"].to_list()
    assert "It is read as" in found.notes[0]
    assert read_table(path, **found.choices).frame["town"].to_list() == table.frame["town"].to_list()


@pytest.mark.parametrize(
    ("text", "encodings"),
    [
        ("客户,北京 上海 张伟", {"gb18030"}),
        ("王小明,台北 高雄", {"big5"}),
        ("すずき 東京の町 々 Ａ", {"shift_jis", "euc-jp"}),
        ("김철수 서울특별시 부산 인천 광주 대전", {"euc-kr"}),
    ],
)
@pytest.mark.parametrize("codec", ["gb18030", "big5", "shift_jis", "euc-jp", "euc-kr"])
def test_files_of_east_asia_are_read_as_they_were_written(text, encodings, codec):
    try:
        raw = as_table(text).encode(codec)
    except UnicodeEncodeError:
        return
    found = outcome(raw)
    assert (
        found == as_table(text)
        if codec in encodings
        else (isinstance(found, DataError) or found == as_table(text))
    )


def test_few_letters_of_east_asia_are_asked_for():
    message = str(outcome(as_table("김철 수").encode("euc-kr")))
    assert "not certain" in message
    few = str(outcome(as_table("가나 다라").encode("euc-kr")))
    assert "'가나' in euc-kr" in few
    assert "in gb18030" in few


LANGUAGES = {language: text.split() for language, text in (WORDS | CENTRAL).items()}
SOME_WORDS = st.sampled_from(sorted(LANGUAGES)).flatmap(
    lambda language: st.lists(st.sampled_from(LANGUAGES[language]), max_size=4)
)


@given(SOME_WORDS, st.sampled_from(sorted(ENCODINGS)))
def test_words_of_one_language_are_read_as_they_were_written(words, codec):
    text = as_table(" ".join(words))
    try:
        raw = text.encode(codec)
    except UnicodeEncodeError:
        return
    found = outcome(raw)
    assert isinstance(found, DataError) or found == text


def test_raised_digits_follow_units_alone():
    assert outcome(as_table("20 m² 3 km³ für").encode("cp1252")) == as_table("20 m² 3 km³ für")
    assert outcome(as_table("Müller gęślą").encode("cp1250")) == as_table("Müller gęślą")  # not "gêœl¹"


def test_words_of_two_languages_are_not_misread_in_silence():
    """Their letters together may be those of a third language; then the note has such a word."""
    found = to_utf8(as_table("Müller ďábelské").encode("cp1250"))
    assert found.encoding == "windows-1252"
    assert "with words such as 'ïábelské'. Add --encoding NAME if they are wrong." in found.notes[0]


def test_long_words_and_words_of_no_language():
    long = "a" * 100 + "ü" + "b" * 100
    assert to_utf8(as_table(long).encode("cp1252")).raw.decode() == as_table(long)
    message = str(outcome(b"town\n\x81\x8d\x8f\xff\xfe\n"))
    assert "is 0x81, and its encoding is not certain. Add --encoding NAME, such as" in message


def test_two_readings_are_both_shown():
    message = str(outcome(as_table("modèle près").encode("cp1252")))
    assert "'modèle' in windows-1252" in message
    assert "'modčle' in windows-1250" in message
    assert "--encoding windows-1252" in message


def test_json_lines_in_another_encoding(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes("".join(f'{{"town": "Köln", "size": {n}}}\n' for n in range(4)).encode("cp1252"))
    assert read_table(path, columns=["size"]).frame["town"][0] == "Köln"


def test_a_named_encoding_that_does_not_fit(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(as_table("Müller").encode("cp1252"))
    with pytest.raises(DataError, match="The file is not utf-8 at byte 12"):
        read_table(path, encoding="utf8")
    for name in ("latin7000", "rot13", "idna", "hex", "../x", "", "unicode_escape"):
        with pytest.raises(DataError, match=r"is unknown\. Use a name such as utf-8"):
            read_table(path, encoding=name)
    (tmp_path / "rows.npy").write_bytes(b"x")
    with pytest.raises(DataError, match="Remove it"):
        read_table(tmp_path / "rows.npy", encoding="utf-8")


def test_all_names_of_an_encoding_are_one():
    assert {normalize_encoding(name) for name in ("cp1252", "windows-1252", "CP1252")} == {"windows-1252"}
    assert all(normalize_encoding(name) == name for name in ENCODINGS.values())


def test_a_damaged_character_does_not_change_the_encoding(tmp_path):
    good = "text,n\ngut 😀 Straße,1\nüber,2\nöde,3\n".encode()
    path = tmp_path / "rows.csv"
    path.write_bytes(good + b"stra\xc3,4\nweiter \xf0\x9f\x98,5\n" + "ä,6\nö,7\n".encode())
    table = read_table(path)
    assert table.frame["text"].to_list()[3:5] == ["stra\ufffd", "weiter \ufffd"]
    assert (
        "2 damaged characters in lines 5, 6 read as '\ufffd': the file is UTF-8 everywhere else."
        in table.notes
    )
    path.write_bytes(b"\xef\xbb\xbf" + good + b"stra\xc3,4\n")
    assert "1 damaged character in line 5 read as" in read_table(path).notes[0]


def test_many_damaged_characters_are_another_encoding(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes("a,b\nStraße,ü\n".encode() + "Käse,ä\nÖl,ö\n".encode("latin-1"))
    with pytest.raises(DataError, match="not UTF-8: byte"):
        read_table(path)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ('id,price\n1,"€ 12,50"\n2,"€ 7,00"\n', True),  # a letter stands by no number
        ("name,Betrag [€]\nx,€ -3\ny,9 €\n", True),
        ("town\nRégion Köln\nMalmö\nOrléans\n", True),  # several languages
        ("a;b\n1\xa0234;€ 5\n", True),
        ("a,Betrag [€]\n1,2\n", True),
        ("a,b\n€,x\n", False),
    ],
    ids=["before numbers", "after numbers, too", "languages", "blanks", "in brackets", "alone"],
)
def test_windows_1252_is_certain_by_currencies_and_words_of_many_languages(text, read):
    found = outcome(text.encode("cp1252"))
    assert (found == text) if read else isinstance(found, DataError)


def test_capitals_within_words_are_no_letters_of_another_encoding():
    assert outcome("Région,Orléans\n1,2\n".encode("cp1252")) == "Région,Orléans\n1,2\n"
