import { SECTION_NAMES, sectionOf } from '../../../platform/settings/index.js';

interface DiffPiece {
  readonly text: string;
  readonly isOld?: boolean;
  readonly isNew?: boolean;
}

/** A line of an audit entry as a diff. */
export interface LineDiff {
  /** Empty if the line is not the change of a field. */
  readonly field: string;
  /** In order; unmarked items of a list did not change. */
  readonly pieces: readonly DiffPiece[];
  /** Between pieces. */
  readonly separator: string;
}

const ARROW = ' → ';
const COMMA = ', ';

/** Field names of several words; all others are one. */
const LONG_FIELDS: readonly string[] = [
  'daily budget',
  'weekly budget',
  'monthly budget',
  'monthly allowance',
  'never stores responses',
  'second factor',
  ...SECTION_NAMES.flatMap((name) => Object.values(sectionOf(name).settings).map(({ audit }) => audit)),
];

/** Reads `tier 1 → 2`; other lines are one piece. */
export function diffOf(line: string): LineDiff {
  const [left = '', after, ...more] = line.split(ARROW);
  if (after === undefined || more.length > 0) return { field: '', pieces: [{ text: line }], separator: '' };
  const field = fieldOf(left);
  const before = left.slice(field.length).trimStart();
  return { field, ...listDiff(before.split(COMMA), after.split(COMMA)) };
}

function fieldOf(left: string): string {
  const long = LONG_FIELDS.find((field) => left.startsWith(`${field} `));
  return long ?? /^cost of \S+|^\S+/.exec(left)?.[0] ?? '';
}

/** Lists that have nothing in common are compared as a whole. */
function listDiff(before: readonly string[], after: readonly string[]): Omit<LineDiff, 'field'> {
  const isList = before.some((item) => after.includes(item));
  if (!isList)
    return {
      pieces: [
        { text: before.join(COMMA), isOld: true },
        { text: after.join(COMMA), isNew: true },
      ],
      separator: ARROW,
    };
  const kept = before.map((text) => ({ text, isOld: !after.includes(text) }));
  const added = after.filter((text) => !before.includes(text)).map((text) => ({ text, isNew: true }));
  return { pieces: [...kept, ...added], separator: COMMA };
}
