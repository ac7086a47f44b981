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
  /** Of the protocol of the request. */
  readonly requestAdapter: ProtocolAdapter;
  /** Of the protocol of the response. */
  readonly responseAdapter: ProtocolAdapter;
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
function asAddressed(adapter: ProtocolAdapter, line: RequestLine): RequestReader {
  const reader = adapter.headReader(line);
  return {
    addressed: adapter.id,
    next: (arrived) => reader.next(arrived),
    end: (body) => ({ requestAdapter: adapter, responseAdapter: adapter, head: reader.end(body) }),
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
  at(adapter: ProtocolAdapter, line: RequestLine): RequestReader {
    return adapter.id === 'chat-completions' ? this.unlessInput(adapter, line) : asAddressed(adapter, line);
  }

  /** With `input` it is a Responses request; otherwise Chat Completions. */
  byInput(line: RequestLine): RequestReader {
    const shape = new ShapeReader();
    return {
      addressed: '',
      next: (arrived) => shape.next(arrived),
      end: async (body) => {
        const requestAdapter = this.adapters.clientAdapter(shape.hasInput(body) ? 'responses' : 'chat-completions');
        return {
          requestAdapter,
          responseAdapter: requestAdapter,
          head: await this.bodies.readHead(requestAdapter.headReader(line), body),
        };
      },
    };
  }

  /**
   * A request with `input` instead of `messages`, as Cursor sends, is a Responses request but gets a response in the
   * path's protocol. Regular requests are read once.
   */
  private unlessInput(adapter: ProtocolAdapter, line: RequestLine): RequestReader {
    const requestReader = asAddressed(adapter, line);
    return {
      ...requestReader,
      end: async (body) => {
        try {
          return await requestReader.end(body);
        } catch (error) {
          if (!lacks(error, 'messages')) throw error;
          const requestAdapter = this.adapters.clientAdapter('responses');
          const head = await this.bodies.readHead(requestAdapter.headReader(line), body).catch((otherwise: unknown) => {
            throw lacks(otherwise, 'input') ? error : otherwise;
          });
          if (!head.fields.has('input')) throw error;
          return { requestAdapter, responseAdapter: adapter, head };
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
