import type { FormBody } from '../../web/index.js';
import { textsOf } from '../catalog-form.js';
import type { ChannelForm, ModelRow } from './channel-form.js';

type Names = Pick<ChannelForm, 'public' | 'upstream'>;

/** Non-empty rows, trimmed. */
export const rowsIn = ({ public: names, upstream }: Names): readonly ModelRow[] =>
  Array.from({ length: Math.max(names.length, upstream.length) }, (_, index) => ({
    public: names[index]?.trim() ?? '',
    upstream: upstream[index]?.trim() ?? '',
  })).filter((row) => row.public !== '' || row.upstream !== '');

/** Upstream names by public name. A missing name defaults to the other one. */
export function modelsIn(names: Names): Readonly<Record<string, readonly string[]>> {
  const models = new Map<string, string[]>();
  for (const row of rowsIn(names)) {
    const name = row.public || row.upstream;
    models.set(name, [...(models.get(name) ?? []), row.upstream || row.public]);
  }
  return Object.fromEntries(models);
}

/** The distinct public names of a form. */
export const servedIn = (values: FormBody): readonly string[] =>
  Object.keys(modelsIn({ public: textsOf(values, 'public'), upstream: textsOf(values, 'upstream') }));
