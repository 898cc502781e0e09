// Addresses of servers that a device may talk to: protected on their way, or on this machine.

import { need } from "../errors.js";

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** Returns the address without a slash at its end; refuses one that others could listen to. */
export function checkUrl(name: string, url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const isLocal = parsed?.protocol === "http:" && LOOPBACK.test(parsed.hostname);
  need(
    parsed?.protocol === "https:" || isLocal,
    `\`${name}\` must begin with https://, or with http:// for an address of this machine`,
  );
  const { username, search, hash } = parsed!;
  need(
    !username && !search && !hash,
    `\`${name}\` must have no user name, no query and no fragment`,
  );
  return url.replace(/\/+$/, "");
}
