// Routes: how the messages of a device travel to the collector.
//
// A device makes a message and puts it into its outbox; the route carries it when it is due.  A
// message is filed under the address of its route and leaves by that route only, because what an
// answer reveals may depend on who sees it arrive.

import { UnavailableError } from "../errors.js";
import type { Receipt, Report } from "./outbox.js";
import type { Address } from "./transport.js";
import { send } from "./transport.js";

/** How messages travel. */
export interface Route {
  /** The address that messages are sent to. */
  readonly url: string;
  /**
   * Sends the message of one report, with its enrolment token if its task needs one.  An
   * `UnavailableError` says that nothing can be sent by this route now.
   */
  send(report: Report): Promise<Receipt>;
}

/** Messages go straight to the collector, over HTTP. */
export class DirectRoute implements Route {
  readonly url: string;
  readonly #address: Address;

  constructor(address: Address) {
    this.url = address.url;
    this.#address = address;
  }

  send({ name, message, token }: Report): Promise<Receipt> {
    return send(this.#address, [name, "reports"], message, token);
  }
}

/** Sealed messages go to the first shuffler of their task, or to a relay in front of it. */
export class ShuffledRoute implements Route {
  readonly url: string;
  readonly #address: Address;

  constructor(address: Address) {
    this.url = address.url;
    this.#address = address;
  }

  /** A shuffler knows a task by its fingerprint alone, and gets no token. */
  send({ fingerprint = "", round, message }: Report): Promise<Receipt> {
    return send(this.#address, [fingerprint, "rounds", String(round), "messages"], message);
  }
}

/** Returns what became of one report; an error of its route is a reason to try again. */
export async function receiptBy(route: Route, report: Report): Promise<Receipt> {
  try {
    return await route.send(report);
  } catch (error) {
    if (error instanceof UnavailableError)
      return { reason: "unreachable", unavailable: true, wait: 0 };
    return { reason: "unexpected", unavailable: false, wait: 0 };
  }
}
