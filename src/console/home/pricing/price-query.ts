/** How the list is sorted. */
export const SORTS = [
  { value: 'provider', label: 'Provider' },
  { value: 'input', label: 'Input price' },
  { value: 'output', label: 'Output price' },
  { value: 'context', label: 'Context' },
] as const;

export type PriceSort = (typeof SORTS)[number]['value'];

/** What the address of the price list asks for. */
export interface PriceQuery {
  /** What the model's name, title or provider contains, in lower case; may be empty. */
  readonly search: string;
  /** The id of a dialect that is spoken without translation; empty: any. */
  readonly endpoint: string;
  /** Empty: the viewer's own. */
  readonly group: string;
  readonly sort: PriceSort;
}

const LONGEST = 100;

/** Reads the parts of an address that it knows. What makes no sense counts as not said. */
export function priceQuery(parts: Readonly<Record<string, unknown>>): PriceQuery {
  const text = (name: string): string => {
    const value = parts[name];
    return typeof value === 'string' ? value.trim().slice(0, LONGEST) : '';
  };
  const sort = SORTS.find(({ value }) => value === text('sort'))?.value ?? 'provider';
  return { search: text('q'), endpoint: text('endpoint'), group: text('group'), sort };
}

/** Whether the list is narrowed, and can be widened again. */
export const isNarrowed = ({ search, endpoint }: PriceQuery): boolean => search !== '' || endpoint !== '';

/** The address of a model's page in a group. Its name may have slashes, and anything else but blanks. */
export function modelAddress(name: string, group?: string): string {
  const path = `/pricing/${name.split('/').map(encodeURIComponent).join('/')}`;
  return group === undefined ? path : `${path}?group=${encodeURIComponent(group)}`;
}
