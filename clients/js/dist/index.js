export { Client } from "./client/client.js";
export { Ledger, MemoryLedger } from "./client/ledger.js";
export { AccessError, BudgetError, CodecError, DomainError, MismatchError, MissingExtraError, NoDataError, ParameterError, SottovoceError, StateError, UnavailableError, } from "./errors.js";
