"""Figures of the documents that a script counts or measures, and the lists of tiers: docs.py writes and checks them."""
import re

FEATURES = "docs/FEATURES.md"
TIERS = "CONTRIBUTING.md"
NIGHTLY = ".github/workflows/nightly.yml"


def features(page):
    """The sentence that counts the rows of docs/FEATURES.md by their states."""
    states = [cells[3] for cells in ([cell.strip() for cell in line.split("|")] for line in page.splitlines())
              if len(cells) == 6 and re.fullmatch(r"S[1-5]\.\d+", cells[1])]
    counts = [f"{states.count('works')} work"]
    counts += [f"{states.count(state)} {state}" for state in ("in part", "missing") if state in states]
    return f"{len(states)} features: {', '.join(counts)}."


def with_features(page):
    return re.sub(r"\d+ features: [^.]*\.", features(page), page, count=1)


def row_of(page, tier):
    """Its row in the table of tiers: what it is, cold, warm."""
    return re.search(rf"^(\| `{re.escape(tier)}` \|[^|]*\|)([^|]*)\|([^|]*)\|$", page, re.M)


def with_time(page, tier, column, seconds):
    """The table of tiers with the minutes of one of them; column: cold or warm."""
    found = row_of(page, tier)
    cold, warm = found[2].strip(), found[3].strip()
    minutes = f"{int(seconds) / 60:.1f}"
    cold, warm = (minutes, warm) if column == "cold" else (cold, minutes)
    shown = "".join(f" {cell} |" if cell else " |" for cell in (cold, warm))
    return page[:found.start()] + found[1] + shown + page[found.end():]


def tiers(source):
    """The words of scripts/test.sh."""
    text = (source / "scripts/test.sh").read_text()
    return " ".join(re.findall(r"^readonly (?:tiers|by_hand)=\((.*)\)$", text, re.M)).split()


def wrong_figures(source):
    """What the documents count wrongly, and tiers that the table or the nightly run lacks."""
    page = (source / FEATURES).read_text()
    if with_features(page) != page:
        yield f"{FEATURES} counts its features wrongly; run scripts/docs.py write"
    table, nightly = (source / TIERS).read_text(), (source / NIGHTLY).read_text()
    named = re.search(r"tier: \[([^]]*)\]", nightly)[1].replace(",", " ").split()
    for tier in tiers(source):
        if not row_of(table, tier):
            yield f"{TIERS}: its table lacks the tier {tier}"
        if tier not in named:
            yield f"{NIGHTLY} lacks the tier {tier}"
    for tier in set(named) - set(tiers(source)):
        yield f"{NIGHTLY} has a tier {tier}, which scripts/test.sh does not know"
