"""Which sentences are plainly not English, and which only look odd."""

import pytest

from movers.encode.stopwords import not_english
from movers.runtime.notices import ForeignWarning

FOREIGN = {
    "German": """der Hund jagt die Katze durch den Garten, weil sie seinen Knochen gestohlen hat.
        Gestern haben wir lange über die neuen Vorschläge der Regierung gesprochen.
        Die Zeitung berichtete, dass der Fluss nach dem Regen über die Ufer getreten war.""",
    "French": """le chien poursuit le chat dans le jardin parce qu'il a volé son os.
        Hier nous avons longuement parlé des nouvelles propositions du gouvernement.
        Le journal a rapporté que la rivière était sortie de son lit après les pluies.""",
    "Portuguese": """o cachorro persegue o gato pelo jardim porque ele roubou o seu osso.
        Ontem falamos durante muito tempo sobre as novas propostas do governo.
        O jornal informou que o rio tinha transbordado depois da chuva.""",
    "Turkish": """köpek kediyi bahçede kovalıyor çünkü kemiğini çaldı.
        dün hükümetin yeni önerileri hakkında uzun uzun konuştuk.
        gazete yağmurdan sonra nehrin taştığını bildirdi.""",
    "Russian": "собака гонит кошку по саду",
    "Japanese": "犬が猫を追いかける\n猫が犬を追いかける",
}
HARMLESS = {
    "headlines": """stocks slide amid tumbling oil prices
        senate passes budget bill after marathon session
        wildfires force thousands toward coastal shelters
        scientists unveil cheapest solar panels yet
        startups race toward fusion power""",
    "names": """Agnieszka Wojciechowska\nJean-Baptiste de la Fontaine\nLudwig van Beethoven
        krzysztof kieslowski\nzbigniew preisner\ngabriel garcia marquez\nantonin dvorak
        hans von der leyen\nlech majewski\njuliusz machulski\nagnieszka holland""",
    "terms": """acute myocardial infarction thrombolysis\nchronic obstructive bronchitis dyspnoea
        postoperative cholecystectomy laparoscopic jaundice
        metformin lisinopril atorvastatin amlodipine omeprazole
        hypokalaemia secondary hyperaldosteronism bilateral infiltrates tachycardia""",
    "code": """def getattr_all(self, names): return [getattr(self, n) for n in names]
        const el = document.getElementById('foo'); el.addEventListener('click', onClick);
        SELECT usr.id, cnt FROM usr JOIN tbl ON usr.id = tbl.uid WHERE cnt > 3;
        sudo apt-get install libboost-dev cmake ninja-build && ./configure --prefix=/usr""",
    "numbers": "1 2 3\n3.14 2.71\n2024-01-01 12:00\n1,000,000 USD",
    "a foreign name": "Фёдор Михайлович wrote novels and letters",
    "a phrase": "a certain je ne sais quoi",
    "nothing": "",
}


def lines(text):
    return [line.strip() for line in text.splitlines()]


@pytest.mark.parametrize("language", FOREIGN)
def test_other_languages_are_told(embedded, language):
    assert not_english(embedded.encoder.tokenizer, lines(FOREIGN[language]))


@pytest.mark.parametrize("kind", HARMLESS)
def test_odd_english_is_no_other_language(embedded, kind):
    assert not not_english(embedded.encoder.tokenizer, lines(HARMLESS[kind]))
    assert not not_english(embedded.encoder.tokenizer, 10 * lines(HARMLESS[kind]))


def test_english_stop_words_on_another_language_are_warned_of(embedded):
    texts = lines(FOREIGN["German"])
    with pytest.warns(ForeignWarning, match="pass stopwords=None or a list of that language"):
        embedded.using("wmd").matrix(texts)
