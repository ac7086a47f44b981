/** Chunks of Chat Completions upstreams, as the specs of their decoder write them. */

export const DONE = 'data: [DONE]\n\n';

export const chunk = (members: string): string =>
  `data: {"id":"chatcmpl-1","object":"chat.completion.chunk",${members}}\n\n`;
/** @param members JSON, as it stands between the braces; and so the `finish` */
export const delta = (members: string, finish = 'null'): string =>
  chunk(`"choices":[{"index":0,"delta":{${members}},"finish_reason":${finish}}]`);
export const finish = (reason: string): string => delta('', JSON.stringify(reason));
export const calls = (...fragments: readonly string[]): string => delta(`"tool_calls":[${fragments.join(',')}]`);
/** A fragment that begins a call. */
export const call = (index: number, id: string, name: string, text = ''): string =>
  `{"index":${index},"id":"${id}","type":"function","function":{"name":"${name}","arguments":${JSON.stringify(text)}}}`;
