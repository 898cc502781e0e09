import type { Notice, Round } from "./task.js";
export declare function explain(notice: Notice, { ask }: Round, { spent, cap }: {
    spent: number;
    cap: number;
}): string;
