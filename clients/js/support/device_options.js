// The options of a device and their defaults, as a device has them that is given nothing else.

import { DEFAULTS } from "../dist/client/device.js";
import { Device, MemoryLedger } from "../dist/node.js";

/** Returns the default of every option, null for none, and the options that a device looks at. */
export function deviceOptions() {
  const read = new Set();
  const options = new Proxy(
    { ledger: new MemoryLedger() },
    {
      get(target, name) {
        read.add(name);
        return target[name];
      },
    },
  );
  const device = new Device("https://collector.example", options);
  device.close();
  const stated = Object.entries(DEFAULTS).map(([name, value]) => [name, value ?? null]);
  return { defaults: Object.fromEntries(stated), read: [...read], language: device.language };
}
