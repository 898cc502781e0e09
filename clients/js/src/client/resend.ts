// The message of an earlier answer, exactly as it was made: what a retry sends.

import { unhex } from "../bytes.js";
import { BudgetError } from "../errors.js";
import type { Round } from "../tasks/round.js";
import type { Client } from "./client.js";
import { MESSAGE_DAYS, taskEntry } from "./ledger_file.js";

/** Returns the bytes of the answer to a round, or of the last answer; they never change. */
export async function keptMessage({ ledger, notice }: Client, round?: Round): Promise<Uint8Array> {
  const { messages } = await ledger.update((file) => taskEntry(file, notice.digest));
  const message = round ? messages[round.number] : Object.values(messages).pop(); // by round
  if (!message) throw new BudgetError("this device has not answered this task");
  if (!message.bytes)
    throw new BudgetError(
      `the message of this task arrived more than ${MESSAGE_DAYS} days ago, ` +
        "and this device has erased it",
    );
  return unhex(message.bytes);
}
