"""Words that the generated contrasts are made of: no word of one half is in the other."""

from __future__ import annotations

from typing import NamedTuple


class Verb(NamedTuple):
    """The forms of a verb."""

    base: str
    present: str
    past: str
    participle: str


class Words(NamedTuple):
    """The vocabulary of one half of the contrasts."""

    people: list[str]
    names: list[str]
    places: list[str]
    towns: list[str]
    times: list[str]
    traits: list[str]
    tails: list[str]
    deeds: list[Verb]
    works: list[tuple[list[Verb], list[str]]]
    gifts: list[str]
    offers: list[Verb]
    trades: list[tuple[str, str, list[str]]]
    bonds: list[tuple[str, str]]
    sides: list[tuple[str, str]]
    degrees: list[tuple[str, str]]
    mutual: list[str]
    onesided: list[str]
    relatives: list[str]
    intransitive: list[str]
    states: list[str]
    adverbs: list[str]
    choices: list[tuple[str, str, str]]
    events: list[tuple[str, str]]
    objects: list[str]
    colours: list[str]
    years: list[str]
    switches: list[str]
    additions: list[str]
    replies: list[str]


def verbs(text: str) -> list[Verb]:
    """Read verbs, one a line: regular ones by their base alone, others with their forms."""
    found = []
    for line in text.strip().splitlines():
        forms = line.split()
        if len(forms) == 1:
            base = forms[0]
            stem = base[:-1] if base.endswith("e") else base
            es = base + ("es" if base.endswith(("ss", "sh", "ch", "x")) else "s")
            forms = [base, es, stem + "ed", stem + "ed"]
        found.append(Verb(*forms))
    return found


def lines(text: str) -> list[str]:
    """Read phrases that are separated by commas."""
    return [part.strip() for part in text.replace("\n", " ").split(",") if part.strip()]


