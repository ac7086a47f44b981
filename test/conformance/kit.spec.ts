import type { AppError } from '../../src/platform/shared/index.js';
import {
  type BuildContext,
  type CallContent,
  type CallEvent,
  type CallResult,
  classifyUpstream,
  type HeadReader,
  modelListing,
  type ProtocolAdapter,
  type RenderContext,
  type SseEvent,
  type StreamDecoder,
  type StreamRenderer,
  TranslationWarnings,
  type UpstreamAdapter,
  type UpstreamRequest,
  type UpstreamTarget,
} from '../../src/protocols/contract/index.js';
import { type Abilities, checksDue, type Lacks } from './abilities.js';
import { clientAbilities } from './client-half/index.js';
import { complaintIn, reportOf, UNSUPPORTED } from './report.js';
import { telegraphClient } from './toy/client.js';
import { TelegraphProtocol } from './toy/protocol.js';
import { TelegraphUpstream } from './toy/upstream.js';
import { telegraphVendor } from './toy/vendor.js';
import { upstreamAbilities } from './upstream-half/index.js';

/** Abilities with failing checks. */
function wrongIn(abilities: Abilities<string>, lacks: Lacks<string> = {}): string[] {
  const isWrong = ({ run }: { readonly run: () => void }): boolean => {
    try {
      run();
      return false;
    } catch {
      return true;
    }
  };
  return Object.entries(abilities)
    .filter(([ability, shown]) => checksDue(shown, lacks[ability]).some(isWrong))
    .map(([ability]) => ability);
}

const wrongInUpstream = (upstream: UpstreamAdapter): string[] =>
  wrongIn(upstreamAbilities({ upstream, vendor: telegraphVendor }), telegraphVendor.lacks);

const wrongInClient = (protocol: ProtocolAdapter): string[] =>
  wrongIn(clientAbilities({ protocol, client: telegraphClient }), telegraphClient.lacks);

/** An upstream half that builds from modified content. */
const building = (change: (context: BuildContext) => BuildContext): UpstreamAdapter =>
  new (class extends TelegraphUpstream {
    override buildRequest(context: BuildContext, target: UpstreamTarget): UpstreamRequest {
      return super.buildRequest(change(context), target);
    }
  })();

const withContent = (context: BuildContext, content: Partial<CallContent>): BuildContext => ({
  ...context,
  content: { ...context.content, ...content },
});

/** An upstream half with a wrapped decoder of modified content. */
const decoding = (
  around: (decoder: StreamDecoder) => StreamDecoder,
  change: Partial<CallContent> = {},
): UpstreamAdapter =>
  new (class extends TelegraphUpstream {
    override decodeStream(content: CallContent): StreamDecoder {
      return around(super.decodeStream({ ...content, ...change }));
    }
  })();

const deaf = (context: BuildContext): BuildContext =>
  withContent(context, {
    turns: context.content.turns.map(({ role, parts }) => ({
      role,
      parts: parts.filter(({ kind }) => kind !== 'audio'),
    })),
  });

/** Emits everything at the end. */
function late(decoder: StreamDecoder): StreamDecoder {
  const reported: CallEvent[] = [];
  return {
    next(event: SseEvent) {
      reported.push(...decoder.next(event));
      return [];
    },
    end: () => [...reported, ...decoder.end()],
  };
}

/** Treats a truncated stream as complete. */
function credulous(decoder: StreamDecoder): StreamDecoder {
  const reported: CallEvent[] = [];
  return {
    next(event: SseEvent) {
      const events = decoder.next(event);
      reported.push(...events);
      return events;
    },
    end() {
      try {
        return decoder.end();
      } catch {
        const start: CallEvent[] = reported.length === 0 ? [{ type: 'call-start' }] : [];
        return [...start, { type: 'call-stop', reason: 'end' }, { type: 'call-end' }];
      }
    },
  };
}

/** Warns of members that it sends. */
function doubting(context: BuildContext): BuildContext {
  if (context.content.lead.length > 0) context.warnings.warn('unsupported_content', 'messages');
  return context;
}

/** Keeps state of earlier requests. */
function forgetful(): UpstreamAdapter {
  const built = new WeakSet<CallContent>();
  return building((context) => {
    const again = built.has(context.content);
    built.add(context.content);
    return again ? withContent(context, { outputLimit: 1 }) : context;
  });
}

/** Treats every 400 as a request error. */
class MisclassifyingUpstream extends TelegraphUpstream {
  override classifyError(...[status, headers, body]: Parameters<TelegraphUpstream['classifyError']>): AppError {
    return classifyUpstream(status, headers, body);
  }
}

