import type { DeviceFacts } from "../client/spending.js";
import type { Collection } from "../tasks/collection.js";
import type { Notice } from "../tasks/notice.js";
import type { Round } from "../tasks/round.js";
import type { Whole } from "./fields.js";
import type { Texts } from "./languages.js";
type Setting = Whole | string | readonly string[] | {
    readonly decimal: string;
};
export type ValueFacts = {
    readonly kind: string;
} & Readonly<Record<string, Setting>>;
interface TableFacts {
    readonly name: string;
    readonly most: number;
    readonly rows: number;
    readonly coin: boolean;
}
interface ShuffleFacts {
    readonly hops: readonly string[];
    readonly users: number;
    readonly fakes: number;
    readonly central: number;
    readonly againstUsers: number;
    readonly delta: number;
}
export interface Facts {
    readonly task: string;
    readonly description: string;
    readonly values: ValueFacts;
    readonly mechanisms: readonly string[];
    readonly encodings: readonly string[];
    readonly coin: boolean;
    readonly reports: number;
    readonly tables: readonly TableFacts[];
    readonly public: readonly string[];
    readonly epsilon: number;
    readonly odds: number;
    readonly longitudinal?: {
        distinct: number;
        response: number;
        once: number;
    } | undefined;
    readonly shuffle?: ShuffleFacts | undefined;
    readonly collector?: Collection | undefined;
    readonly device: DeviceFacts;
}
export declare function statement(notice: Notice, { ask }: Round, device: DeviceFacts): Facts;
export declare function explain(facts: Facts, texts: Texts): string;
export {};
