import { Injectable } from '@nestjs/common';
import { AppError } from '../platform/shared/index.js';
import {
  type CallBody,
  type CallHead,
  jsonInterests,
  JsonReader,
  type ProtocolAdapter,
  type ProtocolId,
  type RequestLine,
} from '../protocols/contract/index.js';
import { AdapterRegistry } from './adapter.registry.js';
import { Bodies } from './bodies.js';
import type { BodyWatcher } from './body-reader.js';

/** A parsed request with its protocol. */
interface RequestHead {
  /** Protocol of the request. */
  readonly requestProtocol: ProtocolAdapter;
  /** Protocol of the response. */
  readonly responseProtocol: ProtocolAdapter;
  readonly head: CallHead;
}

/** Determines the protocol of a request, by its body where the path is ambiguous, and reads its head. */
export interface RequestReader extends BodyWatcher {
  /** Protocol of the path; empty if none. */
  readonly addressed: ProtocolId;
  /** @throws AppError when the body is invalid in every possible protocol */
  end(body: CallBody): RequestHead | Promise<RequestHead>;
}

/** For requests in the protocol of their path. */
function asAddressed(protocol: ProtocolAdapter, line: RequestLine): RequestReader {
  const reader = protocol.headReader(line);
  return {
    addressed: protocol.id,
    next: (arrived) => reader.next(arrived),
    end: (body) => ({ requestProtocol: protocol, responseProtocol: protocol, head: reader.end(body) }),
  };
}

/** Handles clients that post requests of another protocol to a path. */
@Injectable()
export class ProtocolDetection {
  constructor(
    private readonly adapters: AdapterRegistry,
    private readonly bodies: Bodies,
  ) {}

  /** For a protocol's path. Cursor posts Responses requests to Chat Completions. */
  at(protocol: ProtocolAdapter, line: RequestLine): RequestReader {
    return protocol.id === 'chat-completions' ? this.unlessInput(protocol, line) : asAddressed(protocol, line);
  }

  /** With `input` it is a Responses request; otherwise Chat Completions. */
  byInput(line: RequestLine): RequestReader {
    const shape = new ShapeReader();
    return {
      addressed: '',
      next: (arrived) => shape.next(arrived),
      end: async (body) => {
        const requestProtocol = this.adapters.protocol(shape.hasInput(body) ? 'responses' : 'chat-completions');
        return {
          requestProtocol,
          responseProtocol: requestProtocol,
          head: await this.bodies.readHead(requestProtocol.headReader(line), body),
        };
      },
    };
  }

  /**
   * A request with `input` instead of `messages`, as Cursor sends, is a Responses request but gets a response in the
   * path's protocol. Regular requests are read once.
   */
  private unlessInput(protocol: ProtocolAdapter, line: RequestLine): RequestReader {
    const requestReader = asAddressed(protocol, line);
    return {
      ...requestReader,
      end: async (body) => {
        try {
          return await requestReader.end(body);
        } catch (error) {
          if (!lacks(error, 'messages')) throw error;
          const requestProtocol = this.adapters.protocol('responses');
          const head = await this.bodies
            .readHead(requestProtocol.headReader(line), body)
            .catch((otherwise: unknown) => {
              throw lacks(otherwise, 'input') ? error : otherwise;
            });
          if (!head.fields.has('input')) throw error;
          return { requestProtocol, responseProtocol: protocol, head };
        }
      },
    };
  }
}

const lacks = (error: unknown, member: string): boolean =>
  error instanceof AppError && error.details.fault === 'missing_required_parameter' && error.details.param === member;

const INTERESTS = jsonInterests('input', 'messages');

/** Looks for members that distinguish protocols. Malformed bodies are reported by the protocol's own reader. */
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