/** Lists display names. */
const titled = (): UpstreamAdapter =>
  Object.assign(new TelegraphUpstream(), {
    modelListing: modelListing({ list: 'wires', nameOf: ({ to }) => (typeof to === 'string' ? to : undefined) }),
  });

describe('an upstream half with one defect', () => {
  it.each<[string, readonly string[], UpstreamAdapter]>([
    ['nothing', [], new TelegraphUpstream()],
    [
      'ignores the choice of tools',
      ['choice of tools', 'choice of one tool'],
      building((context) => withContent(context, { toolChoice: { mode: 'auto' } })),
    ],
    [
      'drops one call at a time, which it does not support, without warning',
      ['one call at a time'],
      building((context) => withContent(context, { parallelTools: undefined })),
    ],
    [
      'drops a temperature without warning',
      ['settings'],
      building((context) =>
        withContent(context, { sampling: { ...context.content.sampling, temperature: undefined } }),
      ),
    ],
    ['warns of system text but sends it', ['system text'], building(doubting)],
    ['drops audio without warning', ['files and sound'], building(deaf)],
    ['does not restore tool names', ['tools'], decoding((decoder) => decoder, { tools: [] })],
    [
      'never warns',
      ['one call at a time', 'JSON of a schema', 'output limit', 'settings', 'reasoning shown'],
      building((context) => ({ ...context, warnings: new TranslationWarnings(false) })),
    ],
    ['emits all pieces at the end', ['streaming piece by piece'], decoding(late)],
    ['treats every end as normal', ['early end'], decoding(credulous)],
    ["does not recognize its vendor's error for long prompts", ['refusals by status'], new MisclassifyingUpstream()],
    ['lists display names of models', ['list of models'], titled()],
    ['keeps state between requests', ['no side effects'], forgetful()],
  ])('%s: the kit finds exactly this', (_, wrong, upstream) => {
    expect(wrongInUpstream(upstream)).toEqual([...wrong]);
  });
});

/** For protocols that can force a call but not choose the tool. */
const demanding = (offered: (content: CallContent, name: string) => CallContent['tools']): UpstreamAdapter =>
  building((context) => {
    const { toolChoice } = context.content;
    if (toolChoice.mode !== 'one') return context;
    return withContent(context, { tools: offered(context.content, toolChoice.name), toolChoice: { mode: 'required' } });
  });

describe('an upstream half that cannot choose one tool', () => {
  it.each<[string, readonly string[], UpstreamAdapter]>([
    ['sends that tool only', [], demanding(({ tools }, called) => tools.filter(({ name }) => name === called))],
    ['sends all of them', ['choice of one tool'], demanding(({ tools }) => tools)],
  ])('%s, and forces a call: the kit accepts or rejects it', (_, wrong, upstream) => {
    const lacks = { ...telegraphVendor.lacks, 'choice of one tool': 'a call is demanded, and no more' };
    expect(wrongIn(upstreamAbilities({ upstream, vendor: telegraphVendor }), lacks)).toEqual([...wrong]);
  });
});

/** A client half that renders modified events. */
const telling = (
  changeResult: (result: CallResult) => CallResult,
  around: (renderer: StreamRenderer) => StreamRenderer,
): ProtocolAdapter =>
  new (class extends TelegraphProtocol {
    override renderResponse(result: CallResult, context: RenderContext): string {
      return super.renderResponse(changeResult(result), context);
    }
    override renderStream(context: RenderContext): StreamRenderer {
      return around(super.renderStream(context));
    }
  })();

/** Drops cached tokens. */
const uncached = (result: CallResult): CallResult => ({
  ...result,
  usage: result.usage && { ...result.usage, cacheRead: 0 },
});
const uncachedStream = (renderer: StreamRenderer): StreamRenderer => ({
  next: (event) =>
    renderer.next(event.type === 'usage-update' ? { ...event, usage: { ...event.usage, cacheRead: 0 } } : event),
  fail: (error) => renderer.fail(error),
});

/** Delays each event by one. */
function lateStream(renderer: StreamRenderer): StreamRenderer {
  let kept = '';
  return {
    next(event) {
      const share = renderer.next(event);
      const due = event.type === 'call-end' ? kept + share : kept;
      kept = share;
      return due;
    },
    fail: (error) => renderer.fail(error),
  };
}

const same = <Value>(value: Value): Value => value;

class ContentKeepAliveProtocol extends TelegraphProtocol {
  override keepAlive(): Uint8Array {
    return Buffer.from('data: {"text":"."}\n\n');
  }
}

