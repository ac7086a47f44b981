import {
  type JsonTree,
  type StoredResponseText,
  parseJsonTree,
  type ProtocolAdapter,
  type TreeObject,
} from '../protocols/contract/index.js';
import { type Channel, sharesState } from '../catalog/channels/index.js';
import { type ResponseOrigin } from './routing/index.js';
import type { StoredResponse } from './stored-responses/index.js';

/** Stored responses found for a request. */
export interface Found {
  readonly answer: StoredResponse | undefined;
  readonly ofItems: ReadonlyMap<string, StoredResponse>;
  /** Nothing is missing. */
  readonly isKnown: boolean;
}

/** A request's references to earlier responses, resolved. */
export class PreviousResponses {
  /** Parsed texts; each is read once, however many items refer to it. */
  private readonly read = new Map<StoredResponse, StoredResponseText>();

  constructor(
    private readonly asked: ProtocolAdapter,
    private readonly request: () => TreeObject,
    readonly found: Found,
  ) {}

  /**
   * Whether a channel may serve the request: if the responses are stored upstream, only their channel; if they are
   * stored here, any channel of another protocol, since the references mean nothing to it. Unknown references may
   * belong to anyone, so they only go to dedicated upstream accounts.
   */
  admits(channel: Pick<Channel, 'id' | 'protocol' | 'flags'>): boolean {
    const { keeper } = this;
    if (!this.found.isKnown) return channel.protocol === this.asked.id && sharesState(channel);
    if (keeper !== undefined) return keeper.channelId === channel.id;
    return channel.protocol !== this.asked.id;
  }

  /** Characters to be read of responses stored here. */
  get length(): number {
    const contents = new Set(this.answers.map(({ content }) => content));
    return [...contents].reduce((sum, one) => sum + (one ? one.input.length + one.response.length : 0), 0);
  }

  /** All references belong to this account. */
  get isKnown(): boolean {
    return this.found.isKnown;
  }

  /** The only channel that has the state; undefined if unknown, or stored here. */
  get keeper(): ResponseOrigin | undefined {
    return this.answers.find(({ content }) => content === undefined);
  }

  /** Origin of the latest response: its prompt cache has the beginning of this conversation. */
  get maker(): ResponseOrigin | undefined {
    return this.answers.at(0);
  }

  /** The continued response comes first. */
  private get answers(): readonly StoredResponse[] {
    return [this.found.answer, ...this.found.ofItems.values()].filter((one) => one !== undefined);
  }

  /**
   * The request with references replaced by their content, for upstreams without the state.
   * @throws AppError invalid_request naming what is not stored here
   */
  expanded(): TreeObject {
    const { answer, ofItems } = this.found;
    const kept = [...ofItems].flatMap(([id, one]) => {
      const content = this.contentOf(one);
      return content === undefined ? [] : [[id, content] as const];
    });
    const named = { response: answer && this.contentOf(answer), ofItems: new Map(kept) };
    return this.asked.storage?.expand(this.request(), named) ?? this.request();
  }

  private contentOf(answer: StoredResponse): StoredResponseText | undefined {
    const { content } = answer;
    if (content === undefined) return undefined;
    const read = this.read.get(answer) ?? {
      input: parseJsonTree(content.input, this.asked.rawMembers) as readonly JsonTree[],
      response: parseJsonTree(content.response, this.asked.rawMembers) as TreeObject,
    };
    this.read.set(answer, read);
    return read;
  }
}
