import type { Notice } from "../tasks/notice.js";
import type { Round } from "../tasks/round.js";
export declare function explain(notice: Notice, { ask }: Round, { spent, cap }: {
    spent: number;
    cap: number;
}): string;
