// The pages that a log of many calls could make slow: the log itself by every filter, and whatever shows sums of it.
import type { Visitor } from '../load/visitor.ts';
import { COMMON_MODEL, RARE_GROUP, RARE_MODEL } from '../seed/world.ts';

export interface LogPage {
  readonly name: string;
  readonly path: string;
}

const LOG = '/usage-logs/common';
export const EVERYTHING = `${LOG}?range=30d`;
const RESULTS = ['completed', 'cut', 'refused', 'failed', 'timeout', 'open'];

/** Of the account. @param keys ids by names */
export async function accountPages(user: Visitor, keys: ReadonlyMap<string, string>): Promise<readonly LogPage[]> {
  const { text } = await user.read(EVERYTHING);
  const request = /req_[0-9a-f]{32}/.exec(text)?.[0] ?? '';
  const key = (name: string): string => keys.get(name) ?? '';
  return [
    { name: '24 h', path: `${LOG}?range=24h` },
    { name: '7 d', path: `${LOG}?range=7d` },
    { name: '30 d', path: EVERYTHING },
    { name: '30 d, page 2', path: olderIn(text) },
    { name: '30 d, by model', path: `${EVERYTHING}&by=model` },
    { name: '30 d, by key', path: `${EVERYTHING}&by=key` },
    { name: 'model, common', path: `${EVERYTHING}&model=${COMMON_MODEL}` },
    { name: 'model, rare', path: `${EVERYTHING}&model=${RARE_MODEL}` },
    { name: 'key, common', path: `${EVERYTHING}&key=${key('production')}` },
    { name: 'key, rare', path: `${EVERYTHING}&key=${key('forgotten')}` },
    { name: 'group, common', path: `${EVERYTHING}&group=default` },
    { name: 'group, rare', path: `${EVERYTHING}&group=${RARE_GROUP}` },
    ...RESULTS.map((result) => ({ name: `result ${result}`, path: `${EVERYTHING}&result=${result}` })),
    { name: 'request ID', path: `${EVERYTHING}&request=${request}` },
    { name: 'call', path: `${LOG}/${request}` },
    { name: 'dashboard', path: '/' },
    { name: 'wallet', path: '/wallet' },
    { name: 'keys', path: '/keys' },
    { name: 'key', path: `/keys/${key('production')}` },
  ];
}

/** Of an operator. */
export function operatorPages(): readonly LogPage[] {
  const log = '/admin/calls';
  return [
    { name: 'admin', path: '/admin' },
    { name: 'admin, 30 d', path: '/admin?range=30d' },
    { name: 'admin, calls', path: log },
    { name: 'admin, calls 30 d', path: `${log}?range=30d` },
    { name: 'admin, model rare', path: `${log}?range=30d&model=${RARE_MODEL}` },
    { name: 'admin, timeouts', path: `${log}?range=30d&result=timeout` },
  ];
}

/** Where the page of older calls is. */
function olderIn(page: string): string {
  const links = [...page.matchAll(/href="([^"]*)"/g)].map(([, link = '']) =>
    link.replaceAll('&#x3D;', '=').replaceAll('&amp;', '&'),
  );
  const older = links.find((link) => link.includes('before='));
  if (older === undefined) throw new Error('There is no link to older calls.');
  return older;
}
