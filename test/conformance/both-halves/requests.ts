import fc from 'fast-check';
import type { CallContent, Part, Tool } from '../../../src/protocols/contract/index.js';
import { anyContent, knownAgain } from '../../support/arbitrary-contents.js';
import type { ProtocolUnderTest } from './protocol-under-test.js';
import { build, parse } from './conversions.js';

const RUNS = { numRuns: 200 };

/** Requests built for an upstream and parsed as a client's. */
export function describeRequests(underTest: ProtocolUnderTest): void {
  it('parses a built request as the same content (case 120)', () => {
    fc.assert(
      fc.property(anyContent(underTest.traits), (content) => {
        expect(meaning(parse(underTest, build(underTest, content), knownAgain))).toEqual(meaning(content));
      }),
      RUNS,
    );
  });

  it('builds the same request twice from a parsed one', () => {
    fc.assert(
      fc.property(anyContent(underTest.traits), (content) => {
        const once = build(underTest, parse(underTest, build(underTest, content), knownAgain));
        expect(build(underTest, parse(underTest, once, knownAgain))).toBe(once);
      }),
      RUNS,
    );
  });
}

/** Without defaults of the protocol. */
function meaning(content: CallContent): unknown {
  const { lead, turns, tools, toolChoice, parallelTools, outputLimit, stop, sampling, reasoning, format } = content;
  return {
    lead: lead.map(({ text }) => text),
    turns: turns.map(({ role, parts }) => ({ role, parts: parts.map(sense) })),
    tools: tools.map(toolSense),
    toolChoice,
    isSerial: parallelTools === false,
    outputLimit,
    stop,
    temperature: sampling.temperature,
    effort: reasoning.effort,
    format: format.kind === 'schema' ? format.schema.text : format.kind,
  };
}

/** Without undefined members. */
function sense(part: Part): unknown {
  if (part.kind === 'tool-result') return { ...defined(part), parts: part.parts.map(sense) };
  if (part.kind === 'image') return { ...defined(part), detail: undefined };
  return defined(part);
}

const toolSense = ({ schema, strict, freeform, ...tool }: Tool): unknown => ({
  ...defined({ ...tool, path: undefined }),
  schema: freeform === undefined ? schema?.text : undefined,
  isStrict: strict === true,
  isFreeform: freeform !== undefined,
});

const defined = (value: object): object =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined && member !== false));
