import { Injectable } from '@nestjs/common';
import {
  type Call,
  isTreeObject,
  Losses,
  type ProtocolAdapter,
  parseJsonTree,
  type TreeObject,
} from '../call/index.js';
import { AppError } from '../shared/index.js';
import { AdapterRegistry } from './adapter.registry.js';
import { ReasoningSeal } from './reasoning-seal.js';
import { Translation } from './translation.js';

interface Translated {
  readonly call: Call;
  /** Who words the answer; the request is in the call's own dialect. */
  readonly protocol: ProtocolAdapter;
  /** The key wants to be refused rather than to lose anything. */
  readonly strict: boolean;
}

/** Opens translations of calls. */
@Injectable()
export class Translations {
  constructor(
    private readonly adapters: AdapterRegistry,
    private readonly reasoning: ReasoningSeal,
  ) {}

  /** @throws AppError invalid_request naming what cannot be said in another dialect */
  open({ call, protocol, strict }: Translated): Translation {
    const asked = this.adapters.protocol(call.protocol);
    const request = parse(call, asked.rawMembers);
    const losses = new Losses(strict);
    const content = asked.parseRequest(request, { call, losses, unseal: (text) => this.reasoning.unseal(text) });
    const context = { call, request, content, seal: this.reasoning.seal.bind(this.reasoning) };
    return new Translation(context, protocol, losses);
  }
}

function parse({ body }: Call, rawMembers: ReadonlySet<string>): TreeObject {
  try {
    const tree = parseJsonTree(body.bytes.toString('utf8'), rawMembers);
    if (isTreeObject(tree)) return tree;
  } catch {
    // The scanner looks at what it needs; the rest of the grammar is looked at here.
  }
  throw new AppError('invalid_request', 'The body is not valid JSON.');
}