FIT = Words(
    people=lines(
        "nurse, driver, senator, painter, pilot, lawyer, cook, teacher, soldier, farmer, actress, "
        "banker, tailor, priest, dancer, clerk, hunter, sailor, butcher, singer, engineer, widow, "
        "student, detective, neighbour, princess, mechanic, poet, boxer, gardener"
    ),
    names=lines("Anna, Peter, Laura, Thomas, Ingrid, Carlos, Mei, Omar, Julia, Felix, Nina, Boris"),
    places=lines(
        "in the kitchen, at the station, near the river, in the garden, behind the church, "
        "at the airport, in front of the bank, on the stairs, in the old library"
    ),
    towns=lines("Bergen, Madrid, Cardiff, Denver, Turin, Krakow, Nairobi, Lima"),
    times=lines(
        "last week, on Monday, in 1987, after the meeting, yesterday evening, during the storm, "
        "two days ago, before the wedding, in the middle of the night"
    ),
    traits=lines("young, old, tall, tired, famous, angry, quiet, clever, blind, rich"),
    tails=lines(
        "from the second floor, with the grey beard, who lives in Bergen, in the blue coat, "
        "who had lost her keys, from the north of the country, with the loud voice"
    ),
    deeds=verbs(
        """praise
        criticise
        hire
        follow
        interview
        invite
        rescue
        punish
        thank
        visit
        arrest
        blame
        admire
        help
        greet
        question
        kiss
        push
        insult
        photograph
        comfort
        support
        recognise
        chase
        teach teaches taught taught
        see sees saw seen
        bite bites bit bitten
        beat beats beat beaten
        forgive forgives forgave forgiven"""
    ),
    works=[
        (verbs("build builds built built\npaint\nbuy buys bought bought\ndesign\nclean\ninspect"),
         lines("the bridge, the farm, the cottage, the tower, the school, the barn")),
        (verbs("write writes wrote written\ntranslate\npublish\nread reads read read\n"
               "sign\nlose loses lost lost"),
         lines("the letter, the report, the contract, the novel, the recipe, the article")),
        (verbs("repair\nsteal steals stole stolen\nwash\nsell sells sold sold\nuse"),
         lines("the van, the bicycle, the tractor, the boat, the truck, the piano")),
    ],
    gifts=lines("a watch, some flowers, the key, a ticket, a small parcel, an old map"),
    offers=verbs("give gives gave given\noffer offers offered offered\nsend sends sent sent\n"
                 "show shows showed shown"),
    trades=[
        ("bought {t} from", "sold {t} to", ["a horse", "the vineyard", "two paintings"]),
        ("borrowed {t} from", "lent {t} to", ["a ladder", "some money", "a raincoat"]),
        ("received {t} from", "sent {t} to", ["a postcard", "a warning", "the results"]),
        ("learned {t} from", "taught {t} to", ["chess", "Spanish", "the old songs"]),
    ],
    bonds=[("parent", "child"), ("employer", "employee"), ("uncle", "nephew"),
           ("husband", "wife"), ("doctor", "patient")],
    sides=[("above", "below"), ("to the north of", "to the south of"), ("in front of", "behind"),
           ("to the left of", "to the right of")],
    degrees=[("taller", "shorter"), ("older", "younger"), ("faster", "slower"),
             ("richer", "poorer"), ("stronger", "weaker")],
    mutual=lines(
        "is married to, resembles, shook hands with, lives next to, argued with, danced with, "
        "is a cousin of, has the same birthday as, got divorced from"
    ),
    onesided=lines(
        "is in love with, is the boss of, bumped into, relies on, apologised to, is afraid of, "
        "listened to, works for, laughed at"
    ),
    relatives=lines("brother, assistant, accountant, landlady, grandfather, bodyguard"),
    intransitive=lines("slept, sang, cried, laughed, waited outside, fell asleep, went home"),
    states=lines(
        "long and boring, cold and wet, cheap and ugly, tall and strong, dark and narrow, "
        "clean and bright"
    ),
    adverbs=lines("slowly, quietly, carefully, secretly, proudly"),
    choices=[
        ("Should I buy", "a house", "a flat"), ("Do you want", "milk", "sugar"),
        ("Shall we visit", "Rome", "Venice"), ("Can I pay by", "card", "cheque"),
        ("Should we hire", "a plumber", "an electrician"), ("Would you rather eat", "fish", "meat"),
        ("Is the office open on", "Saturday", "Sunday"), ("Do I need", "a visa", "a passport"),
        ("Should children learn", "French", "German"), ("Will it", "rain", "snow"),
    ],
    events=[
        ("the bell rang", "the children ran outside"), ("the price rose", "the shop closed"),
        ("the queen died", "the war began"), ("it started to rain", "we left the beach"),
        ("the lights went out", "the singer stopped"), ("the snow melted", "the river flooded"),
        ("the factory closed", "the workers protested"),
        ("the guests arrived", "the soup was served"),
    ],
    objects=lines("chair, hat, door, book, lamp, carpet, bottle, scarf"),
    colours=lines("red, blue, green, white, black, yellow"),
    years=lines("1912, 1934, 1956, 1978"),
    switches=lines("radio, heater, computer, oven, fan, alarm"),
    additions=lines(
        "yesterday, in Berlin, at noon, again, without a word, with a smile, in front of everybody, "
        "for the first time, by accident"
    ),
    replies=lines("really, often, suddenly, never before, clearly, almost"),
)
REPORT = Words(
    people=lines(
        "judge, waiter, plumber, mayor, goalkeeper, violinist, shepherd, baker, captain, "
        "librarian, surgeon, tourist, carpenter, duchess, journalist, monk, referee, chemist, "
        "cyclist, landlord, miner, novelist, umpire, wizard, porter, tenant, biologist, sheriff, "
        "drummer, barber"
    ),
    names=lines("Maria, David, Helen, Victor, Aisha, Paul, Greta, Hiro, Sophie, Marco, Elena, Sam"),
    places=lines(
        "in the cellar, at the harbour, near the fountain, in the courtyard, behind the theatre, "
        "at the market, in front of the court, on the roof, in the small museum"
    ),
    towns=lines("Porto, Leeds, Dallas, Ghent, Graz, Havana, Osaka, Tunis"),
    times=lines(
        "last month, on Thursday, in 2003, after the concert, this morning, during the election, "
        "three weeks ago, before the trial, at the end of the day"
    ),
    traits=lines("brave, bald, short, hungry, retired, nervous, strict, lonely, deaf, poor"),
    tails=lines(
        "from the third row, with the broken arm, who works in Porto, in the straw hat, "
        "who had missed the bus, from the south of the island, with the heavy suitcase"
    ),
    deeds=verbs(
        """accuse
        imitate
        warn
        attack
        phone
        tease
        betray betrays betrayed betrayed
        cheat
        defend
        replace
        annoy annoys annoyed annoyed
        scare
        fire
        sue
        assist
        mention
        watch
        call
        cure
        trust
        salute
        bore
        elect
        consult
        lead leads led led
        catch catches caught caught
        find finds found found
        shoot shoots shot shot
        choose chooses chose chosen"""
    ),
    works=[
        (verbs("restore\nrent rents rented rented\ndestroy destroys destroyed destroyed\n"
               "measure\ninherit inherits inherited inherited\nheat heats heated heated"),
         lines("the castle, the warehouse, the chapel, the hotel, the mill, the stable")),
        (verbs("correct corrects corrected corrected\nprint prints printed printed\nhide hides hid hidden\n"
               "memorise\nquote\ntear tears tore torn"),
         lines("the poem, the essay, the invoice, the diary, the script, the menu")),
        (verbs("drive drives drove driven\ncrash\ninsure\nborrow borrows borrowed borrowed\npolish"),
         lines("the motorbike, the ambulance, the wagon, the canoe, the taxi, the harp")),
    ],
    gifts=lines("a coin, a lottery ticket, the password, a puppy, a heavy box, a new passport"),
    offers=verbs("hand hands handed handed\nsell sells sold sold\nlend lends lent lent\n"
                 "pass passes passed passed"),
    trades=[
        ("purchased {t} from", "sold {t} to", ["a goat", "the orchard", "three statues"]),
        ("rented {t} from", "leased {t} to", ["a flat", "the garage", "an office"]),
        ("inherited {t} from", "left {t} to", ["a fortune", "the farmhouse", "a necklace"]),
        ("got {t} from", "gave {t} to", ["an apple", "the answer", "good advice"]),
    ],
    bonds=[("mother", "daughter"), ("teacher", "pupil"), ("aunt", "niece"),
           ("guardian", "ward"), ("coach", "player")],
    sides=[("over", "under"), ("to the east of", "to the west of"), ("ahead of", "behind"),
           ("inside", "around")],
    degrees=[("larger", "smaller"), ("heavier", "lighter"), ("louder", "quieter"),
             ("happier", "sadder"), ("cleverer", "sillier")],
    mutual=lines(
        "met, collided with, is related to, is a colleague of, played chess against, "
        "exchanged letters with, is engaged to, shares a room with, is as old as"
    ),
    onesided=lines(
        "depends on, waved at, is jealous of, stole from, is the manager of, looked after, "
        "voted for, ran away from, pointed at"
    ),
    relatives=lines("sister, secretary, dentist, tutor, grandmother, tailor"),
    intransitive=lines("ate, swam, smiled, shouted, stayed inside, woke up, walked away"),
    states=lines(
        "short and funny, hot and dry, old and dirty, plain and simple, wide and deep, "
        "loud and crowded"
    ),
    adverbs=lines("quickly, calmly, gladly, openly, badly"),
    choices=[
        ("Should I rent", "a car", "a bike"), ("Do you like", "jazz", "opera"),
        ("Shall we call", "the police", "a doctor"), ("Can I travel by", "bus", "train"),
        ("Should we plant", "roses", "tulips"), ("Would you rather study", "physics", "history"),
        ("Is the pool open in", "spring", "autumn"), ("Do I have to show", "a licence", "a receipt"),
        ("Should beginners use", "Python", "Java"), ("Will she", "resign", "retire"),
    ],
    events=[
        ("the whistle blew", "the players stopped"), ("the road was closed", "the bus turned back"),
        ("the king fell ill", "the general fled"), ("the wind grew stronger", "the boat sank"),
        ("the phone rang", "the baby woke up"), ("the dam broke", "the village was evacuated"),
        ("the strike ended", "the trains ran again"),
        ("the curtain fell", "the audience applauded"),
    ],
    objects=lines("table, cap, window, vase, candle, blanket, basket, glove"),
    colours=lines("brown, grey, purple, orange, pink, golden"),
    years=lines("1821, 1847, 1863, 1899"),
    switches=lines("television, dishwasher, printer, light, engine, pump"),
    additions=lines(
        "today, in Chicago, at midnight, twice, without warning, with a laugh, in public, "
        "for the last time, on purpose"
    ),
    replies=lines("actually, sometimes, immediately, once more, openly, nearly"),
)
SYNONYMS = dict(
    pair.split(":")
    for pair in lines(
        "saw:spotted, famous:well-known, angry:furious, clever:smart, "
        "quiet:silent, rich:wealthy, poor:needy, brave:courageous, hungry:starving, "
        "nervous:anxious, lonely:solitary, strict:stern, small:little, heavy:weighty, loud:noisy, "
        "praised:commended, criticised:condemned, hired:employed, followed:trailed, "
        "rescued:saved, thanked:expressed thanks to, visited:called on, helped:assisted, "
        "pushed:shoved, insulted:offended, comforted:consoled, supported:backed, "
        "recognised:identified, chased:pursued, beat:defeated, questioned:interrogated, "
        "admired:looked up to, photographed:took a picture of, arrested:detained, "
        "imitated:copied, warned:alerted, attacked:assaulted, phoned:rang up, teased:mocked, "
        "cheated:deceived, defended:protected, replaced:took the place of, annoyed:irritated, "
        "scared:frightened, sued:took to court, watched:observed, cured:healed, led:guided, "
        "caught:captured, chose:picked, consulted:asked for advice, purchased:bought, "
        "bought:purchased, moved:relocated, travelled:journeyed, received:got, gave:presented, "
        "slowly:at a slow pace, quietly:silently, carefully:with care, secretly:in secret, "
        "quickly:swiftly, calmly:in a calm way, gladly:happily, lawyer:attorney, "
        "physician:doctor, doctor:physician, soldier:trooper, cook:chef, singer:vocalist, "
        "teacher:instructor, student:pupil, captain:skipper, tourist:visitor, "
        "goalkeeper:keeper, journalist:reporter, novelist:writer, sheriff:lawman, "
        "letter:note, contract:agreement, van:minivan, bicycle:bike, boat:vessel, truck:lorry, "
        "castle:fortress, invoice:bill, motorbike:motorcycle, taxi:cab, cellar:basement, "
        "harbour:port, theatre:playhouse, station:terminal, church:chapel, evening:night, "
        "company:firm, film:movie, began:started, large:big, wrote:penned, children:kids, "
        "built:constructed, town:municipality, died:passed away, asked:requested, "
        "argued:maintained, reached:arrived at, sold:disposed of, kept:retained, "
        "defeated:beat, accused:charged, succeeded:followed, about:roughly, "
        "replied:answered, house:home, road:street, ended:finished, closed:shut, "
        "should:ought to, because:since, near:close to, does not:doesn't, did not:didn't, "
        "is not:isn't, the whole:the entire, several:a number of, many:numerous, often:frequently, "
        "repeated:done again, required:needed, shows:displays, each month:every month, "
        "according to:as stated by, in front of:before, during:in the course of, "
        "lives:resides, works:is employed, is taller than:has a greater height than"
    )
)
