// From an index to the bytes that may leave the device: one envelope for every report.
// If the task declares a subject, its bytes are drawn first; then every slot draws its report and
// its report id.

import { concatenate } from "../bytes.js";
import { choiceCoin } from "../core/coin.js";
import type { Rng } from "../core/rng.js";
import type { Index, PersonTables } from "../domains/base.js";
import { need } from "../errors.js";
import { isWithin } from "../maths/exact.js";
import type { Notice } from "../tasks/notice.js";
import type { Address, Question } from "../tasks/question.js";
import type { Round } from "../tasks/round.js";
import { digestBytesOf, writeEnvelope } from "../wire/envelope.js";

export interface AddressedQuestion {
  readonly address: Address;
  readonly question: Question;
}

/** Makes the payload of one slot. */
export type MakePayload = (asked: AddressedQuestion, index: Index, rng: Rng) => Uint8Array;

/** Returns what this device is asked; its 16 bytes decide which members of choices. */
export function questionsFor(
  notice: Notice,
  { number, ask }: Round,
  deviceBytes: Uint8Array,
): AddressedQuestion[] {
  const round = notice.distinct ? 0 : number; // a longitudinal task asks the same member again
  const addresses = ask.addresses((slot) => choiceCoin(deviceBytes, round, slot));
  return addresses.map((address) => {
    const question = ask.at(address.member, address.slot);
    checkDomain(notice, question);
    return { address, question };
  });
}

/** Refuses a domain with values that the mechanism cannot take: silence would reveal them. */
function checkDomain({ domain, distinct }: Notice, question: Question): void {
  const { mechanism, encoding, epsilon } = question;
  const outputs = encoding ? encoding.outputs(domain) : domain.size;
  need(outputs <= mechanism.size, "the mechanism must serve all values of the task's domain");
  need(
    mechanism.size <= 2 ** 63 || outputs > 2 ** 63,
    "the mechanism serves values of more than 63 bits, " +
      "but those of the task's domain are shorter",
  );
  if (!distinct) return;
  need(outputs <= 2 ** 32, "a longitudinal task may have at most 2^32 encoded values");
  // All responses of a device share the draw of the encoding, which hides only a single one.
  need(
    isWithin(mechanism.worstRatio, epsilon),
    "in a longitudinal task the mechanism alone must keep to the `epsilon` of its question",
  );
}

export interface MessageParts {
  readonly notice: Notice;
  readonly round: Round;
  readonly questions: readonly AddressedQuestion[];
  readonly index: Index;
  readonly makePayload?: MakePayload | undefined;
}

export function writeMessage(parts: MessageParts, rng: Rng): Uint8Array {
  const { notice, round, questions, index, makePayload = freshPayload } = parts;
  const { width, slots } = round.ask;
  const { envelopeVersion: version, fingerprint } = notice;
  const digest = fingerprint.slice(0, digestBytesOf(version));
  // The subject says which reports belong together, and nothing else.
  const subject = notice.declares.includes("subject") ? rng.bytes(16) : undefined;
  const envelopes = questions.map((asked) => {
    const { member, slot } = asked.address;
    const payload = new Uint8Array(width);
    payload.set(makePayload(asked, index, rng));
    return writeEnvelope({
      version,
      digest,
      round: round.number,
      member,
      id: rng.bytes(16),
      payload,
      subject,
      slot: slots > 1 ? slot : undefined,
      public: (index as PersonTables).public,
    });
  });
  return concatenate(...envelopes);
}

/** Returns a report that is drawn now; `draw` gives its hash seed, if it is not drawn, too. */
export function freshPayload(
  { question: { mechanism, encoding } }: AddressedQuestion,
  index: Index,
  rng: Rng,
  draw?: bigint,
): Uint8Array {
  const encoded = encoding ? encoding.encode(index, rng) : index;
  return mechanism.instantaneous(mechanism.permanent(encoded, rng, draw), rng);
}
