import type { Notice, Round } from "../tasks/notice.js";
export declare function explain(notice: Notice, { ask }: Round, { spent, cap }: {
    spent: number;
    cap: number;
}): string;
