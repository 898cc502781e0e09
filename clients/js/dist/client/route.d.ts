import type { Receipt, Report } from "./outbox.js";
import type { Address } from "./transport.js";
export interface Route {
    readonly url: string;
    send(report: Report): Promise<Receipt>;
}
export declare class DirectRoute implements Route {
    #private;
    readonly url: string;
    constructor(address: Address);
    send({ name, message, token }: Report): Promise<Receipt>;
}
export declare class ShuffledRoute implements Route {
    #private;
    readonly url: string;
    constructor(address: Address);
    send({ fingerprint, round, message }: Report): Promise<Receipt>;
}
export declare function receiptBy(route: Route, report: Report): Promise<Receipt>;
