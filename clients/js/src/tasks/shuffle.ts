// How the reports of a task are shuffled, and what that promises: part of the task's document.
// Loaded only for a shuffled task.  The twin of tasks/shuffle.py, which explains the promises.

import type { Blanket } from "../accounting/amplification.js";
import { batchOf, delta, genericBlanket, massOf } from "../accounting/amplification.js";
import { checkUrl } from "../core/addresses.js";
import { fromBase64url } from "../core/base64url.js";
import { plainText } from "../core/settings.js";
import { MismatchError, need } from "../errors.js";
import { checkEpsilon } from "../maths/exact.js";
import type { Document, Json } from "../wire/codec.js";
import { canonical, parse } from "../wire/codec.js";
import type { Fields } from "../wire/fields.js";
import { list, readFields, real, small, text } from "../wire/fields.js";
import type { Choice } from "./choice.js";
import type { Notice } from "./notice.js";
import type { Ask, Question } from "./question.js";

const MAX_HOPS = 3;
const MAX_USERS = 2 ** 30;
const MAX_URL = 200; // characters
const MAX_OVERLAP = 0.25; // beyond it the generic bound takes the place of long sums
const PROMISES = ["against_users", "central", "delta"] as const;

/** One shuffler: its address, and the long-term key that signs its round keys. */
export interface Hop {
  readonly url: string;
  readonly key: string;
}

const HOP = { url: text, key: text };
const SHAPE = {
  hops: list((hop) => readFields(hop, "hop", HOP)),
  key: text,
  users: small,
  fakes: small,
  central: real,
  against_users: real,
  delta: real,
};

/** Returns the shuffle in a document. */
export function readShuffle(document: Json): Shuffle {
  const fields = readFields(document, "shuffle", SHAPE);
  const { hops, key, users, fakes } = fields;
  need(
    hops.length >= 1 && hops.length <= MAX_HOPS,
    `\`hops\` must have from 1 to ${MAX_HOPS} entries`,
  );
  for (const hop of hops) {
    plainText("url", hop.url, MAX_URL);
    checkUrl("url", hop.url);
    fromBase64url("key", hop.key, 32);
  }
  const keys = new Set(hops.map((hop) => hop.key));
  need(keys.size === hops.length, "`hops` must differ in their keys");
  fromBase64url("key", key, 32);
  need(isWhole(users, 2), `\`users\` must be a whole number from 2 to ${MAX_USERS}`);
  need(isWhole(fakes, 0), `\`fakes\` must be a whole number from 0 to ${MAX_USERS}`);
  checkEpsilon(fields.central);
  checkEpsilon(fields.against_users);
  need(+fields.delta > 0 && +fields.delta < 1, "`delta` must be a number above 0 and below 1");
  return new Shuffle(fields);
}

function isWhole(number: number, low: number): boolean {
  return Number.isInteger(number) && number >= low && number <= MAX_USERS;
}

/** The hops in the order of the messages, the size of a batch, and what both promise. */
export class Shuffle {
  readonly hops: readonly Hop[];
  /** The long-term key of the collector, which signs its own round keys. */
  readonly key: string;
  readonly users: number;
  readonly fakes: number;
  readonly central: string;
  readonly againstUsers: string;
  readonly delta: string;

  constructor(fields: Fields<typeof SHAPE>) {
    this.hops = fields.hops;
    this.key = fields.key;
    this.users = fields.users;
    this.fakes = fields.fakes;
    this.central = fields.central;
    this.againstUsers = fields.against_users;
    this.delta = fields.delta;
  }

  /** Returns the long-term keys of all who remove a layer: the hops', then the collector's. */
  get signingKeys(): Uint8Array[] {
    const keys = [...this.hops.map((hop) => hop.key), this.key];
    return keys.map((key) => fromBase64url("key", key, 32));
  }

  /**
   * Refuses a shuffle that hides less than it promises, or nothing at all.  The document promises
   * the same for all its rounds, of which it states the opening only: whatever the others ask
   * must keep it.
   */
  check({ distinct, declares, collection, rounds, epsilon }: Notice, ask: Ask): void {
    need(
      distinct === undefined,
      "`distinct` must be left out of a shuffled task: permanent responses link the messages " +
        "of one person",
    );
    need(
      !declares.includes("public"),
      "`declares` must not hold 'public' in a shuffled task: a person hides only among those " +
        "with equal public columns",
    );
    need(
      !collection?.enrolment,
      "`enrolment` must be false in a shuffled task: a token would tell whose message it is. " +
        "Use blind tokens (`issuer`)",
    );
    const promises = [
      ["central", +this.central, this.users],
      ["against_users", +this.againstUsers, 1],
    ] as const;
    for (const [name, promised, users] of promises) {
      const promise = `\`${name}\` of the shuffle promises epsilon ${promised}, which`;
      need(
        this.#isKept(promised, blanketOf(ask), users),
        `${promise} its users and fakes do not give at delta ${+this.delta}: state more, or ` +
          "raise `users` or `fakes`",
      );
      need(
        !rounds || this.#isKept(promised, genericBlanket(+epsilon), users),
        `${promise} later rounds of local epsilon ${+epsilon} need not keep at delta ` +
          `${+this.delta}: state what every mechanism keeps, or raise \`users\` or \`fakes\``,
      );
    }
  }

