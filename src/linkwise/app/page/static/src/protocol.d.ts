/** What the host and the page exchange. The Python side is `linkwise.app.page.presenter`. */
import type { Conflict } from "./controller.js";

export type Answer = "yes" | "no" | "unsure";
export type Kind = "must-link" | "cannot-link";
/** Whether the host can be reached: "lost" is tried again, "closed" and "login" need a person. */
export type Link = "open" | "lost" | "closed" | "login";

export interface Field {
  name: string;
  value: string;
  /** Where a number stands between the lowest (0) and the highest (1) of its column. */
  place: number | null;
}

/** A row as a person sees it. */
export interface Item {
  row: number;
  name: string;
  fields: Field[];
  text?: string;
  /** A data URL. */
  image?: string;
  series?: (number | null)[];
}

/** How much two rows differ in a column, beside the other columns, in the distance between rows. */
export type Grade = "most" | "plain" | "slight";

/** How two rows differ. */
export interface Comparison {
  /** The fields in which they differ. */
  differing: Record<string, Grade>;
  /** The same of the text, the picture or the curve; null if rows are not compared by it. */
  content: Grade | null;
  /** Names of the fields that do not count in the distance. */
  only_shown: string[];
}

export interface Question extends Comparison {
  id: string;
  first: Item;
  second: Item;
  why: string;
  guess: Answer;
  /** What speaks for and against the match of both rows; null if the learner cannot tell it. */
  parts?: PairParts | null;
}

/** What speaks for and against the match of two rows, in log-odds: more than 0 speaks for it. */
export interface PairParts {
  text: string;
  columns: { name: string; part: number }[];
  /** The part of the comparison of the rows as wholes. */
  whole: number;
}

/** Rows that are sorted into piles. */
export interface SortingScreen {
  id: string;
  /** The rows of each pile that is there already. */
  known: Item[][];
  cards: Item[];
  /** The columns that tell these rows apart best. */
  columns: string[];
  why: string;
  /** Of an earlier answer: the number of its event, and where its rows lie. */
  event?: number;
  lies?: { piles: number[][]; unsure: number[] };
}

/** Whether screens of so many rows are worth sorting; `size` is null if questions about two rows are better. */
export interface SortingOffer {
  size: number | null;
  /** How many times as fast as pairs screens were, by the seconds of the person; null if that is unknown. */
  factor: number | null;
  /** How many questions about two rows a screen replaces; null without `size`. */
  pairs: number | null;
}

export interface SortingOffers {
  /** The numbers of rows that can be chosen, and the one to start with. */
  sizes: number[];
  start: number;
  wide: SortingOffer;
  /** On a page as narrow as on a phone. */
  narrow: SortingOffer;
}

export interface Cluster {
  cluster: number;
  size: number;
  name: string;
  exemplar: number;
  exemplars: number[];
  /** Names of the exemplars. */
  exemplar_names: string[];
  done: boolean;
  /** How many of its rows have an answer. */
  answered?: number;
}

/** The rows of one cluster that a search found; the first of them by position and name. */
export interface RowHits {
  cluster: number;
  count: number;
  rows: number[];
  names: string[];
}

export interface SessionEvent {
  number: number;
  kind:
    | "answer"
    | "sort"
    | "add"
    | "import"
    | "move"
    | "done"
    | "name"
    | "change"
    | "sure"
    | "note"
    | "guidelines"
    | "examples";
  when: string;
  first: number;
  second: number;
  names: string[];
  /** A short line about each row; only where events are listed. */
  values?: string[];
  answer: Answer;
  pairs: number;
  /** Of rows that were sorted: how many were placed, and in how many piles. */
  cards?: number;
  piles?: number;
  text: string | null;
  changed: boolean;
  /** The number of the answer that a change, a confirmation or a note is about. */
  target: number | null;
  /** Whether the answer was confirmed, so that it is certain. */
  sure?: boolean;
  /** How long the answer took. */
  seconds?: number | null;
  /** What was written about the answer, and by whom. */
  note?: string;
  note_author?: string;
  /** The probability that the answer is right, as a program gave it. */
  reliability?: number | null;
}

/** An answer that is probably wrong. */
export interface Suspect {
  /** The number of its event. */
  event: number;
  first: number;
  second: number;
  names: [string, string];
  values?: string[];
  answer: "yes" | "no";
  /** Who gave it; empty if it has no name. */
  source: string;
  grade: "likely wrong" | "very likely wrong";
  /** What speaks against it, as a sentence. */
  reason: string;
  /** If rows were sorted, the one that is in a wrong pile, which is the first; and where it lies and belongs. */
  card: number | null;
  place: string;
}

