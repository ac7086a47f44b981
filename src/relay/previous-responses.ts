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

/** What was found of the answers that a request names. */
export interface Found {
  readonly answer: StoredResponse | undefined;
  readonly ofItems: ReadonlyMap<string, StoredResponse>;
  /** Nothing that it names is missing. */
  readonly isKnown: boolean;
}

/** A request that names earlier answers, and where these lie. */
export class PreviousResponses {
  /** Each text is read once, however many of its items are named. */
  private readonly read = new Map<StoredResponse, StoredResponseText>();

  constructor(
    private readonly asked: ProtocolAdapter,
    private readonly request: () => TreeObject,
    readonly found: Found,
  ) {}

  /**
   * Whether a channel may answer: only the one that keeps what is named; of what is kept here, none that speaks the
   * client's dialect, since the names mean nothing to it. Names that are not known here may be anybody's: they go only
   * where an upstream account has one owner.
   */
  admits(channel: Pick<Channel, 'id' | 'protocol' | 'flags'>): boolean {
    const { keeper } = this;
    if (!this.found.isKnown) return channel.protocol === this.asked.id && sharesState(channel);
    if (keeper !== undefined) return keeper.channelId === channel.id;
    return channel.protocol !== this.asked.id;
  }

  /** Characters of what is kept here and would be read. */
  get length(): number {
    const contents = new Set(this.answers.map(({ content }) => content));
    return [...contents].reduce((sum, one) => sum + (one ? one.input.length + one.response.length : 0), 0);
  }

  /** Everything that is named was given to this account. */
  get isKnown(): boolean {
    return this.found.isKnown;
  }

  /** Who alone knows what is named; undefined when nobody does, or it is kept here. */
  get keeper(): ResponseOrigin | undefined {
    return this.answers.find(({ content }) => content === undefined);
  }

  /** Who answered last of what is named: what is asked now begins with what that one was asked. */
  get maker(): ResponseOrigin | undefined {
    return this.answers.at(0);
  }

  /** The one that the request continues comes first. */
  private get answers(): readonly StoredResponse[] {
    return [this.found.answer, ...this.found.ofItems.values()].filter((one) => one !== undefined);
  }

  /**
   * The request with what it names in it, for an upstream that keeps nothing.
   * @throws AppError invalid_request naming what is not kept here
   */
  expanded(): TreeObject {
    const { answer, ofItems } = this.found;
    const kept = [...ofItems].flatMap(([id, one]) => {
      const content = this.contentOf(one);
      return content === undefined ? [] : [[id, content] as const];
    });
    const named = { answer: answer && this.contentOf(answer), ofItems: new Map(kept) };
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
