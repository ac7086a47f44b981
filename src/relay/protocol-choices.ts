import { Injectable } from '@nestjs/common';
import {
  type CallBody,
  type CallHead,
  jsonInterests,
  JsonReader,
  type ProtocolAdapter,
  type ProtocolId,
  type RequestLine,
} from '../protocols/contract/index.js';
import { AppError } from '../platform/shared/index.js';
import { AdapterRegistry } from './adapter.registry.js';
import { Bodies } from './bodies.js';
import type { BodyWatcher } from './body-reader.js';

/** A request that has been read, and whose dialect is known by now. */
interface UnderstoodRequest {
  /** The dialect that it is in. */
  readonly asked: ProtocolAdapter;
  /** The dialect that its client is answered in. */
  readonly answers: ProtocolAdapter;
  readonly head: CallHead;
}

/** Tells the dialect of one request, by its body where the address does not, and reads its head in it. */
export interface ProtocolChoice extends BodyWatcher {
  /** The dialect that the address says; empty when it says none. */
  readonly addressed: ProtocolId;
  /** @throws AppError when the body cannot be read in any dialect that it may be in */
  end(body: CallBody): UnderstoodRequest | Promise<UnderstoodRequest>;
}

/** For requests that are in the dialect of their address. */
function asAddressed(protocol: ProtocolAdapter, line: RequestLine): ProtocolChoice {
  const reader = protocol.headReader(line);
  return {
    addressed: protocol.id,
    next: (arrived) => reader.next(arrived),
    end: (body) => ({ asked: protocol, answers: protocol, head: reader.end(body) }),
  };
}

/** What is known of clients that post to other addresses than their requests are for. */
@Injectable()
export class ProtocolChoices {
  constructor(
    private readonly adapters: AdapterRegistry,
    private readonly bodies: Bodies,
  ) {}

  /** For a request to the address of a protocol. Cursor sends Responses requests to the address of Chat Completions. */
  at(protocol: ProtocolAdapter, line: RequestLine): ProtocolChoice {
    return protocol.id === 'chat-completions' ? this.unlessInput(protocol, line) : asAddressed(protocol, line);
  }

  /** A Responses request has `input`; anything else is read, and refused, as Chat Completions. */
  byInput(line: RequestLine): ProtocolChoice {
    const shape = new ShapeReader();
    return {
      addressed: '',
      next: (arrived) => shape.next(arrived),
      end: async (body) => {
        const asked = this.adapters.protocol(shape.hasInput(body) ? 'responses' : 'chat-completions');
        return { asked, answers: asked, head: await this.bodies.readHead(asked.headReader(line), body) };
      },
    };
  }

  /**
   * A request that lacks `messages` and has `input` is one of Responses all the same, and is answered as the address
   * says: Cursor sends such. What is as it should be is read once.
   */
  private unlessInput(protocol: ProtocolAdapter, line: RequestLine): ProtocolChoice {
    const usual = asAddressed(protocol, line);
    return {
      ...usual,
      end: async (body) => {
        try {
          return await usual.end(body);
        } catch (error) {
          if (!lacks(error, 'messages')) throw error;
          const asked = this.adapters.protocol('responses');
          const head = await this.bodies.readHead(asked.headReader(line), body).catch((otherwise: unknown) => {
            throw lacks(otherwise, 'input') ? error : otherwise;
          });
          if (!head.fields.has('input')) throw error;
          return { asked, answers: protocol, head };
        }
      },
    };
  }
}

const lacks = (error: unknown, member: string): boolean =>
  error instanceof AppError && error.details.fault === 'missing_required_parameter' && error.details.param === member;

const INTERESTS = jsonInterests('input', 'messages');

/** Looks for the members by which dialects differ. What is malformed the dialect that reads it next says so. */
class ShapeReader {
  private readonly reader = new JsonReader(INTERESTS);
  private isMalformed = false;

  next(arrived: Buffer): void {
    if (!this.isMalformed) this.tolerate(() => this.reader.next(arrived));
  }

  hasInput(body: CallBody): boolean {
    const fields = this.isMalformed ? undefined : this.tolerate(() => this.reader.end(body));
    return fields?.field('input') !== undefined && fields.field('messages') === undefined;
  }

  private tolerate<Result>(read: () => Result): Result | undefined {
    try {
      return read();
    } catch {
      this.isMalformed = true;
      return undefined;
    }
  }
}