  /** Returns what a shuffled answer reveals to the collector if a shuffler is honest. */
  conditional(epsilon: string): { epsilon: string; delta: string } | undefined {
    if (+this.central >= +epsilon) return undefined;
    return { epsilon: this.central, delta: this.delta };
  }

  /** Returns what a device remembers: who mixes, and what that promises. */
  meaning({ collection }: Notice): string {
    return canonical({
      against_users: this.againstUsers,
      central: this.central,
      delta: this.delta,
      hops: this.hops.map(({ url, key }) => [url, key]),
      tokens: collection?.issuer !== undefined,
    });
  }

  /** Refuses a task that reveals more to its collector than the application accepts. */
  refuseAbove(central: number, name: string): void {
    if (+this.central > central)
      throw new MismatchError(
        `the task '${name}' reveals epsilon ${+this.central} to the collector, ` +
          `and the application accepts at most ${central}`,
      );
  }

  /** Returns whether the task protects less than before, or by other hops. */
  isWorseThan(before: string, notice: Notice): boolean {
    const old: Document = parse(before);
    const now: Document = parse(this.meaning(notice));
    return (
      canonical(old.hops!) !== canonical(now.hops!) ||
      (old.tokens === true && !now.tokens) ||
      PROMISES.some((promise) => Number(now[promise]) > Number(old[promise]))
    );
  }

  #isKept(promised: number, blanket: Blanket, users: number): boolean {
    if (promised >= blanket.epsilonLocal) return true; // holds without any shuffling
    return accountedBlankets(blanket).some((each) => {
      return delta(each, batchOf(each, users, this.fakes), promised) <= +this.delta;
    });
  }
}

/** Returns the blankets that devices compute with; what follows from any of them holds. */
export function accountedBlankets(blanket: Blanket): Blanket[] {
  const generic = genericBlanket(blanket.epsilonLocal);
  return blanket.overlap > MAX_OVERLAP ? [generic] : [blanket, generic];
}

/** Returns what hides one person's message among the shuffled messages of a round. */
export function blanketOf(ask: Ask): Blanket {
  if ("mechanism" in ask) return questionBlanket(ask as Question);
  if ("members" in ask) return choiceBlanket(ask as Choice);
  return genericBlanket(+ask.epsilon); // of a bundle nothing is known but its epsilon
}

/** An encoding mixes laws of the mechanism; a cheaper question is known by its epsilon alone. */
function questionBlanket({ mechanism, epsilon }: Question): Blanket {
  const { share, overlap = 0 } = mechanism;
  if (+mechanism.epsilon > +epsilon) return genericBlanket(+epsilon);
  if (share === undefined) return genericBlanket(+mechanism.epsilon);
  return { epsilonLocal: +mechanism.epsilon, share, overlap, drawable: true };
}

/** The blanket of all members together, for a coin that the collector cannot see. */
function choiceBlanket({ members, weights }: Choice): Blanket {
  const examples: readonly Ask[] =
    "representatives" in members ? members.representatives : members;
  const [first, ...others] = examples.map((ask) => ("mechanism" in ask ? ask.mechanism : ask));
  if (others.every((other) => other === first)) return blanketOf(members.at(0)!);
  const parts = Array.from({ length: members.length }, (_, member) => {
    return { weight: weights[member] ?? 1, blanket: blanketOf(members.at(member)!) };
  });
  return mixture(parts);
}

/** All parts count with the largest local epsilon; a report shows its part, not its person. */
function mixture(parts: readonly { weight: number; blanket: Blanket }[]): Blanket {
  const epsilonLocal = parts.reduce((most, { blanket }) => Math.max(most, blanket.epsilonLocal), 0);
  let mass = 0;
  let supporting = 0;
  let both = 0;
  for (const { weight, blanket } of parts) {
    const raised = weight * massOf({ ...blanket, epsilonLocal });
    mass += raised;
    supporting += raised * blanket.share;
    both += raised * blanket.share * blanket.overlap;
  }
  const drawable = parts.every(({ blanket }) => blanket.drawable);
  return { epsilonLocal, share: supporting / mass, overlap: both / supporting, drawable };
}
