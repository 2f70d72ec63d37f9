"""What completion and manual pages need of the programs' help, as tables."""
import dataclasses
import re

from docs.help import (COMMAND, JTRACE_OPTION, POST_OPTION, REPORT, agent_options, codes, metrics, paragraphs,
                       rows_of, values)
from docs.programs import Missing


@dataclasses.dataclass
class Option:
    usage: str  # as in the help: `--report=R[,R…]`
    meaning: str
    example: str = ""
    words: list = dataclasses.field(default_factory=list)  # (word, meaning) of its value, where they are known

    @property
    def name(self):
        """What is typed before the value: `--report=`, `-o`, `--open`."""
        return re.match(r"[^=\s]+=?", self.usage)[0]

    @property
    def is_apart(self):
        """Its value is the next word."""
        return " " in self.usage

    @property
    def takes_file(self):
        return bool(re.search(r"[= |](FILE|PATH)\b", self.usage))

    @property
    def separator(self):
        """Between several words of one value."""
        found = re.search(r"\[([,;])", self.usage)
        return found[1] if found else ""


@dataclasses.dataclass
class Command:
    usage: str  # without its name
    name: str
    meaning: str
    example: str
    options: list = dataclasses.field(default_factory=list)  # those that begin with -

    @property
    def takes(self):
        """What its arguments may be."""
        kinds = {"jvm": self.usage.startswith("JVM"), "agent": "OPTION=VALUE" in self.usage,
                 "program": "PROGRAM" in self.usage}
        return [kind for kind, is_taken in kinds.items() if is_taken]


@dataclasses.dataclass
class Tables:
    agent: list  # options, as the three below
    post: list
    jtrace: list
    commands: list
    reports: list  # (name, meaning, example)


def alternatives(usage):
    """The words of `mode=merged|events|samples`; COUNT and 1ms are placeholders."""
    parts = usage.partition("=")[2].split("|")
    return [(part, "") for part in parts if len(parts) > 1 and re.fullmatch(r"[a-z]+", part)]


def said_in(pattern, meaning):
    """Words that only the description of an option lists."""
    found = re.search(pattern, meaning)
    if not found:
        raise Missing(f"the help no longer lists words as in '{pattern}': {meaning}")
    return [(word, "") for word in re.findall(r"[a-z]+", found[1]) if word != "or"]


def perf_events(agent_help):
    """`perf:cpu-clock` and the like, the words of timer= that its first line has no room for."""
    rows = [(value, meaning) for value, meaning in values(agent_help, "timer") if value.startswith("perf:")]
    names = " ".join([rows[0][0].removeprefix("perf:"), rows[-1][1].partition("events: ")[2].partition("events: ")[2]])
    return [(f"perf:{name}", "") for name in names.split()]


def agent_table(agent_help):
    counted = [(row[0], row[2]) for row in metrics(agent_help) if row[0] != "user.NAME"]
    switched = [(sign + name, meaning) for _, name, state, meaning in codes(agent_help)
                for sign in ("-" if state == "on" else "+")]
    options = [Option(usage, meaning, "", alternatives(usage)) for usage, meaning in agent_options(agent_help)]
    more = {"metrics=": counted, "codes=": switched, "stack=": values(agent_help, "stack")}
    for option in options:
        option.words = more.get(option.name, option.words)
        if option.name == "timer=":
            option.words += perf_events(agent_help)
    return options


def post_table(post_help, counted, reports):
    parts = paragraphs(post_help)
    options = [Option(*row, alternatives(row[0])) for row in rows_of(parts["options"], POST_OPTION)]
    for option in options:
        if option.name == "--report=":
            # Completion begins again after a comma.
            option.words = [(name, meaning) for name, meaning, _ in reports if "," not in name]
        elif option.name == "--metric=":
            measures = said_in(r": ([a-z ]+), or a metric", option.meaning)
            option.words = measures + [row for row in counted if (row[0], "") not in measures]
    return options


def jtrace_table(jtrace_help):
    options = []
    for usage, meaning, example in rows_of(paragraphs(jtrace_help)["options"], JTRACE_OPTION):
        options += [Option(one, meaning, example) for one in usage.split(", ")]
    return options


def options_of(command, jtrace, post):
    """The options with a dash that a command takes."""
    own = []
    for option in jtrace:
        named = re.match(r"with ([a-z, ]+): ", option.meaning)
        takes_all = option.meaning and "agent" in command.takes  # without "with": where the agent is loaded
        if command.name in named[1].split(", ") if named else takes_all:
            own.append(option)
    if "options of jtrace-post" in command.meaning:
        # After run a value is never the next word.
        own += [option for option in post if "jvm" in command.takes or option.usage.startswith("--")]
    if "--format=" in command.usage:
        own.append(Option("--format=…", "", "", said_in(r", as ([a-z, ]+ or [a-z]+)", command.meaning)))
    return own


def tables_of(agent_help, post_help, jtrace_help):
    agent = agent_table(agent_help)
    counted = next(option.words for option in agent if option.name == "metrics=")
    reports = rows_of(paragraphs(post_help)["reports"], REPORT)
    post = post_table(post_help, counted, reports)
    jtrace = jtrace_table(jtrace_help)
    commands = []
    for usage, meaning, example in rows_of(paragraphs(jtrace_help)["commands"], COMMAND):
        name, _, rest = usage.partition(" ")
        command = Command(rest, name, meaning, example)
        command.options = options_of(command, jtrace, post)
        commands.append(command)
    return Tables(agent, post, jtrace, commands, reports)
