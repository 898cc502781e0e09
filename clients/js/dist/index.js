export { Client } from "./client.js";
export { AccessError, BudgetError, CodecError, DomainError, MismatchError, MissingExtraError, NoDataError, ParameterError, SottovoceError, StateError, UnavailableError, } from "./errors.js";
export { Ledger, MemoryLedger } from "./ledger.js";
