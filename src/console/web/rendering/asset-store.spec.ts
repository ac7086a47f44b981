import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { AssetStore } from './asset-store.js';

const KIB = 1024;

describe('AssetStore', () => {
  const assets = new AssetStore();
  const found = (name: string) => {
    const asset = assets.find(assets.addressOf(name).replace('/assets/', ''));
    if (asset === undefined) throw new Error(`no ${name}`);
    return asset;
  };

  it('names files by their content so that they can be cached forever', () => {
    expect(assets.addressOf('switchboard.css')).toMatch(/^\/assets\/switchboard\.[0-9a-f]{16}\.css$/);
    expect(assets.find('switchboard.css')).toBeUndefined();
    expect(assets.find('switchboard.0000000000000000.css')).toBeUndefined();
  });

  it('throws when a template references a missing file', () => {
    expect(() => assets.addressOf('missing.css')).toThrow('Asset “missing.css” not found.');
  });

  it('contains the fonts of the styles and their licenses', () => {
    const css = found('switchboard.css').body.toString();
    const named = [...css.matchAll(/url\(\/assets\/([^)]+)\)/g)].map(([, name]) => name ?? '');
    expect(named).toHaveLength(5);
    expect(named.filter((name) => assets.find(name) === undefined)).toEqual([]);
    expect(css).not.toMatch(/asset\(|https?:|@import/);
    expect(found('inter-licence.txt').body.toString()).toContain('SIL OPEN FONT LICENSE');
    expect(found('geist-mono-licence.txt').body.toString()).toContain('SIL OPEN FONT LICENSE');
  });

  it.each(['switchboard.css', 'switchboard.js', 'icon.svg'])('compresses %s without changing its bytes', (name) => {
    const { body, gzip, brotli } = found(name);
    expect(gzip && gunzipSync(gzip).equals(body)).toBe(true);
    expect(brotli && brotliDecompressSync(brotli).equals(body)).toBe(true);
  });

  it('stays within the page budget: 12 KB of styles, 3 KB of script', () => {
    expect(found('switchboard.css').gzip?.length).toBeLessThan(12 * KIB);
    expect(found('switchboard.js').gzip?.length).toBeLessThan(3 * KIB);
    expect(found('inter-latin.woff2')).toMatchObject({ type: 'font/woff2', gzip: undefined, brotli: undefined });
  });
});