/** A pair that waits for a review. */
export interface ReviewPair {
  first: number;
  second: number;
  /** Of a card alone its name. */
  names: string[];
  card: number | null;
}

/** All about a pair that waits for a review. */
export interface ReviewCase extends Comparison {
  first: Item;
  second: Item;
  /** Who answered what and when, in order. */
  answers: SessionEvent[];
  /** What speaks against answers that are probably wrong, as sentences. */
  doubts: string[];
  /** What follows for the pair from all answers; null if nothing does. */
  believed: "yes" | "no" | null;
  /** If it is about a card in a wrong pile: the card, with rows of its pile and of the better one. */
  screen: SortingScreen | null;
}

/** One of the answers that cannot all hold; `event` is null for the answer that was just given. */
export interface ConflictLink {
  first: number;
  second: number;
  names: [string, string];
  values?: string[];
  answer: "yes" | "no";
  event: number | null;
  kind: "answer" | "sort" | "add" | "import" | "move" | "done";
  /** Who gave the answer, or the file of an import. */
  source: string;
}

export interface Counts {
  answers: number;
  yes: number;
  no: number;
  unsure: number;
  /** Screens of rows that were sorted, and the cards on them. */
  screens: number;
  cards: number;
  added: number;
  imported: number;
  done: number;
  inferred: number;
}

export interface State {
  protocol: number;
  title: string;
  kind?: "record" | "text" | "image" | "series";
  /** Path of the session file; null while the session is in memory only. */
  place: string | null;
  rows: number;
  /** Whether labels take two bytes a row. */
  two_bytes: boolean;
  /** A number that changes with the labels. */
  labels: number;
  /** The number of each cluster, its colour family, from 0 to 11, and its shade within the family. */
  shades: [number, number, number][];
  event: number;
  busy: boolean;
  question: Question | null;
  sorting?: SortingOffers;
  /** Waiting: other people hold all questions that are worth asking now. */
  ended: "budget" | "exhausted" | "waiting" | null;
  agreement?: number | null;
  budget: number | null;
  /** The median of the last answers; null if nobody measured how long they took. */
  seconds_per_answer?: number | null;
  counts: Counts;
  changes: number[];
  /** What the learner advises, also in words; see `StopAdvice`. `stop` is null, and `text` empty, if it gives no advice. */
  advice: {
    stop: boolean | null;
    text: string;
    wrong?: number | null;
    most_wrong?: number | null;
    n_open?: number;
  };
  /** What the plot shows, as a sentence; empty if the places of the rows were given. */
  axes?: string;
  /** How the plot places the rows, and whether places by neighbours are being computed; null if they cannot be. */
  map?: { by: "axes" | "neighbours"; running: boolean; proposed: boolean } | null;
  clusters: Cluster[];
  more_clusters: number;
  rules?: boolean;
  /** Whether the host can say in a line what distinguishes each cluster. */
  profiles?: boolean;
  /**
   * Which columns the answers follow, if not the compared ones, as sentences; columns that would count less and
   * more by the answers, those whose weights can be taken back, and else the task that can.
   */
  columns?: { follows: string; less: string[]; more: string[]; weighed: string[]; task: string } | null;
  /** Whether the columns wait to be confirmed, and a number that changes with how rows are read; null without columns. */
  table?: { is_new: boolean; encoding: number } | null;
  learner: string;
  description: string[];
  notes?: string[];
  undo: SessionEvent | null;
  /** The estimated share of wrong answers, as a sentence; empty if all answers count as right. */
  errors?: string;
  /** How many answers are probably wrong. */
  n_suspects?: number;
  /** How many pairs wait for a review by whoever looks at the page. */
  n_review?: number;
  /** What "belong together" means here; missing if nobody wrote it down. */
  guidelines?: string;
  /** A few pairs that show it; missing if there are none. */
  examples?: Example[];
  /** What the last answers of this person moved, if several people answer. */
  moves?: { event: number; moved: string }[];
  /** Missing unless several people answer, each under a name. */
  team?: Team;
}

export type Use = "compare" | "show" | "id" | "ignore";

/** A column as a person sees it. */
export interface TableColumn {
  name: string;
  kind: string;
  kinds: string[];
  use: Use;
  example: string;
  /** The share of rows without a value. */
  missing: number;
  /** Its share of the distance between rows; null if they are not compared by it. */
  influence: number | null;
  /** Why it has this kind and use; empty if nothing is to be said. */
  reason: string;
  is_proposed: boolean;
  /** The use and the kind without the proposal; null if there is none that can be rejected. */
  otherwise: [Use, string] | null;
  /** Whether it can identify the rows: each has a value of its own. */
  is_unique: boolean;
  /** What it holds in both rows of the preview; empty if that is not shown. */
  values: string[];
}

