// A choice: every person is asked one member of a list or of a family, picked by a public coin.

import { MAX_LISTED_MEMBERS } from "../core/bounds.js";
import type { Reading } from "../core/registry.js";
import { readFamily } from "../core/registry.js";
import { need } from "../errors.js";
import { stated } from "../maths/exact.js";
import type { Json } from "../wire/codec.js";
import { lengthOf, list, readFields, small } from "../wire/fields.js";
import type { Family } from "./families/base.js";
import type { Address, Ask, Question } from "./question.js";
import { readAsk } from "./question.js";

const MAX_WEIGHT = 2 ** 32; // of all members together, exclusive

/**
 * One member of a list or a family; with `weights` some members are more likely than others.
 * The coin is public and independent of the value, so a choice costs what its dearest member costs.
 */
export class Choice implements Ask {
  readonly epsilon: string;
  readonly epsilonOnce: number;
  readonly width: number;
  readonly slots: number;
  readonly hasCoin = true;
  readonly representatives: readonly Question[];

  constructor(
    readonly members: readonly Ask[] | Family,
    readonly weights: readonly number[],
  ) {
    const asks: readonly Ask[] = "representatives" in members ? members.representatives : members;
    const dearest = (left: Ask, right: Ask): Ask =>
      stated(right.epsilon) > stated(left.epsilon) ? right : left;
    const largest = (number: (ask: Ask) => number): number =>
      asks.reduce((largest, ask) => Math.max(largest, number(ask)), 0);
    this.epsilon = asks.reduce(dearest).epsilon;
    this.epsilonOnce = largest((ask) => ask.epsilonOnce);
    this.width = largest((ask) => ask.width);
    this.slots = largest((ask) => ask.slots);
    this.representatives = asks.flatMap((ask) => ask.representatives);
  }

  at(member: number, slot: number): Question {
    return this.members.at(member)!.at(0, slot);
  }

  addresses(coin: (slot: number) => bigint, slot = 0): Address[] {
    const member = pick(this.members.length, this.weights, coin(slot));
    const addresses = this.members.at(member)!.addresses(coin, slot);
    return addresses.map((address) => ({ ...address, member }));
  }
}

/** Returns the member that a 64-bit coin picks; without weights all are equally likely. */
export function pick(members: number, weights: readonly number[], coin: bigint): number {
  let position = Number((coin * BigInt(weights.length ? sum(weights) : members)) >> 64n);
  return weights.length ? weights.findIndex((weight) => (position -= weight) < 0) : position;
}

export function read(document: Json, reading: Reading): Choice {
  const count = lengthOf(document, "members");
  need(
    count > 0 && count <= MAX_LISTED_MEMBERS,
    `\`members\` must have from 1 to ${MAX_LISTED_MEMBERS} entries`,
  );
  const readMembers = (members: Json): readonly Ask[] | Family =>
    Array.isArray(members)
      ? members.map((member) => readAsk(member, reading))
      : readFamily(members, reading);
  const shape = { members: readMembers, weights: list(small) };
  const { members, weights } = reading.within("choice", () =>
    readFields(document, "choice", shape),
  );
  need(
    !weights.length || weights.length === members.length,
    "`weights` of a choice must have one entry per member",
  );
  need(
    weights.every((weight) => weight >= 1),
    "`weights` of a choice must be positive whole numbers",
  );
  need(
    (sum(weights) || members.length) < MAX_WEIGHT,
    "`weights` of a choice must sum to less than 2^32",
  );
  return new Choice(members, weights);
}

function sum(weights: readonly number[]): number {
  return weights.reduce((total, weight) => total + weight, 0);
}
