import { WARNING_MEANINGS } from '../../../protocols/contract/index.js';
import type { OfferedModel } from '../../../catalog/index.js';
import { clientSnippets } from '../../web/index.js';
import type { ProtocolEndpoint } from '../protocol-endpoints.js';
import { ERRORS } from './errors.js';
import { WARNINGS } from './warnings.js';
import { pathsFor } from './openapi/index.js';
import { referenceView } from './reference.view.js';

/** What the documentation is told of this service. */
export interface Documented {
  readonly dialects: readonly ProtocolEndpoint[];
  /** Newest first. */
  readonly models: readonly OfferedModel[];
  /** Where people reach it, without a trailing slash. */
  readonly base: string;
  readonly maxBodyBytes: number;
}

const MIB = 1024 * 1024;

/** Before there are models, samples are written with a name that stands for any. */
const ANY_MODEL = { name: 'MODEL', protocols: [], translates: true };

export const docsView = ({ dialects, models, base, maxBodyBytes }: Documented) => ({
  base,
  addresses: dialects.map((dialect, index) => ({ ...dialect, id: `base-${index}`, address: base + dialect.base })),
  maxBody: `${Math.floor((maxBodyBytes / MIB) * 10) / 10} MiB`,
  tabs: clientSnippets(base, [...models.map(({ model, ...answers }) => ({ name: model.name, ...answers })), ANY_MODEL]),
  losses: WARNINGS,
  warnings: Object.entries(WARNING_MEANINGS).map(([code, meaning]) => ({ code, meaning })),
  errors: ERRORS,
  operations: referenceView(pathsFor(dialects)),
});
