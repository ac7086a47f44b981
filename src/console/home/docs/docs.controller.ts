import { Controller, Get } from '@nestjs/common';
import { Offer, type OfferedModel } from '../../../catalog/index.js';
import { BaseAddress, Config } from '../../../platform/config/index.js';
import { WARNING_MEANINGS } from '../../../protocols/contract/index.js';
import { AdapterRegistry } from '../../../relay/index.js';
import { Public } from '../../access/index.js';
import { clientSnippets, Page } from '../../web/index.js';
import { type ProtocolEndpoint, protocolEndpoints } from '../endpoints.js';
import { ERRORS, WARNINGS } from './errors.js';
import { openApiDocument, type Operation, type Paths, pathsFor, type Schema, SCHEMAS } from './openapi/index.js';

@Controller('docs')
@Public()
export class DocsController {
  constructor(
    private readonly adapters: AdapterRegistry,
    private readonly address: BaseAddress,
    private readonly config: Config,
    private readonly offer: Offer,
  ) {}

  @Get()
  docs(): Page {
    const group = this.offer.groupsFor(undefined)[0];
    const data = docsView({
      protocols: protocolEndpoints(this.adapters.clientAdapters),
      models: group === undefined ? [] : this.offer.modelsOf(group.name),
      base: this.address.current(),
      maxBodyBytes: this.config.maxBodyBytes,
    });
    return new Page('home/docs', { title: 'Docs', data });
  }

  @Get('openapi.json')
  openApi(): object {
    return openApiDocument(this.address.current(), pathsFor(protocolEndpoints(this.adapters.clientAdapters)));
  }
}

interface DocsInput {
  readonly protocols: readonly ProtocolEndpoint[];
  /** Newest first. */
  readonly models: readonly OfferedModel[];
  readonly base: string;
  readonly maxBodyBytes: number;
}

const MIB = 1024 * 1024;

/** Placeholder for samples while there are no models. */
const ANY_MODEL = { name: 'MODEL', protocols: [], translates: true };

const docsView = ({ protocols, models, base, maxBodyBytes }: DocsInput) => ({
  base,
  addresses: protocols.map((protocol, index) => ({ ...protocol, id: `base-${index}`, address: base + protocol.base })),
  maxBody: `${Math.floor((maxBodyBytes / MIB) * 10) / 10} MiB`,
  tabs: clientSnippets(base, [...models.map(({ model, ...support }) => ({ name: model.name, ...support })), ANY_MODEL]),
  changes: WARNINGS,
  warnings: Object.entries(WARNING_MEANINGS).map(([code, meaning]) => ({ code, meaning })),
  errors: ERRORS,
  operations: referenceView(pathsFor(protocols)),
});

interface FieldRow {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly description: string;
}

const referenceView = (paths: Paths) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => operationView(method.toUpperCase(), path, operation)),
  );

function operationView(method: string, path: string, operation: Operation) {
  const { operationId, summary, parameters = [], requestBody, responses } = operation;
  const body = bodyOf(requestBody?.content);
  const response = bodyOf(responses['200']?.content);
  return {
    id: operationId,
    method,
    path,
    summary,
    sent: [
      ...parameters.map((parameter) => ({
        name: parameter.name,
        type: `${parameter.in}, ${typeText(parameter.schema)}`,
        required: parameter.required,
        description: parameter.description,
      })),
      ...fields(body),
    ],
    note: body?.description,
    got: fields(response),
    statuses: Object.entries(responses).map(([status, { description }]) => ({ status, description })),
  };
}

const bodyOf = (content: Readonly<Record<string, { readonly schema: Schema }>> | undefined): Schema | undefined => {
  const schema = content?.['application/json']?.schema;
  return schema && resolved(schema);
};

/** Fields of an object; nested fields and those of array items follow their parent. */
function fields(schema: Schema | undefined, prefix = ''): FieldRow[] {
  return Object.entries(schema?.properties ?? {}).flatMap(([name, property]) => {
    const own = resolved(property);
    const row = {
      name: prefix + name,
      type: typeText(property),
      required: schema?.required?.includes(name) ?? false,
      description: own.description ?? '',
    };
    const inner = own.items ? fields(resolved(own.items), `${prefix}${name}[].`) : fields(own, `${prefix}${name}.`);
    return [row, ...inner];
  });
}

/** Resolves references, and nullable types to the type. */
function resolved(schema: Schema): Schema {
  const either = schema.oneOf?.find(({ type }) => type !== 'null');
  if (either !== undefined) return resolved(either);
  const name = schema.$ref?.split('/').at(-1);
  return name === undefined ? schema : (SCHEMAS[name] ?? schema);
}

function typeText(schema: Schema): string {
  if (schema.oneOf !== undefined) return schema.oneOf.map(typeText).join(' or ');
  const { type = 'object', const: fixed, enum: values } = resolved(schema);
  if (fixed !== undefined) return `“${fixed}”`;
  if (values !== undefined) return values.map((value) => value ?? 'null').join(' | ');
  return [type].flat().join(' or ');
}
