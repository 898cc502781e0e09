export type { Charge, Refused, Window } from "./client/ledger_file.js";
export { Client } from "./client/client.js";
export type { Collection } from "./tasks/collection.js";
export { AccessError, BudgetError, CodecError, DomainError, MismatchError, MissingExtraError, NoDataError, ParameterError, SottovoceError, StateError, UnavailableError, } from "./errors.js";
export type { Options } from "./client/ledger.js";
export { Ledger, MemoryLedger } from "./client/ledger.js";
export type { Notice, Round } from "./tasks/notice.js";
