"""A method as a person chooses it on the command line, and what is made of the choice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from linkwise import methods
from linkwise.app.project.exit_codes import UsageError
from linkwise.data.reading import unknown_column
from linkwise.errors import SessionError
from linkwise.methods import CLUSTERERS, LEARNERS, Method
from linkwise.wording import count_noun

if TYPE_CHECKING:
    from linkwise.data import Table
    from linkwise.learn.learner import Learner

DEFAULT_LEARNER, DEFAULT_CLUSTERER = "kin", "cobs"
RECORDS, THRESHOLD = "records", "threshold"


@dataclass(frozen=True, slots=True)
class MethodChoice:
    """What the command line says of the method: its name, if any, its parameters, and the seed."""

    name: str | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    seed: int | None = None

    @property
    def n_clusters(self) -> int | None:
        """The number of clusters, where it was given."""
        found: int | None = self.parameters.get("n_clusters")
        return found


# ---------------------------------------------------------------- options that go together
def check_options(method: Method, parameters: Mapping[str, Any], among: dict[str, Method]) -> None:
    """Refuse options of other methods, and ask for one that is needed; `parameters`: given or stored."""
    for option in (methods.options_of(among)[name] for name in parameters):
        if option in method.options:
            continue
        others = methods.owners_of(option, among)
        if option == methods.N_CLUSTERS:
            raise UsageError(
                f"{method.name} finds the number of clusters. "
                f"Remove --clusters {parameters['n_clusters']}, or use --method {'|'.join(others)}."
            )
        raise UsageError(
            f"{option.flag} is an option of {' and '.join(others)}, and the method is {method.name}. "
            f"Remove {option.flag}, or use --method {'|'.join(others)}."
        )
    if method.needs and not any(parameters.get(name) is not None for name in method.needs):
        needed = [methods.options_of(among)[name] for name in method.needs]
        usual = DEFAULT_LEARNER if method.kind == "learner" else DEFAULT_CLUSTERER
        raise UsageError(
            f"{method.name} needs the {' or the '.join(option.help for option in needed)}. "
            f"Add {' or '.join(f'{option.flag} {option.metavar}' for option in needed)}, "
            f"or use --method {usual}, which finds the number of clusters."
        )


# ---------------------------------------------------------------- learners
def build_first_learner(choice: MethodChoice) -> Learner:
    """Build the learner that a session begins with."""
    method = LEARNERS[choice.name or DEFAULT_LEARNER]
    return _build_learner(method, {"random_state": choice.seed or 0}, choice)


def choose_by_table(choice: MethodChoice, table: Table) -> MethodChoice:
    """Choose by a table what was not chosen.

    If no method was named, records are linked if the table holds several of the same things, or if an option
    is given that is about linking them. Records of numbers alone are linked by one threshold on their
    distance. Raises UsageError if an option names a column that the table does not have.
    """
    check_columns(choice, table)
    are_linked = not {methods.ORIGIN.parameter, methods.SAME.parameter}.isdisjoint(choice.parameters)
    if choice.name is None and (are_linked or (table.has_copies and not choice.parameters)):
        choice = replace(choice, name=RECORDS)
    holds_words = any(column.role in ("category", "document", "text") for column in table.columns)
    is_of_numbers = choice.name == RECORDS and not choice.parameters and not holds_words
    return replace(choice, name=THRESHOLD) if is_of_numbers else choice


def check_columns(choice: MethodChoice, table: Table) -> None:
    """Refuse an option that names a column which the table does not have."""
    for option in (methods.ORIGIN, methods.SAME):
        name = choice.parameters.get(option.parameter)
        if name is not None and name not in table.frame.columns:
            raise UsageError(f"{option.flag} {name}: {unknown_column(name, table.frame.columns)}")


def describe_choice(given: MethodChoice, chosen: MethodChoice) -> tuple[str, ...]:
    """Say why another method than the given one was chosen by the table."""
    if given.name == RECORDS and chosen.name == THRESHOLD:
        return ("All columns hold numbers, so the method is threshold: near rows are records of one thing",)
    return ()


def build_next_learner(choice: MethodChoice, stored: dict[str, Any]) -> Learner | None:
    """Build the learner that takes a session over; None if the stored one goes on."""
    if choice == MethodChoice():
        return None
    before = next((method for method in LEARNERS.values() if method.class_name == stored["name"]), None)
    method = before if choice.name is None else LEARNERS[choice.name]
    if method is None:
        raise SessionError(
            f"linkwise does not know the learner of this session: {stored['name']}. "
            f"Choose the one that goes on: --method {'|'.join(LEARNERS)}."
        )
    parameters = stored["parameters"] if method == before else _shared_parameters(method, before, stored)
    if choice.seed is not None:
        parameters = {**parameters, "random_state": choice.seed}
    learner = _build_learner(method, parameters, choice)
    from linkwise.session.journal.description import describe_learner

    is_same = describe_learner(learner) == stored and not _unstored(method, choice.parameters)
    return None if is_same else learner


def _shared_parameters(method: Method, before: Method | None, stored: dict[str, Any]) -> dict[str, Any]:
    """The stored parameters that another learner takes over: its seed, and options that both have."""
    shared = {option.parameter for option in method.options if before and option in before.options}
    kept = {name: value for name, value in stored["parameters"].items() if name in shared | {"random_state"}}
    return {"random_state": 0, **kept}


def _build_learner(method: Method, parameters: dict[str, Any], choice: MethodChoice) -> Learner:
    """Build a learner from the parameters that hold so far and the options that were given."""
    from linkwise.session.journal.registry import build_learner

    offered = {option.parameter for option in method.options}
    so_far = {name: value for name, value in parameters.items() if name in offered}
    check_options(method, {**so_far, **choice.parameters}, LEARNERS)
    given = _given_values(method, choice)
    if "estimator" in given:
        _check_estimator(given["estimator"])
    if given:
        _build_checked(method, given)
    learner = build_learner({"name": method.class_name, "parameters": {**parameters, **given}})
    if unstored := _unstored(method, given):  # which `build_learner` leaves out
        learner.set_params(**unstored)
    built: Learner = learner
    return built


def _build_checked(method: Method, parameters: dict[str, Any]) -> Any:
    """Build the estimator from values of the command line, each in the range of its parameter."""
    estimator = method.load()(**parameters)
    try:
        estimator._validate_params()
    except ValueError as error:  # scikit-learn names the parameter and its range
        flags = [option.flag for option in method.options if f"'{option.parameter}'" in str(error)]
        raise UsageError(f"{' '.join([method.name, *flags])} has a value out of range: {error}") from None
    return estimator


def _check_estimator(name: str) -> None:
    from linkwise.learn.known_k.estimators import clusterers_by_name

    names = clusterers_by_name()
    if name not in names:
        raise UsageError(
            f"--estimator names no clusterer of linkwise: {name}. Choose one of {', '.join(names)}."
        )


def _given_values(method: Method, choice: MethodChoice) -> dict[str, Any]:
    """The given parameters, as the method takes them."""
    options = {option.parameter: option for option in method.options}
    return {name: options[name].to_value(value) for name, value in choice.parameters.items()}


def _unstored(method: Method, given: Mapping[str, Any]) -> dict[str, Any]:
    """The given parameters that concern this machine alone, so that no session stores them."""
    names = {option.parameter for option in method.options if not option.is_stored}
    return {name: value for name, value in given.items() if name in names}


# ---------------------------------------------------------------- clusterers
def check_clusterer(choice: MethodChoice) -> Method:
    """The clusterer that was chosen; its options go together."""
    method = CLUSTERERS[choice.name or DEFAULT_CLUSTERER]
    check_options(method, choice.parameters, CLUSTERERS)
    if choice.seed is not None and not method.is_random:
        raise UsageError(f"{method.name} draws nothing at random. Remove --seed.")
    return method


def build_clusterer(choice: MethodChoice, n_rows: int, nominal: tuple[int, ...] = ()) -> Any:
    """Build the clusterer for so many rows; `nominal`: the columns that hold codes of categories."""
    method = check_clusterer(choice)
    if choice.n_clusters is not None and choice.n_clusters > n_rows:
        raise UsageError(
            f"--clusters {choice.n_clusters} is more than there are rows: {count_noun(n_rows, 'row')}. "
            "Use fewer clusters."
        )
    parameters = _given_values(method, choice)
    if method.is_random:
        parameters["random_state"] = choice.seed or 0
    if method.with_codes:
        parameters["nominal"] = nominal
    return _build_checked(method, parameters)


# ---------------------------------------------------------------- in words
def _default_estimator(class_name: str) -> object:
    """The clusterer that a learner refits unless another is given; None for one that refits none."""
    refits = any(m.class_name == class_name and methods.ESTIMATOR in m.options for m in LEARNERS.values())
    return methods.ESTIMATOR.default if refits else None


def learner_phrase(described: Mapping[str, Any]) -> str:
    """``COBRA, 25 super-instances, seed 0``."""
    parameters, words = described["parameters"], [described["name"]]
    for name, noun in (("n_super_instances", "super-instance"), ("n_clusters", "cluster")):
        if name in parameters:
            words.append(count_noun(parameters[name], noun))
    if described["name"] == "ActiveCOBS":
        words += [f"{name} {parameters[name]}" for name in ("preset", "noise") if name in parameters]
    if estimator := parameters.get("estimator") or _default_estimator(described["name"]):
        words.append(f"by {str(estimator['name'] if isinstance(estimator, dict) else estimator).lower()}")
    if parameters.get("random_state") is not None:
        words.append(f"seed {parameters['random_state']}")
    return ", ".join(words)
