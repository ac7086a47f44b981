import { Controller, Get, Headers, Injectable, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { extname, join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { VIEWS } from '../../../platform/config/index.js';
import { AppError } from '../../../platform/shared/index.js';
import { accepts } from '../compression.js';

interface Asset {
  readonly type: string;
  readonly etag: string;
  readonly body: Buffer;
  /** Undefined if the file is already compressed. */
  readonly gzip: Buffer | undefined;
  readonly brotli: Buffer | undefined;
}

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.woff2': 'font/woff2',
};

/** Fonts and their licenses, by module path. */
const FROM_PACKAGES: Readonly<Record<string, string>> = {
  'inter-latin.woff2': '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2',
  'inter-latin-ext.woff2': '@fontsource-variable/inter/files/inter-latin-ext-wght-normal.woff2',
  'geist-mono-latin.woff2': '@fontsource-variable/geist-mono/files/geist-mono-latin-wght-normal.woff2',
  'inter-licence.txt': '@fontsource-variable/inter/LICENSE',
  'geist-mono-licence.txt': '@fontsource-variable/geist-mono/LICENSE',
};

const FILES = ['icon.svg', 'switchboard.js', 'playground.js', 'palette.js', 'passkeys.js'];
const { resolve } = createRequire(import.meta.url);

/** Styles, scripts and fonts, loaded at startup under names with a content hash so that browsers can cache them forever. */
@Injectable()
export class AssetStore {
  private readonly assets = new Map<string, Asset>();
  private readonly addresses = new Map<string, string>();

  constructor() {
    for (const [name, path] of Object.entries(FROM_PACKAGES)) this.add(name, readFileSync(resolve(path)));
    for (const name of FILES) this.add(name, readFileSync(join(VIEWS, 'assets', name)));
    // Last, because it references the fonts.
    this.add('switchboard.css', Buffer.from(this.styles()));
  }

  /** URL of an asset. @throws Error if it does not exist */
  addressOf(name: string): string {
    const address = this.addresses.get(name);
    if (address === undefined) throw new Error(`Asset “${name}” not found.`);
    return address;
  }

  find(hashedName: string): Asset | undefined {
    return this.assets.get(hashedName);
  }

  private add(name: string, body: Buffer): void {
    const ending = extname(name);
    const hash = createHash('sha256').update(body).digest('hex').slice(0, 16);
    const hashedName = `${name.slice(0, -ending.length)}.${hash}${ending}`;
    const isCompressible = ending !== '.woff2';
    this.assets.set(hashedName, {
      type: TYPES[ending] ?? 'application/octet-stream',
      etag: `"${hash}"`,
      body,
      gzip: isCompressible ? gzipSync(body, { level: 9 }) : undefined,
      brotli: isCompressible
        ? brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: body.length } })
        : undefined,
    });
    this.addresses.set(name, `/assets/${hashedName}`);
  }

  /** Concatenates the style sheets by name, and replaces `asset(name)` with `url(address)`. */
  private styles(): string {
    const folder = join(VIEWS, 'assets/styles');
    const all = readdirSync(folder)
      .toSorted()
      .map((file) => readFileSync(join(folder, file), 'utf8'))
      .join('\n')
      // Comments that begin with ! are licenses.
      .replaceAll(/\/\*(?!!)[^]*?\*\//g, '')
      .replaceAll(/\n\s*/g, '\n');
    return all.replaceAll(/asset\(([\w.-]+)\)/g, (_, name: string) => `url(${this.addressOf(name)})`);
  }
}

@Controller('assets')
export class AssetsController {
  constructor(private readonly assets: AssetStore) {}

  @Get(':name')
  fetch(@Param('name') name: string, @Headers() headers: Record<string, string>, @Res() reply: FastifyReply): void {
    const asset = this.assets.find(name);
    if (asset === undefined) throw new AppError('not_found', 'File not found.');
    sendAsset(reply, asset, headers);
  }
}

function sendAsset(reply: FastifyReply, asset: Asset, headers: Readonly<Record<string, string>>): void {
  void reply.headers({
    'content-type': asset.type,
    'cache-control': 'public, max-age=31536000, immutable',
    etag: asset.etag,
    vary: 'accept-encoding',
  });
  if (headers['if-none-match'] === asset.etag) {
    void reply.code(304).send();
    return;
  }
  const [encoding, body] = encoded(asset, headers['accept-encoding'] ?? '');
  if (encoding !== undefined) void reply.header('content-encoding', encoding);
  void reply.send(body);
}

function encoded(asset: Asset, accepted: string): readonly [encoding: string | undefined, body: Buffer] {
  if (asset.brotli !== undefined && accepts(accepted, 'br')) return ['br', asset.brotli];
  if (asset.gzip !== undefined && accepts(accepted, 'gzip')) return ['gzip', asset.gzip];
  return [undefined, asset.body];
}