/** A task that the columns look like, and the uses of columns for it. */
export interface ColumnTask {
  name: "answers" | "duplicates" | "texts" | "records";
  label: string;
  uses: Record<string, Use>;
  /** Of columns that become something else for it. */
  kinds: Record<string, string>;
  /** Whether another learner chooses the questions for it. */
  changes_learner: boolean;
}

/** The columns, and two rows as they are shown now. */
export interface TableColumns {
  columns: TableColumn[];
  /** What the answers follow comes first. */
  tasks: ColumnTask[];
  notes: string[];
  /** How the file was read, apart from what the columns say. */
  reading: string[];
  has_side_table: boolean;
  first: Item;
  second: Item;
  /** What was answered so far, in words; empty if nothing was. */
  facts: string;
  /** The name of the copy of the session that a change keeps; null before the first answer. */
  backup: string | null;
}

/** A pair that shows what belongs together. */
export interface Example {
  first: number;
  second: number;
  names: [string, string];
  answer: "yes" | "no";
  reason: string;
}

/** How much each person answered, and how often two of them agree. */
export interface TeamReport {
  people: {
    name: string;
    answers: number;
    unsure: number;
    added: number;
    gold: number;
    gold_right: number;
    median_seconds: number | null;
    /** An estimate with both ends of its interval, or one rate that was given; null with too few answers. */
    error_rate: [number, number, number] | null;
  }[];
  pairs: {
    names: [string, string];
    common: number;
    agreeing: number;
    /** With both ends of its interval; null with too few common pairs. */
    kappa: [number, number, number] | null;
  }[];
  least_answers: number;
  least_common: number;
}

/** Several people at one session, as one of them sees it. */
export interface Team {
  you: string;
  /** Answers of this person, and of everybody. */
  own: number;
  all: number;
  /** Who has the page open now. */
  here: string[];
  /** The median of the seconds that the answers of this person took; null if they are unknown. */
  median_seconds?: number | null;
}

/** What the controller asks of the page. */
export interface Display {
  showNotice(text: string, tone?: "calm" | "warn"): void;
  /** For screen readers. */
  announce(text: string): void;
  /** Show whether all is saved, and enable the buttons. */
  updateStatus(): void;
  updateSelection(): void;
  showConflict(conflict: Conflict): void;
  download(name: string, type: string, file: ArrayBufferView): void;
}

/** What the host sends before there is a question. */
export interface Opening {
  loading?: string;
  failed?: string;
}

/** A session that the start page lists. */
export interface RecentSession {
  path: string;
  folder: string;
  /** The name of its data file. */
  data: string;
  when: string;
  /** Missing if the session cannot be read. */
  answers?: number;
  clusters?: number;
  problem: string | null;
}

/** What is shown before anything is open. */
export interface StartState {
  /** Where linkwise was started, and dropped files are kept. */
  folder: string;
  /** The data files of the folder that have no session yet. */
  files: string[];
  sessions: RecentSession[];
  demos: { name: string; about: string }[];
  /** Bytes of a file that can be sent. */
  largest: number;
  endings: string[];
}

export interface Request {
  do: string;
  [name: string]: unknown;
}

export interface RequestError {
  kind: "bad" | "stale" | "contradiction" | "locked" | "failed" | "ended" | "lost";
  text: string;
  chain?: ConflictLink[];
}

/**
 * The fields of a result depend on the request. `moved` says which rows an answer moved; it is missing if the
 * host could not read the clusters after the answer. `follows` is the number of the event that stored an answer, if the
 * reply comes before the state that shows it.
 */
export type Reply =
  // biome-ignore lint/suspicious/noExplicitAny: each caller knows what it asked for
  | { ok: true; file?: ArrayBufferView; moved?: string; follows?: number; [name: string]: any }
  | { ok: false; error: RequestError };

/** The model of anywidget, or ours over a socket. */
export interface Model {
  // biome-ignore lint/suspicious/noExplicitAny: traits have several types
  get(name: string): any;
  // biome-ignore lint/suspicious/noExplicitAny: so do events
  on(event: string, listener: (...values: any[]) => void): void;
  // biome-ignore lint/suspicious/noExplicitAny: so do events
  off(event: string, listener: (...values: any[]) => void): void;
  send(request: Request & { id: string }): void;
}
