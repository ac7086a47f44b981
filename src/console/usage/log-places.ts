import { Injectable } from '@nestjs/common';
import { Cursors } from '../web/index.js';
import type { LogPosition, LogStart } from '../../usage/index.js';
import type { AddressParts, LogPath } from './usage-query.js';

/** Where the log was entered: `before` and `after` as the address has them; `open` is the call whose row is open. */
export interface LogEntry {
  readonly before?: string;
  readonly after?: string;
  readonly open?: string;
}

/** The places in a log that stand in its addresses, sealed. */
@Injectable()
export class LogPlaces {
  constructor(private readonly cursors: Cursors) {}

  /** `lost`: the place is none of ours, so the newest calls are shown. */
  startOf(path: LogPath, { before, after }: LogEntry): { readonly start: LogStart; readonly lost: boolean } {
    const sealed = before ?? after;
    if (sealed === undefined) return { start: undefined, lost: false };
    const { at, id } = this.cursors.open(listOf(path), sealed) ?? {};
    if (at === undefined || id === undefined) return { start: undefined, lost: true };
    return { start: before === undefined ? { after: [at, id] } : { before: [at, id] }, lost: false };
  }

  seal(path: LogPath, position: LogPosition | undefined): string | undefined {
    return position && this.cursors.seal(listOf(path), { at: position[0], id: position[1] });
  }
}

const listOf = (path: LogPath): string => (path === '/admin/calls' ? 'calls' : 'usage');

export function entryOf(parts: AddressParts): LogEntry {
  const text = (name: string): string | undefined => {
    const part = parts[name];
    return typeof part === 'string' && part !== '' ? part : undefined;
  };
  const [before, after, open] = [text('before'), text('after'), text('open')];
  return { ...(before && { before }), ...(!before && after && { after }), ...(open && { open }) };
}
