import { Controller, Get, Headers, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { AppError } from '../../../platform/shared/index.js';
import { type Asset, AssetStore } from './asset-store.js';

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

/** The name changes with what it names, so that it may be kept for good. */
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
  const accepts = (encoding: string): boolean =>
    accepted.split(',').some((entry) => {
      const [name, weight] = entry.split(';').map((part) => part.trim());
      return name === encoding && !/^q=0(\.0*)?$/.test(weight ?? '');
    });
  if (asset.brotli !== undefined && accepts('br')) return ['br', asset.brotli];
  if (asset.gzip !== undefined && accepts('gzip')) return ['gzip', asset.gzip];
  return [undefined, asset.body];
}
