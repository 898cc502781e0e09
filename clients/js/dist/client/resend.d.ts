import type { Round } from "../tasks/round.js";
import type { Client } from "./client.js";
export declare function keptMessage({ ledger, notice }: Client, round?: Round): Promise<Uint8Array>;
