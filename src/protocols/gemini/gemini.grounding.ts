import { objectIn, type Annotation } from '../contract/index.js';
import { isJsonObject, type JsonObject } from '../../platform/shared/index.js';

/** What a candidate says of its search of the web: how often it asked, and what it found. */
interface Grounding {
  readonly searches: number;
  readonly sources: readonly Annotation[];
}

/** Reads a `groundingMetadata`; empty where nothing was searched for. */
export function groundingIn(candidate: JsonObject): Grounding {
  const metadata = objectIn(candidate, 'groundingMetadata');
  const sources = listIn(metadata, 'groundingChunks').flatMap((chunk) => sourceIn(chunk));
  return { searches: listIn(metadata, 'webSearchQueries').length, sources };
}

function sourceIn(chunk: unknown): readonly Annotation[] {
  if (!isJsonObject(chunk)) return [];
  const { uri, title } = objectIn(chunk, 'web');
  if (typeof uri !== 'string' || uri === '') return [];
  return [{ url: uri, title: typeof title === 'string' ? title : '' }];
}

function listIn(object: JsonObject, name: string): readonly unknown[] {
  const list = object[name];
  return Array.isArray(list) ? (list as readonly unknown[]) : [];
}
