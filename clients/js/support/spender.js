// A process that spends from a shared ledger file and prints every message that may leave.
// Its arguments are the path of the ledger and the names of tasks.

import { BudgetError, Client, FileLedger } from "../dist/node.js";
import { browserTask } from "./tasks.js";

const [path, ...names] = process.argv.slice(2);
const ledger = new FileLedger(path);
for (const name of names) {
  const client = await Client.open(await browserTask({ name }), ledger);
  try {
    console.log(Buffer.from(await client.answer("firefox")).toString("hex"));
  } catch (error) {
    if (!(error instanceof BudgetError)) throw error;
  }
}
