// A device in Node that answers a shuffled task over HTTP, for the tests in Python.

import { Device, MemoryLedger } from "../dist/node.js";
import { refusalOf } from "./shuffled.js";

/** Returns what a device says and keeps: its refusal, its outbox and what it sent. */
export async function answerShuffled({ url, name, value, clock, ...options }) {
  const ledger = new MemoryLedger({ clock: () => clock });
  const device = new Device(url, { ...options, ledger });
  const refused = await refusalOf(() => device.answer(name, value));
  const reports = await device.waiting();
  const waits = reports.map(({ due, posted }) => due - posted);
  const addresses = reports.map((report) => report.url);
  const flushed = await device.flush({ force: true });
  const charges = await ledger.entries();
  device.close();
  return { refused, waits, addresses, flushed, charges };
}
