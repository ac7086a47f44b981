import { isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import { SplicedBody } from './json-splice.js';
import type { UpstreamRequest } from './upstream-request.js';

/** How upstreams of a dialect are asked which models they have. Pure, as the adapter is. */
export interface ModelListing {
  readonly request: UpstreamRequest;
  /** The upstream's own names of its models, as calls would have them. Empty when the answer lists none. */
  read(answer: unknown): readonly string[];
}

interface ListingForm {
  /** To be added to the address, without the question mark. */
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The member of the answer that holds the list. */
  readonly list: string;
  /** Undefined for a model that cannot be called. */
  readonly nameOf: (model: JsonObject) => string | undefined;
}

/** A listing at `/models` behind the channel's base address. */
export const modelListing = ({ query = '', headers = {}, list, nameOf }: ListingForm): ModelListing => ({
  request: {
    path: '/models',
    query,
    method: 'GET',
    headers: { accept: 'application/json', ...headers },
    body: new SplicedBody({ bytes: Buffer.alloc(0) }),
  },
  read: (answer) => {
    const models: unknown = isJsonObject(answer) ? answer[list] : undefined;
    return (Array.isArray(models) ? models : []).flatMap((model: unknown) =>
      isJsonObject(model) ? (nameOf(model) ?? []) : [],
    );
  },
});

/** As most vendors list them: `{ data: [{ id }] }`. */
export const idOf = ({ id }: JsonObject): string | undefined => (typeof id === 'string' ? id : undefined);
