import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import ts from 'typescript';
import type { MemberTable } from '../src/protocols/contract/index.js';
import { CHAT_MEMBERS } from '../src/protocols/chat-completions/members.js';
import { MESSAGES_MEMBERS } from '../src/protocols/messages/members.js';
import { RESPONSES_MEMBERS } from '../src/protocols/responses/members.js';

const ROOT = resolve(import.meta.dirname, '..');

/** The request types of the vendors' SDKs, by what a table is to cover. */
const SUBJECTS = [
  ['Messages', MESSAGES_MEMBERS, '@anthropic-ai/sdk/resources/messages/messages', 'MessageCreateParams'],
  [
    'Messages with beta features',
    MESSAGES_MEMBERS,
    '@anthropic-ai/sdk/resources/beta/messages/messages',
    'MessageCreateParams',
  ],
  ['Chat Completions', CHAT_MEMBERS, 'openai/resources/chat/completions', 'ChatCompletionCreateParams'],
  ['Responses', RESPONSES_MEMBERS, 'openai/resources/responses/responses', 'ResponseCreateParams'],
] as const;

/** One program for all: the compiler reads each SDK once. */
const PROBE = join(ROOT, 'test', 'members-probe.ts');
const text = [
  ...SUBJECTS.map(([, , module, type], index) => `import type { ${type} as T${index} } from '${module}';`),
  ...SUBJECTS.map((_, index) => `export declare const request${index}: T${index};`),
  `import type { AnthropicBeta } from '@anthropic-ai/sdk/resources/beta/beta';`,
  'export declare const beta: AnthropicBeta;',
].join('\n');

function program(): ts.Program {
  const options: ts.CompilerOptions = {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    strict: true,
    skipLibCheck: true,
    types: [],
  };
  const host = ts.createCompilerHost(options);
  return ts.createProgram([PROBE], options, {
    ...host,
    fileExists: (path) => path === PROBE || host.fileExists(path),
    getSourceFile: (path, ...rest) =>
      path === PROBE ? ts.createSourceFile(path, text, ts.ScriptTarget.ES2023) : host.getSourceFile(path, ...rest),
  });
}

const compiled = program();
const checker = compiled.getTypeChecker();

function typeOf(name: string): ts.Type {
  const source = compiled.getSourceFile(PROBE)!;
  const symbol = checker.getExportsOfModule(checker.getSymbolAtLocation(source)!).find((one) => one.name === name)!;
  return checker.getTypeOfSymbol(symbol);
}

const alternatives = (type: ts.Type): readonly ts.Type[] => (type.isUnion() ? type.types : [type]);
const objects = (type: ts.Type): readonly ts.Type[] =>
  alternatives(checker.getNonNullableType(type)).filter(
    (one) => (one.flags & ts.TypeFlags.Object) !== 0 && !checker.isArrayType(one),
  );
const members = (type: ts.Type): ReadonlyMap<string, ts.Type> =>
  new Map(
    objects(type).flatMap((one) => one.getProperties().map((symbol) => [symbol.name, checker.getTypeOfSymbol(symbol)])),
  );

/**
 * Members that the table does not name: those of the request, and those of each object among them that it names members
 * of. What stands below a member with another rule is that rule's.
 */
function unnamed(table: MemberTable['members'], type: ts.Type, below = ''): string[] {
  return [...members(type)].flatMap(([name, own]) => {
    const path = `${below}${name}`;
    const rule = table[path];
    if (rule === undefined) return [path];
    const isOpened = Object.keys(table).some((other) => other.startsWith(`${path}.`));
    return rule.is === 'plain' && isOpened && path !== 'metadata' ? unnamed(table, own, `${path}.`) : [];
  });
}

function toolTypes(type: ts.Type): readonly string[] {
  const tools = checker.getNonNullableType(members(type).get('tools')!);
  const [element] = checker.getTypeArguments(tools as ts.TypeReference);
  return alternatives(element!).flatMap((tool) => {
    const own = tool.getProperty('type');
    return own === undefined ? [] : literals(checker.getTypeOfSymbol(own));
  });
}

const literals = (type: ts.Type): string[] =>
  alternatives(type).flatMap((one) => (one.isStringLiteral() ? [one.value] : []));

describe('the tables of request members', () => {
  describe.each(SUBJECTS.map(([name, table], index) => [name, table, index] as const))('%s', (_, table, index) => {
    const request = (): ts.Type => typeOf(`request${index}`);

    it('name every member of the pinned SDK', () => {
      expect(members(request()).size).toBeGreaterThan(10);
      expect(unnamed(table.members, request())).toEqual([]);
    });

    it('name every type of tool', () => {
      const unknown = toolTypes(request()).filter((type) => !table.tools.some(({ types }) => types.test(type)));
      expect(unknown).toEqual([]);
    });

    it('were read from the version that is pinned', () => {
      const { package: name, version } = table.source;
      const { devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
        devDependencies: Record<string, string>;
      };
      expect(devDependencies[name]).toBe(version);
    });
  });

  it('name every beta feature of the pinned SDK', () => {
    const { known, refused } = MESSAGES_MEMBERS.betas!;
    const betas = literals(typeOf('beta'));
    expect(betas.length).toBeGreaterThan(20);
    expect(betas.filter((beta) => !known.has(beta) && !refused.has(beta))).toEqual([]);
  });

  it('are found lacking when a member, a tool or a nested member is in none', () => {
    const { speed: _, 'thinking.display': __, ...others } = MESSAGES_MEMBERS.members;
    expect(unnamed(others, typeOf('request1'))).toEqual(expect.arrayContaining(['speed', 'thinking.display']));
  });
});
