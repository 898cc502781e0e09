export type { Charge, Refused, Window } from "./book.js";
export { Client } from "./client.js";
export type { Collection } from "./collection.js";
export { AccessError, BudgetError, CodecError, DomainError, MismatchError, MissingExtraError, NoDataError, ParameterError, SottovoceError, StateError, UnavailableError, } from "./errors.js";
export type { Options } from "./ledger.js";
export { Ledger, MemoryLedger } from "./ledger.js";
export type { Notice, Round } from "./task.js";
