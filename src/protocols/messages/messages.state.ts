import { type CallHead, type CreatedState, createdState } from '../contract/index.js';
import { isJsonObject, type JsonObject } from '../../platform/shared/index.js';

// Which state a response of this protocol says was created, by the types of @anthropic-ai/sdk 1.12.0: the container
// (`container`), files that code wrote (`*_output` blocks, `container_upload`), and the message that a thread goes on from.

const RESULTS: ReadonlySet<unknown> = new Set(['code_execution_tool_result', 'bash_code_execution_tool_result']);
const OUTPUTS: ReadonlySet<unknown> = new Set(['code_execution_output', 'bash_code_execution_output']);

/** @param message of `message_start`, or whole */
export const stateOfMessage = ({ fields }: Pick<CallHead, 'fields'>, message: JsonObject): readonly CreatedState[] => [
  ...stateOfContainer(message),
  ...(fields.has('thread') ? createdState('thread', message['id']) : []),
  ...objectsIn(message['content']).flatMap(stateOfBlock),
];

/** @param holder of the container: a message, or the `delta` of a `message_delta` */
export function stateOfContainer({ container }: JsonObject): readonly CreatedState[] {
  return isJsonObject(container) ? createdState('container', container['id'], container['expires_at']) : [];
}

export function stateOfBlock({ type, content, file_id: fileId }: JsonObject): readonly CreatedState[] {
  if (type === 'container_upload') return createdState('file', fileId);
  if (!RESULTS.has(type) || !isJsonObject(content)) return [];
  return objectsIn(content['content'])
    .filter((output) => OUTPUTS.has(output['type']))
    .flatMap((output) => createdState('file', output['file_id']));
}

const objectsIn = (list: unknown): readonly JsonObject[] => (Array.isArray(list) ? list.filter(isJsonObject) : []);
