// What an application agrees that a task may ask, and what a device remembers of the first time.
// The document of a task is written by the collector.  What the application leaves open must stay
// what it was when a task of that name was first answered.  Columns in clear are never a matter of
// memory: the application must name them.

import { MismatchError } from "../errors.js";
import type { Notice } from "../tasks/notice.js";
import type { Document } from "../wire/codec.js";
import { canonical, digest } from "../wire/codec.js";
import type { LedgerFile } from "./ledger_file.js";

/** What an application agrees that a task of some name may ask. */
export interface Accepts {
  /** The domain of the task, as its document (default: that of the first use). */
  readonly domain?: Document;
  /** The most that the task may cost (default: what it cost at the first use). */
  readonly epsilon?: number;
  /** The columns that may leave in clear (default: none). */
  readonly public?: readonly string[];
  /** The kinds of plans that may ask (default: any). */
  readonly plans?: readonly string[];
  /** The digest that the document must have (default: any). */
  readonly digest?: string;
  /** The most that the task may promise to reveal to its collector; it must be shuffled. */
  readonly central?: number;
}

/** What the answer to a task means, as text, so that another meaning is noticed. */
export interface Meaning {
  readonly declares: string;
  readonly distinct: string;
  readonly domain: string;
  readonly epsilon: string;
  /** Who mixes and what that promises; empty if nobody does. */
  readonly shuffle?: string;
}

/** What a task asked when it was first answered; `origin` is the address of its collector. */
export interface KnownMeaning extends Meaning {
  readonly origin: string;
  readonly name: string;
}

/** A task of a collector, and what the app agrees that it may ask. */
export interface Asked {
  readonly origin: string;
  readonly notice: Notice;
  readonly accepts: Accepts;
}

/** Refuses a task that asks for more than the application agrees to. */
export function refuseUnaccepted(notice: Notice, accepts: Accepts): void {
  const { domain, epsilon, public: columns = [], plans, digest: pinned, central } = accepts;
  const refuseIf = (condition: boolean | undefined, reason: string): void => {
    if (condition) throw new MismatchError(`the task '${notice.name}' ${reason}`);
  };
  refuseIf(
    pinned !== undefined && pinned !== notice.digest,
    "has another digest than the application accepts",
  );
  refuseIf(
    plans && !plans.includes(notice.plan),
    "asks by another plan than the application accepts",
  );
  refuseIf(
    domain && canonical(domain) !== canonical(notice.domainDocument),
    "asks for another domain than the application accepts",
  );
  refuseIf(
    epsilon !== undefined && +notice.epsilon > epsilon,
    `costs epsilon ${+notice.epsilon}, and the application accepts at most ${epsilon}`,
  );
  if (central !== undefined) {
    refuseIf(!notice.shuffle, "is not shuffled, and the application accepts only that");
    notice.shuffle!.refuseAbove(central, notice.name);
  }
  for (const column of notice.domain.publicNames ?? [])
    refuseIf(
      !columns.includes(column),
      `sends the column '${column}' in clear, and the application does not accept that`,
    );
}

/** Refuses a task that asks, where the app has stated nothing, for something else than before. */
export function refuseChanged(file: LedgerFile, { origin, notice, accepts }: Asked): void {
  const known = file.meanings.find((meaning) => isOf(meaning, origin, notice));
  if (!known || accepts.digest !== undefined) return;
  const stated = (["domain", "epsilon"] as const).filter((field) => accepts[field] !== undefined);
  const meaning = meaningOf(notice);
  const fields = Object.keys(meaning) as (keyof Meaning)[];
  const changed = fields.find(
    (field) =>
      !stated.some((own) => own === field) &&
      meaning[field] !== known[field] &&
      (field !== "shuffle" || isWorse(known.shuffle, notice)),
  );
  if (changed)
    throw new MismatchError(
      `the task '${notice.name}' asks for something else than when this device first answered ` +
        `it: \`${changed}\` has changed; call agree() if the app or the owner agrees`,
    );
}

/** A shuffle may become better, and may not become worse. */
function isWorse(before: string | undefined, notice: Notice): boolean {
  return Boolean(before) && (notice.shuffle?.isWorseThan(before!, notice) ?? true);
}

/** Remembers what a task means, so that a document with another meaning is refused. */
export function remember(file: LedgerFile, origin: string, notice: Notice): void {
  const others = file.meanings.filter((meaning) => !isOf(meaning, origin, notice));
  file.meanings = [...others, { origin, name: notice.name, ...meaningOf(notice) }];
}

function meaningOf(notice: Notice): Meaning {
  const { declares, distinct, domainDocument, epsilon, shuffle } = notice;
  return {
    declares: declares.join(),
    distinct: String(distinct ?? ""),
    domain: digest(domainDocument),
    epsilon,
    shuffle: shuffle?.meaning(notice) ?? "",
  };
}

function isOf(meaning: KnownMeaning, origin: string, { name }: Notice): boolean {
  return meaning.origin === origin && meaning.name === name;
}
