import { Injectable } from '@nestjs/common';
import { Cursors } from '../../web/index.js';
import { listAddress, type ListQuery } from '../list-address.js';
import { UserFacts } from './user-facts.js';

const KEYS = 'user-keys';
const LEDGER = 'user-ledger';

/** Start of a list on the page. */
interface Start {
  /** The opened cursor; undefined: start with the newest. */
  readonly place: Readonly<Record<string, string>> | undefined;
  /** Whether the query string has an invalid cursor. */
  readonly lost: boolean;
}

/** URLs; undefined if there is no such page. */
interface Turns {
  readonly newest: string | undefined;
  readonly older: string | undefined;
}

/** The paginated lists on a user's page. */
@Injectable()
export class UserLists {
  constructor(
    private readonly facts: UserFacts,
    private readonly cursors: Cursors,
  ) {}

  async keys(userId: string, query: ListQuery) {
    const { place, lost } = this.startOf(KEYS, query['keys']);
    const { keys, older } = await this.facts.keysOf(userId, place?.['id']);
    const next = older && this.cursors.seal(KEYS, { id: older });
    return { keys, lost, turns: turnsOf(userId, 'keys', place, next) };
  }

  async ledger(userId: string, query: ListQuery) {
    const { place, lost } = this.startOf(LEDGER, query['ledger']);
    const before = place && ([place['at'] ?? '', place['id'] ?? ''] as const);
    const { movements, older } = await this.facts.ledgerOf(userId, before);
    const next = older && this.cursors.seal(LEDGER, { at: older[0], id: older[1] });
    return { movements, lost, turns: turnsOf(userId, 'ledger', place, next) };
  }

  private startOf(list: string, sealed: ListQuery[string]): Start {
    const place = typeof sealed === 'string' ? this.cursors.open(list, sealed) : undefined;
    return { place, lost: sealed !== undefined && place === undefined };
  }
}

/** Undefined if the list fits on one page. */
function turnsOf(userId: string, list: string, place: Start['place'], next: string | undefined): Turns | undefined {
  if (place === undefined && next === undefined) return undefined;
  const there = `/admin/users/${userId}`;
  return {
    newest: place && `${there}#${list}`,
    older: next && `${listAddress(there, { [list]: next })}#${list}`,
  };
}
