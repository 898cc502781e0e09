// From an index to the bytes that may leave the device: a subject where one is declared, then every slot's report and
// its report id.

import { joined } from "../bytes.js";
import { choiceCoin, pick } from "../core/coin.js";
import type { Holdings, Index } from "../domains/base.js";
import { sealed } from "../wire/envelope.js";
import { need } from "../errors.js";
import { within } from "../maths/exact.js";
import type { Random } from "../core/rng.js";
import type { Ask, Choice, Notice, Question, Round } from "../tasks/notice.js";

export interface Asked {
  readonly member: number;
  readonly slot: number;
  readonly question: Question;
}

/** Returns what this device is asked: its 16 bytes pick members, a bundle fills every slot. */
export function questions(notice: Notice, round: Round, kept: Uint8Array): Asked[] {
  const number = notice.distinct ? 0 : round.number; // asked again, it answers the same member
  const picked = (choice: Choice, slot: number) => pick(choice, choiceCoin(kept, number, slot));
  const { ask } = round;
  const member = "members" in ask ? picked(ask, 0) : 0;
  const chosen = "members" in ask ? ask.members.at(member)! : ask;
  return ("parts" in chosen ? chosen.parts : [chosen]).map((part, slot) => {
    const own = "members" in part ? picked(part, slot) : member;
    const question = ("members" in part ? part.members.at(own)! : part) as Question;
    checkDomain(notice, question);
    return { member: own, slot, question };
  });
}

/** How the report in one slot is made. */
export type Report = (asked: Asked, index: Index, random: Random) => Uint8Array;

export function message(
  notice: Notice,
  round: Round,
  asked: Asked[],
  index: Index,
  random: Random,
  report: Report = once,
): Uint8Array {
  const slotted = slots(round.ask) > 1;
  // Tells which slots belong together, and nothing else.
  const subject = notice.declares.includes("subject") ? random.bytes(16) : undefined;
  return joined(
    ...asked.map((one) => {
      const payload = new Uint8Array(round.ask.width);
      payload.set(report(one, index, random));
      const slot = slotted ? one.slot : undefined;
      return sealed({
        digest: notice.digestBytes,
        round: round.number,
        member: one.member,
        id: random.bytes(16),
        payload,
        subject,
        slot,
        public: (index as Holdings).public,
      });
    }),
  );
}

/** Refuses a domain with values that the mechanism cannot take: silence would give them away. */
function checkDomain({ domain, distinct }: Notice, { mechanism, encoding, epsilon }: Question): void {
  const outputs = encoding ? encoding.outputs(domain) : domain.size;
  need(outputs <= mechanism.size, "this question has no answer for some values of its task's domain");
  need(!distinct || outputs <= 2 ** 32, "responses are remembered for at most 2^32 values");
  // Several responses of one device share the draw that hides a single one.
  need(!distinct || within(mechanism.ratio, epsilon), "this question hides no more than one response");
}

function once({ question: { mechanism, encoding } }: Asked, index: Index, random: Random): Uint8Array {
  const encoded = encoding ? encoding.encode(index, random) : index;
  return mechanism.instantaneous(mechanism.permanent(encoded, random), random);
}

/** Returns how many slots a user fills at the most. */
function slots(ask: Ask): number {
  if ("parts" in ask) return ask.parts.length;
  return "members" in ask ? ask.different.reduce((most, one) => Math.max(most, slots(one)), 1) : 1;
}
