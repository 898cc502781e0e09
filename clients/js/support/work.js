// How much work the package does, whatever else the machine does: V8 counts how often every block
// of its code is executed (a body of a function, of a loop, of a branch).

import { Session } from "node:inspector";

const PACKAGE = /\/dist\/.+\.js$/;

/** Counts the executed blocks of the built package between `start` and `stop`. */
export class WorkCounter {
  #session = new Session();

  start() {
    this.#session.connect();
    this.#post("Profiler.enable");
    this.#post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  }

  /** Returns how many blocks were executed since the last call, or since the start. */
  take() {
    const { result } = this.#post("Profiler.takePreciseCoverage");
    const files = result.filter(({ url }) => PACKAGE.test(url));
    const functions = files.flatMap((file) => file.functions);
    const blocks = functions.flatMap(({ ranges }) => ranges);
    return blocks.reduce((sum, { count }) => sum + count, 0);
  }

  stop() {
    this.#post("Profiler.stopPreciseCoverage");
    this.#session.disconnect();
  }

  /** The profiler of the own process answers before `post` returns. */
  #post(method, parameters) {
    let answer;
    this.#session.post(method, parameters, (error, result) => {
      if (error) throw new Error(error.message);
      answer = result;
    });
    return answer;
  }
}
