/** The part of JSON Schema that the description of the API is written in. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly (string | null)[];
  readonly const?: string;
  readonly example?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly oneOf?: readonly Schema[];
}

export const reference = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

/** An object of ours: it has all of these members, always, and no others. */
export const closed = (
  properties: Readonly<Record<string, Schema>>,
  description?: string,
  optional: Readonly<Record<string, Schema>> = {},
): Schema => ({
  type: 'object',
  ...(description !== undefined && { description }),
  properties: { ...properties, ...optional },
  required: Object.keys(properties),
  additionalProperties: false,
});

export const text = (description?: string): Schema => ({ type: 'string', ...(description && { description }) });
export const orNull = (type: string, description?: string): Schema => ({
  type: [type, 'null'],
  ...(description && { description }),
});
export const usd = (description?: string): Schema => ({
  type: 'string',
  description: description ?? 'US dollars as a plain decimal.',
  example: '12.5',
});
