import { isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import { SplicedBody } from './json-splice.js';
import type { UpstreamRequest } from './upstream-request.js';

/** Lists an upstream's models. Pure. */
export interface ModelListing {
  readonly request: UpstreamRequest;
  /** Upstream model names as used in calls. Empty if the response has none. */
  read(body: unknown): readonly string[];
}

interface ListingForm {
  /** Query without the question mark. */
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Member that contains the list. */
  readonly list: string;
  /** Undefined for models that cannot be called. */
  readonly nameOf: (model: JsonObject) => string | undefined;
}

/** A listing at `/models` below the channel's base URL. */
export const modelListing = ({ query = '', headers = {}, list, nameOf }: ListingForm): ModelListing => ({
  request: {
    path: '/models',
    query,
    method: 'GET',
    headers: { accept: 'application/json', ...headers },
    body: new SplicedBody({ bytes: Buffer.alloc(0) }),
  },
  read: (body) => {
    const models: unknown = isJsonObject(body) ? body[list] : undefined;
    return (Array.isArray(models) ? models : []).flatMap((model: unknown) =>
      isJsonObject(model) ? (nameOf(model) ?? []) : [],
    );
  },
});

/** The common form: `{ data: [{ id }] }`. */
export const idOf = ({ id }: JsonObject): string | undefined => (typeof id === 'string' ? id : undefined);
