import type { Worker } from 'node:cluster';
import { isJsonObject } from '../shared/index.js';

interface Closable {
  close(): void;
}

/**
 * Closes a connection that was handed to a worker which died before accepting it. Node leaves it open, so its client would
 * hang. This reads Node's undocumented internal messages; should they change, it does nothing.
 */
export function closeUntaken({ process: child }: Worker): void {
  const untaken = new Map<unknown, Closable>();
  const send = child.send.bind(child);
  Object.assign(child, {
    send: (...args: Parameters<typeof send>): boolean => {
      const [message, handle] = args as readonly unknown[];
      if (isJsonObject(message) && message['act'] === 'newconn' && isClosable(handle))
        untaken.set(message['seq'], handle);
      return send(...args);
    },
  });
  child.on('internalMessage', (message: unknown) => {
    if (isJsonObject(message)) untaken.delete(message['ack']);
  });
  child.once('exit', () => untaken.forEach((connection) => connection.close()));
}

const isClosable = (handle: unknown): handle is Closable =>
  typeof handle === 'object' && handle !== null && 'close' in handle && typeof handle.close === 'function';
