// The core: everything but storage and sending.  `browser` and `node` add these.

export type { Accepts } from "./client/accepts.js";
export type { ClientOptions, Notify } from "./client/client.js";
export { Client } from "./client/client.js";
export type { LedgerOptions } from "./client/ledger.js";
export { Ledger, MemoryLedger } from "./client/ledger.js";
export type { RefusedReport, Report } from "./client/outbox.js";
export {
  AccessError,
  BudgetError,
  CodecError,
  DomainError,
  MismatchError,
  MissingExtraError,
  NoDataError,
  ParameterError,
  SottovoceError,
  StateError,
  UnavailableError,
} from "./errors.js";
export type { Charge, SpendingWindow } from "./tasks/budget.js";
export type { Collection } from "./tasks/collection.js";
export type { Notice } from "./tasks/notice.js";
export type { Round } from "./tasks/round.js";