class NoLeadProtocol extends TelegraphProtocol {
  override parseRequest(...[request]: Parameters<TelegraphProtocol['parseRequest']>): CallContent {
    const content = super.parseRequest(request);
    return { ...content, lead: [] };
  }
}

/** Without a member table. */
class NoMemberTableProtocol extends TelegraphProtocol {
  override headReader(...[request]: Parameters<TelegraphProtocol['headReader']>): HeadReader {
    const reader = super.headReader(request);
    return {
      next: (arrived) => reader.next(arrived),
      end: (body) => ({ ...reader.end(body), demands: undefined }),
    };
  }
}

class NoTextPlacesProtocol extends TelegraphProtocol {
  override readonly textPlaces = {
    prompt: { conversation: [], definitions: [], ignored: [], whole: [] },
    response: { within: [], texts: [] },
  };
}

class ClaimsAllProtocol extends TelegraphProtocol {
  override claims(): boolean {
    return true;
  }
}

const compliant = ({ parts, ...result }: CallResult): CallResult => ({
  ...result,
  parts: parts.filter(({ kind }) => kind !== 'refusal'),
});
function compliantStream(renderer: StreamRenderer): StreamRenderer {
  let isRefusing = false;
  return {
    next(event) {
      if (event.type === 'part-start') isRefusing = event.start.kind === 'refusal';
      return isRefusing && event.type.startsWith('part-') ? '' : renderer.next(event);
    },
    fail: (error) => renderer.fail(error),
  };
}

describe('a client half with one defect', () => {
  it.each<[string, readonly string[], ProtocolAdapter]>([
    ['nothing', [], new TelegraphProtocol()],
    ['omits cached tokens', ['usage of cached tokens'], telling(uncached, uncachedStream)],
    ['delays each event by one', ['streaming piece by piece'], telling(same, lateStream)],
    ['emits events to keep a stream alive', ['keep-alive'], new ContentKeepAliveProtocol()],
    ['does not declare where text is', ['words that are counted'], new NoTextPlacesProtocol()],
    ['ignores system text', ['system text'], new NoLeadProtocol()],
    ['claims all calls', ['head'], new ClaimsAllProtocol()],
    ['has no member table', ['head'], new NoMemberTableProtocol()],
    ['drops refusals', ['refusals of the model'], telling(compliant, compliantStream)],
  ])('%s: the kit finds exactly this', (_, wrong, protocol) => {
    expect(wrongInClient(protocol)).toEqual([...wrong]);
  });
});

describe('the report', () => {
  const test = (ability: string, title: string, status: string, ...failureMessages: string[]) => ({
    ancestorTitles: ['parley, upstream half', ability],
    title,
    status,
    failureMessages,
  });
  const file = { testFilePath: '/x/parley.conformance.spec.ts' };

  it('prints a line per ability and a summary', () => {
    const testResults = [
      test('text', 'a text arrives', 'passed'),
      test('images', `an image arrives (${UNSUPPORTED}a line is text (and no more))`, 'pending'),
      test('images', 'an image is not left out without a word', 'passed'),
      test('tools', 'tools arrive', 'passed'),
      test('tools', 'a call is heard', 'failed', 'Error: not written yet: decodeStream\n    at here'),
    ];
    expect(
      reportOf({ ...file, testResults })
        .trim()
        .split('\n'),
    ).toEqual([
      'parley, upstream half',
      '  text    done',
      '  images  unsupported: a line is text (and no more)',
      '  tools   not yet: a call is heard: not written yet: decodeStream',
      'parley, upstream half: 1 of 3 abilities; 1 unsupported; 1 not yet',
    ]);
  });

  it('reports unsupported abilities that are dropped silently', () => {
    const testResults = [
      test('images', `an image arrives (${UNSUPPORTED}a line is text)`, 'pending'),
      test('images', 'an image is not left out without a word', 'failed', 'Error: it is'),
    ];
    expect(reportOf({ ...file, testResults })).toContain('not yet: an image is not left out without a word: it is\n');
  });

  it('reports a file that does not run', () => {
    const failed = { ...file, testResults: [], testExecError: { message: "Cannot find module './vendor.js'" } };
    expect(reportOf(failed)).toBe("\nparley.conformance.spec.ts does not run: Cannot find module './vendor.js'\n");
  });

  it('prints expected and received values on one line without colors', () => {
    expect(complaintIn(messageOf(() => expect({ text: 'Hi' }).toEqual({ text: 'Ho' })))).toBe(
      '- "text": "Ho", + "text": "Hi",',
    );
    expect(complaintIn(messageOf(() => expect(1).toBe(2)))).toBe('Expected: 2 Received: 1');
  });
});

function messageOf(work: () => void): string {
  try {
    work();
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}
