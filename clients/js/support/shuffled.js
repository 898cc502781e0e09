// What the tests in Python let a device in Node or in a browser do with a shuffled task.

import { batchOf, epsilon as epsilonOf } from "../dist/accounting/amplification.js";
import { hex, unhex } from "../dist/bytes.js";
import { blindedToken, finishToken } from "../dist/client/blind_token.js";
import { Client, noticeOf } from "../dist/client/client.js";
import { MemoryLedger } from "../dist/client/ledger.js";
import { Sealing } from "../dist/client/sealing.js";
import { accountedBlankets, blanketOf } from "../dist/tasks/shuffle.js";
import { openLayer } from "../dist/wire/seal.js";

const clients = new Map(); // devices that wait for the signature of an issuer

const keysOf = ({ keys, setSignatures }) => ({
  setSignatures: setSignatures.map(unhex),
  keys: keys.map(([publicKey, signature]) => ({
    publicKey: unhex(publicKey),
    signature: unhex(signature),
  })),
});

/** Returns the name and the text of what some work throws, or nothing. */
export async function refusalOf(work) {
  try {
    await work();
    return null;
  } catch (error) {
    return [error.name, error.message];
  }
}

/** Returns why a document is refused, if it is. */
export const refusedTask = (text) => refusalOf(() => noticeOf(text));

/** Returns why a round of a task is refused, if it is. */
export async function refusedRound({ text, round }) {
  const client = await Client.open(text, new MemoryLedger());
  return refusalOf(() => client.round(round));
}

/** Returns what the numbers of a document give: the two epsilons at its delta. */
export async function promises(text) {
  const { opening, shuffle } = await noticeOf(text);
  const own = blanketOf(opening.ask);
  const { share, overlap, epsilonLocal } = own;
  const [blanket] = accountedBlankets(own);
  const at = (users) =>
    epsilonOf(blanket, batchOf(blanket, users, shuffle.fakes), +shuffle.delta);
  return { share, overlap, epsilonLocal, central: at(shuffle.users), againstUsers: at(1) };
}

/** Returns the statement of a task for a device that has answered it, or has not. */
export async function explainTask({ text, charges }) {
  const client = await Client.open(text, new MemoryLedger());
  await client.ledger.update((file) => void file.charges.push(...charges));
  return client.explain();
}

/** Returns why a document is refused by a device that has agreed to another, if it is. */
export async function refusedChange({ before, now }) {
  const ledger = new MemoryLedger();
  await (await Client.open(before, ledger)).agree();
  const client = await Client.open(now, ledger);
  return refusalOf(() => client.checkTask(client.notice.opening));
}

/** Returns a sealed answer, and the same again. */
export async function sealAnswer({ text, keys, value }) {
  const client = await Client.open(text, new MemoryLedger());
  const { opening } = client.notice;
  const sealing = await Sealing.open(client.notice, opening, keysOf(keys));
  const message = await client.answer(value, opening, sealing);
  return { message: hex(message), again: hex(await client.resend()) };
}

/** Returns why keys are refused, if they are. */
export async function refusedKeys({ text, keys }) {
  const notice = await noticeOf(text);
  return refusalOf(() => Sealing.open(notice, notice.opening, keysOf(keys)));
}

/** Returns the number that an issuer has to sign for a new device, twice. */
export async function beginToken(text) {
  const client = await Client.open(text, new MemoryLedger());
  clients.set(client.notice.digest, client);
  return [hex(await blindedToken(client)), hex(await blindedToken(client))];
}

/** Returns the sealed answer of that device, its token and its coin. */
export async function answerWithToken({ text, keys, value, signature }) {
  const client = clients.get((await noticeOf(text)).digest);
  const { opening, digest } = client.notice;
  await finishToken(client, unhex(signature));
  await finishToken(client, unhex(signature)); // another tab was faster
  const sealing = await Sealing.open(client.notice, opening, keysOf(keys));
  const message = hex(await client.answer(value, opening, sealing));
  const entry = await client.ledger.update((file) => file.tasks[digest]);
  return { message, token: entry.token, coin: entry.coin, isPending: "pending" in entry };
}

/** Returns the message of that device for a task without a shuffler, and its token. */
export async function answerDirectly({ text, value, signature }) {
  const client = clients.get((await noticeOf(text)).digest);
  await finishToken(client, unhex(signature));
  const message = hex(await client.answer(value));
  const entry = await client.ledger.update((file) => file.tasks[client.notice.digest]);
  return { message, token: entry.token, again: hex(await client.resend()) };
}

/** Returns what is under the last layer of sealed messages. */
export async function openAll({ messages, privateKeys, context }) {
  const opened = [];
  for (let message of messages.map(unhex)) {
    for (const [hop, key] of privateKeys.entries())
      message = await openLayer(
        message,
        unhex(key),
        { ...context, digest: unhex(context.digest) },
        hop,
      );
    opened.push(hex(message));
  }
  return opened;
}
