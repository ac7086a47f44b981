/** A relay with an operator before its pages of channels. */

import { CatalogExport, ChannelChanges, type ChannelRecord } from '../../src/catalog/channels/index.js';
import { operatorVisit } from './operator-visit.js';
import type { PageVisitor, PageResponse } from './page-visitor.js';
import { RelayApp } from './relay-app.js';

type Fields = Readonly<Record<string, string | readonly string[]>>;

/** The values of a page's form of a channel, as a browser would send them. */
export const channelFields = ({ text }: PageResponse): Record<string, string | string[]> =>
  fieldsIn(/<form class="card card--form"[^]*?<\/form>/.exec(text)?.[0] ?? '');

/** The values of a form with this action. */
export const fieldsSentTo = (action: string, { text }: PageResponse): Record<string, string | string[]> =>
  fieldsIn((text.match(/<form[^]*?<\/form>/g) ?? []).find((form) => form.includes(`action="${action}"`)) ?? '');

function fieldsIn(form: string): Record<string, string | string[]> {
  const fields = new Map<string, string[]>();
  const add = (name: string, value: string): void => void fields.set(name, [...(fields.get(name) ?? []), value]);
  const valueIn = (tag: string): string => unescaped(/ value="([^"]*)"/.exec(tag)?.[1] ?? '');
  for (const [tag] of form.matchAll(/<input[^>]*>/g)) {
    const name = / name="([^"]*)"/.exec(tag)?.[1] ?? '';
    const isBox = tag.includes('type="checkbox"');
    if (name !== '' && name !== '_csrf' && name !== '_adopt' && (!isBox || tag.includes(' checked')))
      add(name, valueIn(tag));
  }
  for (const [, name = '', options = ''] of form.matchAll(/<select[^>]* name="([^"]*)"[^>]*>([^]*?)<\/select>/g))
    add(name, unescaped(/value="([^"]*)" selected/.exec(options)?.[1] ?? /value="([^"]*)"/.exec(options)?.[1] ?? ''));
  for (const [, name = '', value = ''] of form.matchAll(/<textarea[^>]* name="([^"]*)"[^>]*>([^<]*)</g))
    add(name, unescaped(value));
  return Object.fromEntries(
    [...fields].map(([name, values]) => [name, values.length === 1 ? (values[0] ?? '') : values]),
  );
}

const unescaped = (text: string): string =>
  text.replaceAll('&#x3D;', '=').replaceAll('&quot;', '"').replaceAll('&#x27;', "'").replaceAll('&amp;', '&');

export interface ChannelPages {
  readonly relay: RelayApp;
  /** Signed in just now. */
  readonly operator: PageVisitor;
  readonly named: (name: string) => Promise<ChannelRecord>;
  readonly exported: () => Promise<string>;
  /** Opens the page of a channel and sends its form, with these fields as they are said here. */
  readonly send: (name: string, fields: Fields) => Promise<PageResponse>;
  /** The same of the page of a new channel. */
  readonly add: (fields: Fields) => Promise<PageResponse>;
}

/** Starts it for a spec file and stops it at the end. */
export function useChannelPages(): ChannelPages {
  let relay: RelayApp;
  let operator: PageVisitor;
  beforeAll(async () => {
    relay = await RelayApp.start();
    operator = (await operatorVisit(relay)).browser;
  });
  afterAll(() => relay.close());
  beforeEach(() => relay.upstream.reset());

  const named = async (name: string): Promise<ChannelRecord> => {
    const channel = (await relay.get(ChannelChanges).all()).find((one) => one.name === name);
    if (channel === undefined) throw new Error(`There is no channel ${name}.`);
    return channel;
  };
  const submit = async (path: string, fields: Fields): Promise<PageResponse> => {
    const page = await operator.get(path);
    return operator.post(path, { ...channelFields(page), ...fields });
  };
  return {
    get relay() {
      return relay;
    },
    get operator() {
      return operator;
    },
    named,
    exported: async () => (await relay.get(CatalogExport).export()).text,
    send: async (name, fields) => submit(`/admin/channels/${(await named(name)).id}`, fields),
    add: (fields) => submit('/admin/channels/new', fields),
  };
}
